// Phase 1 as a person goes through it: the failing set_epoch check, its fix, the fix applied, the gate green, phase 2 open.
#include "core/gates/data_plan.h"
#include "core/gates/phase_state.h"
#include "driven_window.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

class GuiData : public QObject
{
    Q_OBJECT

private:
    GateInfo gate() const { return gateOf(project_, "data"); }
    bool picture(const char* name)
    {
        return session_->screenshot(QStringLiteral(LOCKSTEP_SCREENSHOT_DIR "/data-") + QLatin1String(name) +
                                    ".png");
    }

    QTemporaryDir dir_;
    QString project_;
    std::unique_ptr<XSession> session_;

private Q_SLOTS:
    void initTestCase()
    {
        session_ = std::make_unique<XSession>();
        if (const QString why = prepareSession(*session_, QSize(1600, 1000), dir_.path()); !why.isEmpty())
            QSKIP(qPrintable(why));
        project_ = dir_.filePath(QStringLiteral("demo"));
        QCOMPARE(runCli(project_, {"init", "--workload", "digits-cnn"}), 0);
        QCOMPARE(runCli(project_, {"run", "--mode", "ddp", "--world", "2", "--epochs", "3", "--fault", "A3"}),
                 0);
        QCOMPARE(runCli(project_, {"gate", "preflight"}), 0);
    }

    void theFixOfSetEpochTurnsTheGateGreen()
    {
        DrivenWindow window(*session_, project_);
        QVERIFY(window.open({"--page", "data"}));
        QTest::qWait(300);
        session_->key("ctrl+1"); // phase 1
        QTest::qWait(300);
        QVERIFY(picture("0-open"));
        QVERIFY(window.click("runGate"));
        QTest::qWait(3000);
        QVERIFY(picture("0-clicked"));
        QTRY_COMPARE_WITH_TIMEOUT(gate().verdict, std::string("fail"), 30'000);
        bool named = false;
        for (const GateCheck& check : gate().checks)
            named = named || (check.id == "data.set_epoch" && check.cause == "A3" && !check.fix.empty());
        QVERIFY(named);
        QTest::qWait(1500);
        QVERIFY(picture("1-failing"));
        QVERIFY(!requireOpen("gradients", gatesOf(project_)).ok());

        QVERIFY(window.click("applyFix"));
        QTRY_COMPARE_WITH_TIMEOUT(gate().verdict, std::string("pass"), 30'000);
        QTest::qWait(1500);
        QVERIFY(picture("2-green"));
        QVERIFY(requireOpen("gradients", gatesOf(project_)).ok());

        // What if: half the batch per rank, judged as the plan of the project.
        const std::int64_t before = gate().judgedUnixMs;
        QVERIFY(window.click("planBatch"));
        session_->key("ctrl+a");
        session_->type("16");
        session_->key("Tab");
        QVERIFY(window.click("judgePlan"));
        QTRY_VERIFY_WITH_TIMEOUT(gate().judgedUnixMs > before, 30'000);
        const Result<DataPlan> plan = dataPlanFromJson(gate().configJson);
        QVERIFY(plan.ok());
        QCOMPARE(plan->batch, std::int64_t(16));
        bool steps = false; // ceil(899 / 16) per epoch
        for (const GateCheck& check : gate().checks)
            steps = steps || (check.id == "data.steps" && check.value.find("57") != std::string::npos);
        QVERIFY(steps);
        QTest::qWait(700);
        QVERIFY(picture("3-plan"));
        QVERIFY(!window.close().isEmpty());
    }

    void cleanupTestCase() { session_.reset(); }
};

QTEST_GUILESS_MAIN(GuiData)
#include "tst_gui_data.moc"
