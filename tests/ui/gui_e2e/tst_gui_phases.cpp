// The whole migration as a person clicks through it: preflight, a phase 1 that fails and is overridden with a reason, the
// repair that makes the override go, the phases that train, a drill, the report. LOCKSTEP_WHOLE_WALK=1 judges all drills, too
// (half a minute more, most of it waiting for ranks that hang).
#include "core/gates/phase_state.h"
#include "driven_window.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr int kKillDrill = 1;     // its row
constexpr int kTrainsMs = 90'000; // a phase that trains, on a busy machine

const char* const kReason = "set_epoch comes with the next release";

} // namespace

class GuiPhases : public QObject
{
    Q_OBJECT

private:
    bool picture(const char* name)
    {
        QTest::qWait(500); // the project is read again, the page drawn
        return session_->screenshot(QStringLiteral(LOCKSTEP_SCREENSHOT_DIR "/phases-") + QLatin1String(name) +
                                    ".png");
    }
    std::string verdict(const char* phase) const { return gateOf(project_, phase).verdict; }
    bool isOpen(const char* phase) const { return requireOpen(phase, gatesOf(project_)).ok(); }
    void goTo(const char* keys)
    {
        session_->key(QString::fromLatin1(keys));
        QTest::qWait(300);
    }

    QTemporaryDir dir_;
    QString project_;
    std::unique_ptr<XSession> session_;
    std::unique_ptr<DrivenWindow> window_;

private Q_SLOTS:
    void initTestCase()
    {
        session_ = std::make_unique<XSession>();
        if (const QString why = prepareSession(*session_, QSize(1600, 1000), dir_.path()); !why.isEmpty())
            QSKIP(qPrintable(why));
        project_ = dir_.filePath(QStringLiteral("demo"));
        QCOMPARE(runCli(project_, {"init", "--workload", "toy-mlp"}), 0);
        QCOMPARE(runCli(project_, {"run", "--mode", "single", "--align-world", "2", "--steps", "32"}), 0);
        // The order of the first epoch again in the second one; 16 steps make an epoch.
        QCOMPARE(runCli(project_, {"run", "--mode", "ddp", "--world", "2", "--steps", "32", "--fault", "A3"}),
                 0);
        window_ = std::make_unique<DrivenWindow>(*session_, project_);
    }

    void preflightPasses()
    {
        QVERIFY(window_->open({"--page", "preflight"}));
        QVERIFY(window_->click("runGate"));
        QTRY_COMPARE_WITH_TIMEOUT(verdict("preflight"), std::string("pass"), 30'000);
        QVERIFY(picture("1-preflight"));
    }

    void aFailingGateIsOverriddenWithAReason()
    {
        if (verdict("preflight") != "pass")
            QSKIP("the step before did not pass");
        goTo("ctrl+1");
        QVERIFY(window_->click("runGate"));
        QTRY_COMPARE_WITH_TIMEOUT(verdict("data"), std::string("fail"), 30'000);
        QVERIFY(picture("2-data-fails"));
        QVERIFY(!isOpen("gradients"));
        QVERIFY(window_->click("overrideGate")); // the keyboard goes to the reason
        QTest::qWait(300);
        session_->type(QString::fromLatin1(kReason));
        QVERIFY(picture("3-reason"));
        session_->key(QStringLiteral("Return"));
        QTRY_COMPARE_WITH_TIMEOUT(gateOf(project_, "data").overrideReason, std::string(kReason), 20'000);
        QCOMPARE(verdict("data"), std::string("fail")); // stands beside the reason
        QVERIFY(isOpen("gradients"));
        QVERIFY(picture("4-data-overridden"));
        goTo("ctrl+2");
        QVERIFY(picture("5-gradients-open"));
        goTo("ctrl+5"); // the reason stands in the report
        QVERIFY(picture("6-report-overridden"));
    }

    void theRepairMakesTheOverrideGo()
    {
        if (gateOf(project_, "data").overrideReason.empty())
            QSKIP("the step before did not override");
        // The script calls set_epoch now; it is run again in a terminal, the window sees it come.
        QCOMPARE(runCli(project_, {"run", "--mode", "ddp", "--world", "2", "--steps", "32"}), 0);
        goTo("ctrl+1");
        QVERIFY(window_->click("runGate"));
        QTRY_COMPARE_WITH_TIMEOUT(verdict("data"), std::string("pass"), 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(gateOf(project_, "data").overrideReason.empty(), 5000);
        QVERIFY(picture("7-data-repaired"));
        QVERIFY(isOpen("gradients"));
    }

    void thePhasesThatTrainPass_data()
    {
        QTest::addColumn<QByteArray>("keys");
        QTest::newRow("gradients") << QByteArray("ctrl+2");
        QTest::newRow("precision") << QByteArray("ctrl+3");
    }

    void thePhasesThatTrainPass()
    {
        QFETCH(QByteArray, keys);
        const char* const phase = QTest::currentDataTag();
        if (!isOpen(phase) || verdict("data") != "pass")
            QSKIP("the step before did not pass");
        goTo(keys.constData());
        QVERIFY(window_->click("runGate"));
        QTest::qWait(2500);
        QVERIFY(picture((std::string("8-") + phase + "-running").c_str()));
        QTRY_VERIFY_WITH_TIMEOUT(!verdict(phase).empty(), kTrainsMs);
        QCOMPARE(verdict(phase), std::string("pass"));
        QVERIFY(picture((std::string("8-") + phase + "-passed").c_str()));
    }

    void aDrillIsPlayed()
    {
        if (!isOpen("drills"))
            QSKIP("the step before did not pass");
        goTo("ctrl+4");
        const std::size_t before = runsOf(project_).size();
        if (qEnvironmentVariableIsSet("LOCKSTEP_WHOLE_WALK")) {
            QVERIFY(window_->click("runGate"));
            QTRY_COMPARE_WITH_TIMEOUT(verdict("drills"), std::string("pass"), 180'000);
        } else {
            QVERIFY(window_->click("drillsTable", kKillDrill));
            QTest::qWait(200);
            QVERIFY(window_->click("playDrill"));
            QTRY_VERIFY_WITH_TIMEOUT(runsOf(project_).size() > before, 30'000);
            QTRY_COMPARE_WITH_TIMEOUT(runsOf(project_).front().state, RunState::Failed, 60'000);
            QVERIFY(runsOf(project_).front().firstFailure.rank >= 0); // the killed one is named
            QTest::qWait(1000);                                       // its verdict
        }
        QVERIFY(picture("9-drills"));
    }

    void theReportIsSaved()
    {
        if (!isOpen("drills"))
            QSKIP("the steps before did not pass");
        goTo("ctrl+5");
        QVERIFY(picture("10-report"));
        QVERIFY(window_->click("saveReport")); // its menu; the first form is one HTML file
        QTest::qWait(300);
        session_->key(QStringLiteral("Down"));
        session_->key(QStringLiteral("Return"));
        QVERIFY(window_->toDialog(QStringLiteral("Save the report")));
        QTest::qWait(300);
        session_->key(QStringLiteral("Return")); // into the project, as proposed
        const QString path = project_ + QStringLiteral("/report.html");
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(path), 20'000);
        QTest::qWait(300);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray html = file.readAll();
        QVERIFY(html.contains("0 bits differ")); // the twin's check
        window_->toMainWindow();
        QVERIFY(!window_->close().isEmpty());
    }

    void cleanupTestCase() { session_.reset(); }
};

QTEST_GUILESS_MAIN(GuiPhases)
#include "tst_gui_phases.moc"
