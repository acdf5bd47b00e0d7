// The pages of the phases and Report offscreen: what they show and what they ask RunCommands for.
#include "core/gates/preflight.h"
#include "ui/models/checks_model.h"
#include "ui/models/comparison_model.h"
#include "ui/models/drill_story.h"
#include "ui/models/findings_model.h"
#include "ui/models/format.h"
#include "ui/models/gates_model.h"
#include "ui/models/project_model.h"
#include "ui/models/runs_model.h"
#include "ui/pages/drills_page.h"
#include "ui/pages/preflight_page.h"
#include "ui/pages/report_page.h"
#include "ui/pages/trained_gate_page.h"
#include "ui/support/page_world.h"
#include "ui/support/sample_finding.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/drill_timeline.h"
#include "ui/widgets/run_strip.h"
#include "ui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QPushButton>
#include <QScrollBar>
#include <QSet>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <algorithm>

using namespace lockstep;
using namespace lockstep::test;

namespace {

GateCheck check(const char* id, const char* verdict, const char* value, std::int64_t step = -1)
{
    GateCheck out;
    out.id = id;
    out.verdict = verdict;
    out.value = value;
    out.limit = "0";
    out.sentence = std::string("About ") + id + ".";
    out.step = step;
    return out;
}

// Preflight and phase 1 passed, so that later phases are open.
void openPhases(PageWorld& w, const std::string& until)
{
    for (const char* phase : {"preflight", "data", "gradients", "precision"}) {
        if (phase == until)
            return;
        GateInfo gate;
        gate.phase = phase;
        gate.verdict = "pass";
        gate.judgedUnixMs = 1;
        gate.checks.push_back(check("x", "pass", "1"));
        QVERIFY(w.project.store().saveGate(gate).ok());
    }
}

} // namespace

class GatePagesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { theme::apply(*qApp, ThemeKind::Light); }

    void preflightListsTheDifferingKeysAndGoesToTheCheckOfAKey()
    {
        PageWorld w;
        PreflightInput input;
        input.ddp.mode = "ddp";
        input.ddp.world = 2;
        input.single = alignedSingle(input.ddp);
        input.ddp.lr *= 2;
        input.machine.loopback = true;
        QVERIFY(w.project.store().saveGate(judgePreflight(input)).ok());
        QVERIFY(w.open());
        PreflightPage page(w.context);
        showPage(page);
        auto* keys = page.findChild<DataTable*>(QStringLiteral("preflightKeys"));
        QTRY_VERIFY(keys->isVisible());
        QCOMPARE(keys->model()->index(0, 0).data().toString(),
                 QStringLiteral("lr")); // what fails comes first
        keys->setCurrentIndex(keys->model()->index(0, 0));
        QTRY_VERIFY(shows(page, QStringLiteral("fails: learning rate")));
        QVERIFY(shows(page, QStringLiteral("differ")));
    }

    void aGateThatWaitsListsWhatItWillJudge()
    {
        PageWorld w;
        QVERIFY(w.open());
        PreflightPage waiting(w.context);
        showPage(waiting);
        const auto* checks = waiting.findChild<ChecksModel*>();
        QTRY_VERIFY(checks->rowCount() > 20);
        QCOMPARE(checks->index(0, ChecksModel::Verdict).data().toString(), QStringLiteral("waiting"));
        QCOMPARE(checks->index(0, ChecksModel::Check).data().toString(), QStringLiteral("torch version"));
        // Judged for the first time, the check that decides is shown, whatever was chosen of the plan.
        auto* table = waiting.findChild<DataTable*>(QStringLiteral("checks"));
        table->setCurrentIndex(table->model()->index(0, 0));
        GateInfo gate;
        gate.phase = "preflight";
        gate.verdict = "fail";
        gate.judgedUnixMs = 1;
        for (int row = 0; row < checks->rowCount(); ++row) {
            gate.checks.push_back(checks->check(row));
            gate.checks.back().verdict = row == 4 ? "fail" : "pass";
        }
        QVERIFY(w.project.store().saveGate(gate).ok());
        QTRY_COMPARE(table->currentIndex().row(), 4);
        TrainedGatePage closed(w.context, QStringLiteral("gradients"));
        showPage(closed);
        QVERIFY(
            shows(closed, QStringLiteral("It will judge: AMP and clipping off, loss of the first batch, ")));
    }

    void gradientsShowsRunsFactsAndGoesToTheBadStep()
    {
        PageWorld w;
        openPhases(w, "gradients");
        const QString single =
            w.project.finished("single", 2, 0, 0, [](RunConfig& c) { c.name = "gate-single"; });
        const QString ddp =
            w.project.finished("ddp", 2, 0.5, 17, [](RunConfig& c) { c.name = "gate-ddp-w2"; });
        GateInfo gate;
        gate.phase = "gradients";
        gate.verdict = "fail";
        gate.judgedUnixMs = 2;
        gate.checks = {check("gradients.loss", "fail", "1.5 / 1", 17),
                       check("gradients.twin", "pass", "0 bits differ"),
                       check("gradients.unused", "pass", "0 parameters")};
        QVERIFY(w.project.store().saveGate(gate).ok());
        QVERIFY(w.open());
        TrainedGatePage page(w.context, QStringLiteral("gradients"));
        showPage(page);
        QVERIFY(page.findChild<RunStrip*>()->isVisible());
        QVERIFY(shows(page, QStringLiteral("0 bits differ")));
        QVERIFY(!shows(page, QStringLiteral("Reduction of the loss"))); // no check of this gate
        auto* toStep = page.findChild<QPushButton*>(QStringLiteral("toStep"));
        QTRY_VERIFY(toStep->isVisible()); // the failing check is current
        QSignalSpy asked(&page, &Page::openRequested);
        QTest::mouseClick(toStep, Qt::LeftButton);
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked.first().at(1).toString(), QStringLiteral("step:17"));
        QCOMPARE(w.selection.runA(), single);
        QCOMPARE(w.selection.runB(), ddp);
        page.jumpToDivergence();
        QCOMPARE(asked.size(), 2);
        QTRY_VERIFY(!page.busy());
    }

    void whileARunOfTheGateTrainsItsRanksStandInPlaceOfTheFactsBefore()
    {
        PageWorld w;
        openPhases(w, "gradients");
        w.project.finished("single", 2, 0, 0, [](RunConfig& c) {
            c.name = "gate-single";
            c.alignWorld = 2;
        });
        GateInfo gate;
        gate.phase = "gradients";
        gate.verdict = "pass";
        gate.judgedUnixMs = 2;
        gate.checks = {check("gradients.twin", "pass", "0 bits differ")};
        QVERIFY(w.project.store().saveGate(gate).ok());
        const auto run = w.project.start("ddp", 2, [](RunConfig& c) { c.name = "gate-ddp-w2"; });
        run->record(1, 3, plainLoss);
        QVERIFY(w.open());
        TrainedGatePage page(w.context, QStringLiteral("gradients"));
        showPage(page);
        auto* ranks = page.findChild<DataTable*>(QStringLiteral("liveRanks"));
        QTRY_VERIFY(ranks->isVisible() && ranks->model()->rowCount() == 2);
        QVERIFY(!shows(page, QStringLiteral("Twin against the run")));
        run->finish();
        QTRY_VERIFY(!ranks->isVisible());
        QTRY_VERIFY(shows(page, QStringLiteral("Twin against the run")));
    }

    void anOverrideIsSeenOnLaterPagesAndInTheReport()
    {
        PageWorld w;
        openPhases(w, "data");
        const std::string a = w.project.finished("single", 2).toStdString();
        const std::string b = w.project.finished("ddp", 2).toStdString();
        GateInfo gate;
        gate.phase = "data";
        gate.verdict = "fail";
        gate.judgedUnixMs = 1;
        gate.checks = {check("data.overlap", "pass", "0 samples"), check("data.set_epoch", "fail", "0 of 1")};
        QVERIFY(w.project.store().saveGate(gate).ok());
        QVERIFY(w.project.store().overrideGate("data", "the next release has it").ok());
        QVERIFY(w.project.store().saveFindings(a, b, {finding(a, b)}).ok());
        QVERIFY(w.open());
        TrainedGatePage later(w.context, QStringLiteral("gradients"));
        showPage(later);
        QTRY_VERIFY(shows(later, QStringLiteral("1 Data & sampler: the next release has it")));
        // Read once, it stays away until there is something else to know.
        auto* before = later.findChild<Banner*>(QStringLiteral("overriddenBefore"));
        QTest::mouseClick(before->findChild<QToolButton*>(), Qt::LeftButton);
        QVERIFY(!before->isVisible());
        const std::string more = w.project.finished("single", 2).toStdString();
        QTRY_VERIFY(w.context.project.snapshot()->run(QString::fromStdString(more)));
        QVERIFY(!before->isVisible());
        QVERIFY(w.project.store().overrideGate("data", "another reason").ok());
        QTRY_VERIFY(shows(later, QStringLiteral("1 Data & sampler: another reason")));
        QVERIFY(w.project.store().overrideGate("data", "the next release has it").ok());
        QTRY_VERIFY(!shows(later, QStringLiteral("another reason")));
        ReportPage report(w.context);
        showPage(report);
        QTRY_VERIFY(shows(report, QStringLiteral("1 Data & sampler: the next release has it")));
        const auto tables = report.findChildren<DataTable*>();
        QVERIFY(std::any_of(tables.begin(), tables.end(), [](const DataTable* table) {
            return table->isVisible() && table->model()->rowCount() == 1 &&
                   table->model()->index(0, FindingsModel::Cause).data().toString() == QLatin1String("B6");
        }));
        // What does not hold stands first.
        QVERIFY(std::any_of(tables.begin(), tables.end(), [](const DataTable* table) {
            return table->model()->index(0, 0).data().toString() == QLatin1String("fails");
        }));
        QVERIFY(w.project.store().overrideGate("data", {}).ok());
        QTRY_VERIFY(!shows(report, QStringLiteral("the next release has it")));
    }

    void aDrillThatWasNotPlayedCanBePlayed()
    {
        PageWorld w;
        openPhases(w, "drills");
        w.project.finished("ddp", 2);
        QVERIFY(w.open());
        DrillsPage page(w.context);
        showPage(page);
        auto* table = page.findChild<DataTable*>(QStringLiteral("drillsTable"));
        QTRY_VERIFY(table->model()->rowCount() >= 8);
        auto* play = page.findChild<QPushButton*>(QStringLiteral("playDrill"));
        QTRY_VERIFY(play->isEnabled());
        table->setCurrentIndex(table->model()->index(1, 0));
        QTest::mouseClick(play, Qt::LeftButton);
        QCOMPARE(w.commands.calls.last(), QStringLiteral("drill kill"));
    }

    void theTimelineTellsWhoNoticedWhen()
    {
        DrillStory story;
        story.state = State::Holds;
        story.step = 137;
        story.limit = 2;
        story.goneAfter = 0.05;
        story.lanes = {
            {QStringLiteral("rank 2"), 2, true, {{DrillMoment::Kind::Breaks, 0, QStringLiteral("SIGKILL")}}},
            {QStringLiteral("rank 0"),
             0,
             false,
             {{DrillMoment::Kind::Notices, 0.01, QStringLiteral("Connection reset")},
              {DrillMoment::Kind::Exits, 0.05, QStringLiteral("code 1")}}},
            {QStringLiteral("host"), -1, false, {{DrillMoment::Kind::Names, 0.1, QStringLiteral("rank 2")}}}};
        DrillTimeline view;
        view.setStory(story);
        view.resize(800, view.sizeHint().height());
        QVERIFY(view.accessibleDescription().contains(QStringLiteral("rank 0 notices after 10 ms")));
        QVERIFY(view.accessibleDescription().contains(QStringLiteral("host names the cause after 100 ms")));
        QVERIFY(!view.grab().isNull());
        view.setStory({});
        QVERIFY(!view.grab().isNull());
    }

    void longValuesLeaveCheckNumberAndLimitReadable()
    {
        PageWorld w;
        GateInfo gate;
        gate.phase = "preflight";
        gate.verdict = "pass";
        gate.judgedUnixMs = 1;
        gate.configJson = "{}";
        for (const char* id : {"preflight.lr", "preflight.workload"}) {
            GateCheck check;
            check.id = id;
            check.verdict = "pass";
            check.value =
                "AdamW (lr: 0.003, betas: 0.9 0.999, eps: 1e-08, weight_decay: 0.01, amsgrad: False, "
                "maximize: False, foreach: None, capturable: False, differentiable: False)";
            check.limit = "the same as in the reference, and in the plan";
            check.step = 3; // without any place the column of places is not shown
            gate.checks.push_back(check);
        }
        QVERIFY(w.project.store().saveGate(gate).ok());
        QVERIFY(w.open());
        PreflightPage preflight(w.context);
        ReportPage report(w.context);
        const auto tables = [](QWidget& page) {
            QList<DataTable*> found;
            for (DataTable* table : page.findChildren<DataTable*>())
                if (table->accessibleName().startsWith(QStringLiteral("Checks")))
                    found << table;
            return found;
        };
        for (Page* page : {static_cast<Page*>(&preflight), static_cast<Page*>(&report)}) {
            showPage(*page);
            QCOMPARE(tables(*page).size(), 1);
            DataTable* table = tables(*page).front();
            for (const int width : {1400, 880, 700}) {
                page->resize(width, 640);
                QTRY_VERIFY(table->model()->rowCount() == 2 && table->isVisible());
                QTest::qWait(0);
                int all = 0;
                for (const int column :
                     {ChecksModel::Verdict, ChecksModel::Check, ChecksModel::Number, ChecksModel::Limit}) {
                    QVERIFY2(!table->isColumnHidden(column), qPrintable(QString::number(column)));
                    all += table->columnWidth(column);
                }
                for (const int column : {ChecksModel::Check, ChecksModel::Number, ChecksModel::Limit})
                    QVERIFY2(table->columnWidth(column) >= 100,
                             qPrintable(QStringLiteral("%1 at %2: %3")
                                            .arg(column)
                                            .arg(width)
                                            .arg(table->columnWidth(column))));
                QVERIFY(width < 1400 || !table->isColumnHidden(ChecksModel::Where)); // room for it
                // What does not fit is reached by scrolling, never lost.
                const int missing = all - table->viewport()->width();
                QVERIFY2(missing <= 0 || table->horizontalScrollBar()->maximum() >= missing,
                         qPrintable(QStringLiteral("%1 at %2").arg(missing).arg(width)));
            }
            QVERIFY(table->model()
                        ->index(0, ChecksModel::Number)
                        .data(Qt::ToolTipRole)
                        .toString()
                        .contains(QStringLiteral("differentiable")));
        }
    }

    void verdictsOfOlderRunsRaiseNoAlarm()
    {
        PageWorld w;
        const std::string a = w.project.finished("single", 2).toStdString();
        const std::string b = w.project.finished("ddp", 2, 0.5, 3).toStdString();
        QVERIFY(w.project.store().saveFindings(a, b, {finding(a, b)}).ok());
        GateInfo gate;
        gate.phase = "preflight";
        gate.verdict = "fail";
        gate.judgedUnixMs = 1;
        const std::string config = toJson(RunConfig());
        gate.configJson = "{\"single\":" + config + ",\"ddp\":" + config + ",\"single_name\":\"" + a +
                          "\",\"ddp_name\":\"" + b + "\"}";
        GateCheck check;
        check.id = "preflight.lr";
        check.verdict = "fail";
        check.value = "0.5";
        check.limit = "0.001";
        gate.checks = {check};
        QVERIFY(w.project.store().saveGate(gate).ok());
        QVERIFY(w.open());
        FindingsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setSnapshot(*w.model.snapshot());
        QCOMPARE(model.index(0, 0).data(StateRole).toInt(), int(State::Diverged));
        QCOMPARE(currentFindings(*w.model.snapshot()), 1);
        QCOMPARE(w.gates.status(0).state, State::Diverged);
        QCOMPARE(w.gates.status(0).judgedOn, QStringLiteral("Judged on %1 and %2").arg(qs(a), qs(b)));
        PreflightPage page(w.context);
        showPage(page);
        QTRY_VERIFY(shows(page, QStringLiteral("Judged on")));

        const QString mended = w.project.finished("ddp", 2);
        const auto later = w.project.finished("ddp", 2);
        QTRY_VERIFY(w.model.snapshot()->run(later) && !w.model.snapshot()->run(later)->running());
        model.setSnapshot(*w.model.snapshot());
        QCOMPARE(model.index(0, 0).data(StateRole).toInt(), int(State::Off));
        QVERIFY(model.newer(0).contains(later));
        QCOMPARE(currentFindings(*w.model.snapshot()), 0);
        QTRY_VERIFY(w.gates.status(0).older);
        QCOMPARE(w.gates.status(0).state, State::CannotCompare);
        QVERIFY2(w.gates.status(0).detail.startsWith(QStringLiteral("older: ")),
                 qPrintable(w.gates.status(0).detail));
        // The longest such line fits beside the shape in the rail.
        QVERIFY(QFontMetrics(theme::font(11))
                    .horizontalAdvance(QStringLiteral("older: 24 of 25, 12 overridden")) <= 168);
        QTRY_VERIFY(shows(page, QStringLiteral("newer runs exist: ") + later));
        // A finding of the newest pair stands in front of it again, in red.
        QVERIFY(
            w.project.store().saveFindings(a, later.toStdString(), {finding(a, later.toStdString())}).ok());
        QTRY_COMPARE(w.model.snapshot()->findings.size(), std::size_t(2));
        model.setSnapshot(*w.model.snapshot());
        QCOMPARE(qs(model.finding(0).runB), later);
        QCOMPARE(model.index(0, 0).data(StateRole).toInt(), int(State::Diverged));
        QCOMPARE(model.index(1, 0).data(StateRole).toInt(), int(State::Off));
        QCOMPARE(currentFindings(*w.model.snapshot()), 1);
    }
};

QTEST_MAIN(GatePagesTest)
#include "tst_gate_pages.moc"
