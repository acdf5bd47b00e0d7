// Phase 1 as a person goes through it: the failing set_epoch check, its fix, the fix applied, the gate green, phase 2 open.
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
    GateInfo gate() const
    {
        Result<ProjectStore> store = ProjectStore::open(project_.toStdString());
        if (store)
            if (const Result<std::vector<GateInfo>> gates = store->gates(); gates)
                for (const GateInfo& gate : *gates)
                    if (gate.phase == "data")
                        return gate;
        return {};
    }
    int cli(QStringList words) const
    {
        words.insert(1, project_);
        QProcess process;
        process.start(program("lockstep-cli"), words);
        return process.waitForFinished(60'000) ? process.exitCode() : -1;
    }
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
        if (const QString why = missingProgram(); !why.isEmpty())
            QSKIP(qPrintable(why));
        session_ = std::make_unique<XSession>();
        if (const QString why = session_->start(QSize(1600, 1000)); !why.isEmpty())
            QSKIP(qPrintable(why));
        QDir().mkpath(QStringLiteral(LOCKSTEP_SCREENSHOT_DIR));
        qputenv("XDG_CONFIG_HOME", dir_.filePath(QStringLiteral("config")).toLocal8Bit());
        project_ = dir_.filePath(QStringLiteral("demo"));
        QCOMPARE(cli({"init", "--workload", "digits-cnn"}), 0);
        QCOMPARE(cli({"run", "--mode", "ddp", "--world", "2", "--epochs", "3", "--fault", "A3"}), 0);
        QCOMPARE(cli({"gate", "preflight"}), 0);
    }

    void theFixOfSetEpochTurnsTheGateGreen()
    {
        DrivenWindow window(*session_, project_);
        QVERIFY(window.open({"--page", "data"}));
        QTest::qWait(300);
        session_->key("ctrl+1"); // phase 1
        QTest::qWait(300);
        QVERIFY(picture("0-open"));
        session_->click(QPoint(1505, 64)); // Run checks
        QTest::qWait(3000);
        QVERIFY(picture("0-clicked"));
        QTRY_COMPARE_WITH_TIMEOUT(gate().verdict, std::string("fail"), 30'000);
        bool named = false;
        for (const GateCheck& check : gate().checks)
            named = named || (check.id == "data.set_epoch" && check.cause == "A3" && !check.fix.empty());
        QVERIFY(named);
        QTest::qWait(1500);
        QVERIFY(picture("1-failing"));
        QVERIFY(!requireOpen("gradients", gates()).ok());

        // Tab order is reading order: the button stands last, in the panel of the failing check.
        session_->click(applyButton());
        QTRY_COMPARE_WITH_TIMEOUT(gate().verdict, std::string("pass"), 30'000);
        QTest::qWait(1500);
        QVERIFY(picture("2-green"));
        QVERIFY(requireOpen("gradients", gates()).ok());
        QVERIFY(!window.close().isEmpty());
    }

    void cleanupTestCase() { session_.reset(); }

private:
    std::vector<GateInfo> gates() const
    {
        Result<ProjectStore> store = ProjectStore::open(project_.toStdString());
        Result<std::vector<GateInfo>> all = store->gates();
        return all ? *all : std::vector<GateInfo>();
    }
    QPoint applyButton() const { return {1413, 921}; }
};

#include "tst_gui_data.moc"
QTEST_GUILESS_MAIN(GuiData)
