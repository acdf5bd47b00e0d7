#include "ui/pages/trained_gate_page.h"

#include "ui/models/format.h"
#include "ui/models/project_model.h"
#include "ui/pages/live_ranks_pane.h"
#include "ui/pages/pair_plots.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/fact_row.h"
#include "ui/widgets/run_strip.h"

#include <algorithm>
#include <initializer_list>

namespace lockstep {

namespace {

const GateCheck* checkOf(const GateInfo* gate, const char* id)
{
    if (!gate)
        return nullptr;
    const auto it = std::find_if(gate->checks.begin(), gate->checks.end(),
                                 [id](const GateCheck& check) { return check.id == id; });
    return it == gate->checks.end() ? nullptr : &*it;
}

// Of the checks that the gate has: that of a user's script has fewer.
std::vector<FactRow::Fact> factsOf(const GateInfo* gate,
                                   std::initializer_list<std::pair<QString, const char*>> wanted)
{
    std::vector<FactRow::Fact> facts;
    for (const auto& [title, id] : wanted) {
        const GateCheck* check = checkOf(gate, id);
        if (!check)
            continue;
        const State state = check->verdict == "pass"   ? State::Holds
                            : check->verdict == "fail" ? State::Diverged
                                                       : State::CannotCompare;
        facts.push_back({.state = state,
                         .title = title,
                         .value = qs(check->value),
                         .advice = qs(check->fix.empty() ? check->sentence : check->fix)});
    }
    return facts;
}

} // namespace

TrainedGatePage::TrainedGatePage(const PageContext& context, const QString& phase, QWidget* parent)
    : GatePage(context, phase, parent), gradients_(phase == QLatin1String("gradients"))
{
    stripPane_ = new Pane(tr("Runs of this gate"), this);
    strip_ = new RunStrip(stripPane_);
    strip_->setObjectName(QStringLiteral("gateRuns"));
    stripPane_->addWidget(strip_);
    stripPane_->head()->addWidget(label("hint",
                                        gradients_
                                            ? tr("AMP and clipping are forced off")
                                            : tr("AMP and clipping are on; saved half-way, then resumed"),
                                        stripPane_));
    stripPane_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    ranks_ = new LiveRanksPane(this);
    plots_ = new PairPlots(this);
    facts_ = new FactRow(this);
    // Banner and override bar first, then from cause to verdict; the checks stand last.
    column()->insertWidget(2, stripPane_);
    column()->insertWidget(3, ranks_);
    column()->insertWidget(4, plots_, 1);
    column()->insertWidget(5, facts_);
    toStep_ = button({}, QStringLiteral("curves"), this);
    toStep_->setObjectName(QStringLiteral("toStep"));
    toStep_->hide();
    detailColumn()->insertWidget(2, toStep_, 0, Qt::AlignLeft);
    connect(plots_, &PairPlots::openCurves, this, [this] { openCurves(-1); });
    connect(toStep_, &QPushButton::clicked, this, [this] { openCurves(checkStep_); });
    connect(&context.project, &ProjectModel::changed, this, &TrainedGatePage::showRuns);
    connect(&context.comparisons, &ComparisonModel::verdictsChanged, this, &TrainedGatePage::showBand);
    refresh();
}

void TrainedGatePage::open(const QString& argument)
{
    GatePage::open(argument);
    showRuns(); // nothing is compared for a page that nobody sees
}

void TrainedGatePage::gateShown(const GateInfo* gate)
{
    if (!strip_)
        return;
    const GateCheck* envelope = checkOf(gate, gradients_ ? "gradients.loss" : "precision.envelope");
    statistics_ = envelope && envelope->verdict == "cannot_judge";
    firstBadStep_ = -1;
    if (gate)
        for (const GateCheck& check : gate->checks)
            if (check.verdict == "fail" && check.step >= 0 &&
                (firstBadStep_ < 0 || check.step < firstBadStep_))
                firstBadStep_ = check.step;
    showFacts(gate);
    showRuns();
}

void TrainedGatePage::showRuns()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    runs_ = gradients_ ? gradientsGateRuns(*snapshot) : precisionGateRuns(*snapshot);
    std::vector<RunStrip::Item> items;
    for (const GateRunCell& cell : runs_.cells)
        items.push_back({cell.state, cell.title, cell.detail, cell.progress});
    strip_->setItems(std::move(items));
    stripPane_->setVisible(!runs_.cells.empty());
    // What is held against each other by the judge: the same here.
    reference_ = statistics_ && !runs_.twin.isEmpty() ? runs_.twin : runs_.baseline;
    run_ = reference_ == runs_.twin ? runs_.random : runs_.ddp;
    showFactsOrRanks();
    plots_->setVisible(!runs_.baseline.isEmpty());
    if (!runs_.baseline.isEmpty())
        plots_->setRuns(snapshot, reference_, run_);
    showBand();
    offerStep();
}

// The facts are of the judgement before, until the runs of the next one have ended.
void TrainedGatePage::showFactsOrRanks()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    ranks_->setRun(runs_.running.isEmpty() ? nullptr : snapshot->run(runs_.running));
    facts_->setVisible(factsKnown_ && runs_.running.isEmpty());
}

void TrainedGatePage::showBand()
{
    if (reference_.isEmpty() || run_.isEmpty() || !isVisible())
        return;
    const RunComparisonPtr known = context().comparisons.result(reference_, run_);
    if (!known || known->live)
        context().comparisons.want(reference_, run_);
    plots_->setComparison(known);
}

void TrainedGatePage::showFacts(const GateInfo* gate)
{
    std::vector<FactRow::Fact> facts;
    if (gradients_)
        facts = factsOf(gate, {{tr("Twin against the run"), "gradients.twin"},
                               {tr("Unused parameters"), "gradients.unused"},
                               {tr("Reduction of the loss"), "gradients.reduction"}});
    else
        facts = factsOf(gate, {{tr("Resumed run against the whole one"), "precision.resume"},
                               {tr("Checkpoint in Python"), "precision.python"},
                               {tr("Keys with a wrapper's prefix"), "precision.prefix"}});
    factsKnown_ = !facts.empty();
    facts_->setFacts(facts);
}

void TrainedGatePage::checkShown(const GateCheck& check)
{
    checkStep_ = check.step;
    offerStep();
}

void TrainedGatePage::offerStep()
{
    if (!toStep_)
        return;
    toStep_->setVisible(checkStep_ >= 0 && !run_.isEmpty());
    toStep_->setText(tr("Show step %1 in Curves").arg(checkStep_));
}

void TrainedGatePage::openCurves(qint64 step)
{
    if (run_.isEmpty())
        return;
    context().selection.setExtraRuns({});
    context().selection.setRuns(reference_, run_);
    Q_EMIT openRequested(QStringLiteral("curves"),
                         step >= 0 ? QStringLiteral("step:%1").arg(step) : QString());
}

void TrainedGatePage::jumpToDivergence()
{
    if (firstBadStep_ >= 0)
        openCurves(firstBadStep_);
    else
        Q_EMIT statusTextChanged(tr("No check names a bad step"));
}

bool TrainedGatePage::busy() const
{
    return plots_->busy() || ranks_->busy() || context().comparisons.busy();
}

} // namespace lockstep
