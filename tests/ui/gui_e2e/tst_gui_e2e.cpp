// The window driven as a person does: keys and mouse through a real X server, real runs by the real programs. What
// happened is read from the project itself (store, session.json) and from the screen; pictures stay in build/screenshots.
#include "core/config/run_config.h"
#include "driven_window.h"

#include <QDir>
#include <QFile>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr QSize kScreen(1600, 1000);
constexpr int kRunMs = 120'000;

int differentPixels(const QString& a, const QString& b, const QRect& where)
{
    const QImage first(a), second(b);
    if (where.isEmpty() || !first.rect().contains(where))
        return 0;
    int different = 0;
    for (int y = where.top(); y <= where.bottom(); ++y)
        for (int x = where.left(); x <= where.right(); ++x)
            different += first.pixel(x, y) != second.pixel(x, y);
    return different;
}

} // namespace

class GuiEndToEnd : public QObject
{
    Q_OBJECT

private:
    QString picture(const QString& name) const
    {
        return QStringLiteral(LOCKSTEP_SCREENSHOT_DIR "/e2e-") + name + QStringLiteral(".png");
    }
    std::vector<RunInfo> runs() const { return runsOf(project_); }
    bool waitForState(std::size_t count, RunState state)
    {
        return QTest::qWaitFor(
            [&] {
                const auto all = runs();
                return all.size() == count && !all.empty() && all.front().state == state;
            },
            kRunMs);
    }
    QTemporaryDir dir_;
    QString project_;
    std::unique_ptr<XSession> session_;
    std::unique_ptr<DrivenWindow> window_;

private Q_SLOTS:
    void initTestCase()
    {
        session_ = std::make_unique<XSession>();
        if (const QString why = prepareSession(*session_, kScreen, dir_.path()); !why.isEmpty())
            QSKIP(qPrintable(why));
        project_ = dir_.filePath(QStringLiteral("demo"));
        window_ = std::make_unique<DrivenWindow>(*session_, project_);
        QCOMPARE(QProcess::execute(program("lockstep-cli"),
                                   {QStringLiteral("init"), project_, QStringLiteral("--workload"),
                                    QStringLiteral("toy-mlp")}),
                 0);
    }

