// Findings offscreen: what it shows of a diagnosis, what it asks RunCommands for, and where else findings are listed.
#include "ui/models/comparison_model.h"
#include "ui/models/findings_model.h"
#include "ui/models/format.h"
#include "ui/models/project_model.h"
#include "ui/pages/findings_page.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/report_page.h"
#include "ui/support/page_world.h"
#include "ui/support/sample_finding.h"
#include "ui/widgets/causal_strip.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QPushButton>
#include <QSet>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using namespace lockstep;
using namespace lockstep::test;

class FindingsPageTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { theme::apply(*qApp, ThemeKind::Light); }

    void aFindingIsShownWithEvidenceAndWhatItRulesOut()
    {
        PageWorld w;
        const QString a = w.project.finished("single", 2);
        const QString b = w.project.finished("ddp", 2);
        QVERIFY(
            w.project.store()
                .saveFindings(a.toStdString(), b.toStdString(), {finding(a.toStdString(), b.toStdString())})
                .ok());
        QVERIFY(w.open());
        FindingsPage page(w.context);
        showPage(page);
        QTRY_VERIFY(shows(page, QStringLiteral("not divided by K = 2")));
        QVERIFY(shows(page, QStringLiteral("2.000000 times")));
        QVERIFY(shows(page, QStringLiteral("B1 summed loss")));
        QVERIFY(shows(page, QStringLiteral("accum_steps")));
        QSignalSpy asked(&page, &Page::openRequested);
        page.jumpToDivergence();
        QCOMPARE(asked.first().at(1).toString(), QStringLiteral("step:17"));
        QCOMPARE(w.selection.runB(), b);
        // Evidence leads to what it was seen in: a step to Curves, a rank's value to Ranks.
        auto* evidence = page.findChild<QLabel*>(QStringLiteral("evidence"));
        Q_EMIT evidence->linkActivated(QStringLiteral("1"));
        QCOMPARE(asked.last().at(0).toString(), QStringLiteral("curves"));
        QCOMPARE(asked.last().at(1).toString(), QStringLiteral("step:18"));
        Q_EMIT evidence->linkActivated(QStringLiteral("2"));
        QCOMPARE(asked.last().at(0).toString(), QStringLiteral("ranks"));
        QCOMPARE(asked.last().at(1).toString(),
                 QStringLiteral("run:%1\nstep:19\nrank:1\nquantity:grad_norm_local").arg(b));
        QTRY_VERIFY(
            page.findChild<CausalStrip*>()->accessibleDescription().contains(QStringLiteral("forward loss")));
        QTest::mouseClick(page.findChild<QPushButton*>(QStringLiteral("diagnose")), Qt::LeftButton);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("diagnose %1 %2").arg(a, b));
        Q_EMIT w.commands.failed(QStringLiteral("diagnose"), QStringLiteral("Nothing to compare."));
        QVERIFY(shows(page, QStringLiteral("Nothing to compare.")));
        QVERIFY(page.escape());
    }

    void theMostCertainComesFirstAndTheTitleNamesTheFindingsRuns()
    {
        PageWorld w;
        const std::string a = w.project.finished("single", 2).toStdString();
        const std::string b = w.project.finished("ddp", 2).toStdString();
        const std::string c = w.project
                                  .finished("ddp", 2, 0, 0,
                                            [](RunConfig& config) {
                                                config.name = "other";
                                                config.lr *= 2;
                                            })
                                  .toStdString();
        FindingRow doubtful = finding(a, b), sure = finding(a, c);
        doubtful.confidence = "possible";
        sure.confidence = "likely";
        QVERIFY(w.project.store().saveFindings(a, b, {doubtful}).ok());
        QVERIFY(w.project.store().saveFindings(a, c, {sure}).ok());
        QVERIFY(w.open());
        w.selection.setRuns(qs(a), qs(b));
        FindingsPage page(w.context);
        showPage(page);
        auto* table = page.findChild<DataTable*>(QStringLiteral("findingsTable"));
        QTRY_COMPARE(table->model()->rowCount(), 2);
        QCOMPARE(table->model()->index(0, FindingsModel::Confidence).data().toString(),
                 QStringLiteral("likely"));
        QCOMPARE(table->currentIndex().row(), 1); // that of the marked runs
        QVERIFY(shows(page, QStringLiteral("A %1 against B %2").arg(qs(a), qs(b))));
        table->setCurrentIndex(table->model()->index(0, 0));
        QVERIFY(
            shows(page, QStringLiteral("shown: %1 against %2; marked: A %2, B %3").arg(qs(c), qs(a), qs(b))));
    }

    void causesOfTheSameBitsAreToldApartOnAClick()
    {
        PageWorld w;
        const auto two = [](RunConfig& c) { c.accumulate = 2; };
        const std::string a = w.project.finished("single", 2, 0, 0, two).toStdString();
        const std::string b = w.project.finished("ddp", 2, 0, 0, two).toStdString();
        FindingRow row = finding(a, b);
        row.cause = "B2, B6";
        QVERIFY(w.project.store().saveFindings(a, b, {row}).ok());
        QVERIFY(w.open());
        FindingsPage page(w.context);
        showPage(page);
        auto* separate = page.findChild<QPushButton*>(QStringLiteral("separate"));
        QTRY_VERIFY(separate->isVisible());
        QVERIFY2(separate->text().contains(QLatin1Char('3')), qPrintable(separate->text()));
        QVERIFY(shows(page, QStringLiteral("B2 and B6 are the same bits")));
        QVERIFY(!page.findChild<QPushButton*>(QStringLiteral("applySetting"))->isVisible());
        QTest::mouseClick(separate, Qt::LeftButton);
        QCOMPARE(w.commands.calls.last(),
                 QStringLiteral("separate %1 %2").arg(QString::fromStdString(a), QString::fromStdString(b)));
        QVERIFY(!separate->isEnabled());
        // The command enters what remains, then it ends.
        row.cause = "B6";
        row.evidenceJson = R"([{"label":"separating run","text":"B6 remains","excludes":false}])";
        QVERIFY(w.project.store().saveFindings(a, b, {row}).ok());
        Q_EMIT w.commands.diagnosed();
        QTRY_VERIFY(shows(page, QStringLiteral("B6 remains of B2, B6")));
        QVERIFY(!separate->isVisible()); // one cause is left
    }

    void theSettingThatUndoesAFindingIsAppliedOnAClick()
    {
        PageWorld w;
        const std::string a = w.project.finished("single", 2).toStdString();
        const std::string b =
            w.project.finished("ddp", 2, 0, 0, [](RunConfig& c) { c.lr = 0.5; }).toStdString();
        FindingRow row = finding(a, b);
        row.cause = "D1";
        QVERIFY(w.project.store().saveFindings(a, b, {row}).ok());
        QVERIFY(w.open());
        FindingsPage page(w.context);
        showPage(page);
        auto* apply = page.findChild<QPushButton*>(QStringLiteral("applySetting"));
        QTRY_VERIFY(apply->isVisible());
        QVERIFY2(apply->text().contains(QStringLiteral("lr 0.001 instead of 0.5")),
                 qPrintable(apply->text()));
        QTest::mouseClick(apply, Qt::LeftButton);
        QCOMPARE(w.commands.started.size(), std::size_t(1));
        QCOMPARE(w.commands.started.front().lr, 1e-3);
        QCOMPARE(w.commands.started.front().mode, std::string("ddp"));
        const auto run = w.project.start("ddp", 2);
        QCOMPARE(run->id(), QStringLiteral("ddp-w2-02"));
        Q_EMIT w.commands.runStarted(QStringLiteral("another-01"), 7); // somebody else's
        QCOMPARE(w.selection.runB().toStdString(), b);
        Q_EMIT w.commands.runStarted(run->id(), 1);
        QCOMPARE(w.selection.runA().toStdString(), a);
        QCOMPARE(w.selection.runB(), QStringLiteral("ddp-w2-02"));
        QVERIFY(shows(page, QStringLiteral("ddp-w2-02 trains with lr 0.001")));
        run->record(1, 5, plainLoss);
        run->finish();
        QTRY_VERIFY(shows(page, QStringLiteral("ddp-w2-02 has ended")));
    }

    void theFindingsModelKeepsTheContract()
    {
        FindingsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setFindings({finding("a", "b"), finding("a", "c")});
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.index(0, FindingsModel::Confidence).data().toString(), QStringLiteral("proven"));
        QCOMPARE(model.index(0, FindingsModel::Rank).data().toString(), QStringLiteral("all"));
        model.setFindings({});
        QCOMPARE(model.rowCount(), 0);
    }

    void theChainLeavesOutDetailsBeforeLinks()
    {
        CausalStrip strip;
        std::vector<CausalStrip::Cell> cells;
        for (int i = 0; i < 12; ++i)
            cells.push_back({i == 5 ? State::Diverged : State::Holds, QStringLiteral("link %1").arg(i),
                             QStringLiteral("a detail that is too long %1").arg(i), i + 1});
        strip.setCells(cells);
        strip.resize(1180, 56);
        strip.show();
        QVERIFY(QTest::qWaitForWindowExposed(&strip));
        QSet<qint64> reached;
        connect(&strip, &CausalStrip::stepChosen, this, [&reached](qint64 step) { reached << step; });
        for (int x = 0; x < strip.width(); x += 6)
            QTest::mouseClick(&strip, Qt::LeftButton, {}, QPoint(x, 28));
        QCOMPARE(reached.size(), 12);
    }

    void aDiagnosisWithoutAFindingTellsTheGoodNews()
    {
        PageWorld w;
        const QString a = w.project.finished("single", 1);
        const QString b = w.project.finished("single", 1);
        QVERIFY(w.open());
        FindingsPage page(w.context);
        showPage(page);
        w.selection.setRuns(a, b);
        QTest::mouseClick(page.findChild<QPushButton*>(QStringLiteral("diagnose")), Qt::LeftButton);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("diagnose %1 %2").arg(a, b));
        Q_EMIT w.commands.diagnosed();
        w.model.refresh();
        QTRY_VERIFY(shows(page, QStringLiteral("%1 does not part from %2").arg(b, a)));
        QVERIFY(shows(page, QStringLiteral("0 bits differ")));
        // A pair that parts with no known cause is not called clean.
        const QString c = w.project.finished("single", 1, 0.5, 20);
        w.selection.setRuns(a, c);
        QTest::mouseClick(page.findChild<QPushButton*>(QStringLiteral("diagnose")), Qt::LeftButton);
        Q_EMIT w.commands.diagnosed();
        w.model.refresh();
        QTRY_VERIFY(shows(page, QStringLiteral("%1 parts from %2").arg(c, a)));
        QVERIFY(!shows(page, QStringLiteral("does not part")));
    }

    void whatCannotBeReplayedIsNotOfferedForProof()
    {
        PageWorld w;
        const QString a = w.project.script({"python", "one.py"});
        const QString b = w.project.script({"torchrun", "--nproc-per-node", "2", "one.py"}, 2);
        const QString c = w.project.finished("single", 1), d = w.project.finished("ddp", 2);
        QVERIFY(w.open());
        FindingsPage page(w.context);
        showPage(page);
        auto* prove = page.findChild<QPushButton*>(QStringLiteral("prove"));
        w.selection.setRuns(a, b);
        QTRY_VERIFY(page.findChild<QPushButton*>(QStringLiteral("diagnose"))->isEnabled());
        QVERIFY(!prove->isEnabled());
        QVERIFY2(prove->toolTip().contains(QStringLiteral("your own script")), qPrintable(prove->toolTip()));
        w.selection.setRuns(c, d);
        QVERIFY(prove->isEnabled());
    }

    void shortListsSayHowManyMoreThereAre()
    {
        PageWorld w;
        const std::string a = w.project.finished("single", 1).toStdString();
        const std::string b = w.project.finished("single", 1, 0.5, 3).toStdString();
        QVERIFY(w.project.store().saveFindings(a, b, std::vector<FindingRow>(6, finding(a, b))).ok());
        QVERIFY(w.open());
        OverviewPage overview(w.context);
        ReportPage report(w.context);
        for (Page* page : {static_cast<Page*>(&overview), static_cast<Page*>(&report)}) {
            showPage(*page);
            QPushButton* more = nullptr;
            QTRY_VERIFY((more = page->findChild<QPushButton*>(QStringLiteral("moreFindings"))));
            QTRY_VERIFY(more->isVisible());
            QVERIFY2(more->text().startsWith(QStringLiteral("2 more")), qPrintable(more->text()));
            QSignalSpy asked(page, &Page::openRequested);
            more->click();
            QCOMPARE(asked.value(0).value(0).toString(), QStringLiteral("findings"));
        }
    }
};

QTEST_MAIN(FindingsPageTest)
#include "tst_findings_page.moc"