    void aRunIsStartedAndItsCurvesAreLive()
    {
        QVERIFY(window_->open());
        // More steps than any machine finishes during the test: the run ends when it is stopped.
        window_->startRun(QStringLiteral("single"), QStringLiteral("5000000"), {});
        QTRY_COMPARE_WITH_TIMEOUT(runs().size(), std::size_t(1), 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(runs().front().lastStep > 50, 30'000);
        QCOMPARE(runs().front().state, RunState::Running);
        session_->key(QStringLiteral("alt+2"));
        QTest::qWait(1200);
        QVERIFY(session_->screenshot(picture(QStringLiteral("1-live-a"))));
        QTest::qWait(1500);
        QVERIFY(session_->screenshot(picture(QStringLiteral("2-live-b"))));
        QCOMPARE(runs().front().state, RunState::Running); // both pictures were taken while it recorded
        QVERIFY(differentPixels(picture(QStringLiteral("1-live-a")), picture(QStringLiteral("2-live-b")),
                                window_->place("lossPlot")) > 50);
    }

    void theRunSurvivesTheWindowAndIsFoundAgain()
    {
        if (runs().size() != 1)
            QSKIP("the run of the test before was not started");
        QCOMPARE(runs().front().state, RunState::Running);
        QVERIFY(window_->kill());
        const std::int64_t before = runs().front().lastStep;
        QTRY_VERIFY_WITH_TIMEOUT(runs().front().lastStep > before, 10'000);
        QVERIFY(window_->open());
        QVERIFY(session_->screenshot(picture(QStringLiteral("3-found-again"))));
        // Stopped from the window that found it: table, then the button beside the filter.
        session_->key(QStringLiteral("alt+7"));
        QTest::qWait(500);
        session_->key(QStringLiteral("shift+Tab")); // back from the table: Delete is off, Run again, Stop
        QTest::qWait(100);
        session_->key(QStringLiteral("shift+Tab"));
        session_->key(QStringLiteral("space"));
        QVERIFY(waitForState(1, RunState::Stopped));
        QVERIFY(runs().front().exitCodes == std::vector<int>{143});
    }

    void theFaultyRunShowsItsFirstDivergentStep()
    {
        if (runs().size() != 1)
            QSKIP("the run of the test before was not started");
        window_->startRun(QStringLiteral("ddp"), QStringLiteral("120"), {});
        QVERIFY(waitForState(2, RunState::Finished));
        window_->startRun(QStringLiteral("ddp"), QStringLiteral("120"), QStringLiteral("B2"));
        QVERIFY(waitForState(3, RunState::Finished));
        const std::string faulty = runs()[0].id;
        const std::string clean = runs()[1].id;
        Result<RunConfig> config = runConfigFromJson(runs()[0].configJson);
        QVERIFY(config.ok());
        QCOMPARE(config->faults.front().id, std::string("B2"));

        session_->key(QStringLiteral("alt+2"));
        QTest::qWait(300);
        session_->key(QStringLiteral("ctrl+k"));
        session_->type(QStringLiteral("run ") + QString::fromStdString(faulty));
        session_->key(QStringLiteral("Return"));
        QTest::qWait(2000);
        const QRect plot = window_->place("lossPlot");
        QVERIFY(!plot.isEmpty());
        session_->move(plot.center()); // hover: the exact values at this step
        QTest::qWait(700);
        QVERIFY(session_->screenshot(picture(QStringLiteral("4-hover"))));
        session_->move(QPoint(kScreen.width() / 2, kScreen.height() - 10)); // away from it
        QTest::qWait(300);
        session_->key(QStringLiteral("d"));
        QTest::qWait(700);
        QVERIFY(session_->screenshot(picture(QStringLiteral("5-divergent-step"))));

        session_->key(QStringLiteral("alt+6")); // keys of the checkpoint
        QTest::qWait(1200);
        QVERIFY(session_->screenshot(picture(QStringLiteral("6-checkpoint-keys"))));

        const QJsonObject left = window_->close();
        QCOMPARE(left.value(QStringLiteral("selection"))
                     .toObject()
                     .value(QStringLiteral("a"))
                     .toString()
                     .toStdString(),
                 clean);
        QCOMPARE(left.value(QStringLiteral("selection"))
                     .toObject()
                     .value(QStringLiteral("b"))
                     .toString()
                     .toStdString(),
                 faulty);

        // The judge: the command line compares the same two runs.
        QProcess compare;
        compare.start(program("lockstep-cli"),
                      {QStringLiteral("compare"), project_, QString::fromStdString(clean),
                       QString::fromStdString(faulty), QStringLiteral("--json")});
        QVERIFY(compare.waitForFinished(30'000));
        const QJsonObject verdict = QJsonDocument::fromJson(compare.readAllStandardOutput()).object();
        QCOMPARE(verdict.value(QStringLiteral("verdict")).toString(), QStringLiteral("differ"));
        qint64 first = -1;
        for (const QJsonValue& one : verdict.value(QStringLiteral("first")).toArray()) {
            const qint64 step = one.toObject().value(QStringLiteral("step")).toInteger();
            first = first < 0 ? step : qMin(first, step);
        }
        QVERIFY(first >= 1);
        QCOMPARE(
            left.value(QStringLiteral("selection")).toObject().value(QStringLiteral("step")).toInteger(-1),
            first);

        const QString checkpoint = left.value(QStringLiteral("pages"))
                                       .toObject()
                                       .value(QStringLiteral("checkpoints"))
                                       .toObject()
                                       .value(QStringLiteral("current"))
                                       .toString();
        QVERIFY2(checkpoint.endsWith(QStringLiteral(".pt")) && QFile::exists(checkpoint),
                 qPrintable(checkpoint));
    }

    void cleanupTestCase() { session_.reset(); }
};

QTEST_GUILESS_MAIN(GuiEndToEnd)
#include "tst_gui_e2e.moc"
