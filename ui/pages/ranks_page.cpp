#include "ui/pages/ranks_page.h"

#include "ui/models/format.h"
#include "ui/models/project_model.h"
#include "ui/models/quantity_text.h"
#include "ui/models/ranks_cell_model.h"
#include "ui/models/ranks_equality_model.h"
#include "ui/pages/ranks_feed.h"
#include "ui/pages/ranks_panel.h"
#include "ui/pages/ranks_plots.h"
#include "ui/plots/heatmap_view.h"
#include "ui/plots/plot_group.h"
#include "ui/widgets/building_blocks.h"

#include <QComboBox>

#include <algorithm>
#include <array>
#include <cmath>

namespace lockstep {

namespace {

constexpr std::array kQuantities = {
    Quantity::Loss,     Quantity::GradNormLocal, Quantity::GradNorm,    Quantity::UpdateNorm,
    Quantity::TimeStep, Quantity::TimeData,      Quantity::TimeForward, Quantity::TimeBackward,
    Quantity::TimeWait, Quantity::TimeOptimizer,
};

} // namespace

RanksPage::RanksPage(const PageContext& context, QWidget* parent)
    : PlotPage(context, tr("Ranks"), parent),
      feed_(new RanksFeed(this)),
      cells_(new RanksCellModel(this)),
      equality_(new RanksEqualityModel(this)),
      runs_(new QComboBox(this)),
      quantity_(new QComboBox(this)),
      broken_(new Banner(this)),
      plots_(new RanksPlots(this)),
      heatmap_(plots_->heatmap()),
      group_(plots_->group()),
      panel_(new RanksPanel(cells_, equality_, this))
{
    runs_->setAccessibleName(tr("Run"));
    runs_->setObjectName(QStringLiteral("run"));
    runs_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    quantity_->setAccessibleName(tr("Quantity"));
    quantity_->setObjectName(QStringLiteral("quantity"));
    for (const Quantity quantity : kQuantities)
        quantity_->addItem(quantityTitle(quantity), int(quantity));
    headStart()->addWidget(runs_);
    headActions()->addWidget(label("note", tr("quantity"), this));
    headActions()->addWidget(quantity_);
    auto* save = button(tr("Save picture"), QStringLiteral("export"), this);
    headActions()->addWidget(save);
    body()->addWidget(broken_);
    setContent(plots_, panel_);

    connect(runs_, &QComboBox::activated, this, [this] {
        runId_ = runs_->currentData().toString();
        refresh();
    });
    connect(quantity_, &QComboBox::currentIndexChanged, this, &RanksPage::refresh);
    connect(save, &QPushButton::clicked, this, [this] { savePicture(QStringLiteral("ranks.png")); });
    connect(broken_, &Banner::buttonClicked, this, &RanksPage::jumpToDivergence);
    connect(broken_, &Banner::dismissed, this, [this] { dismissed_ = true; });
    connect(panel_, &RanksPanel::closeRequested, this, &RanksPage::togglePanel);
    connect(panel_, &RanksPanel::stepInCurves, this, [this] {
        if (const std::optional<qint64> step = pinned_ ? std::optional(pinned_->step) : group_->cursorStep())
            Q_EMIT openRequested(QStringLiteral("curves"), QStringLiteral("step:%1").arg(*step));
    });
    connect(feed_, &RanksFeed::changed, this, &RanksPage::draw);
    connect(equality_, &RanksEqualityModel::changed, this, &RanksPage::draw);
    const auto problem = [this](const QString& sentence) { banner()->showMessage(State::Failed, sentence); };
    connect(feed_, &RanksFeed::problem, this, problem);
    connect(equality_, &RanksEqualityModel::problem, this, problem);
    connect(cells_, &RanksCellModel::problem, this, problem);
    connect(heatmap_, &HeatmapView::currentRowChanged, this, &RanksPage::showCell);
    connect(heatmap_, &HeatmapView::cellActivated, this, [this](int row, qint64 step) {
        pin(RankStep{rankOfRow(row), step});
    });
    connect(group_, &PlotGroup::cursorStepChanged, this, &RanksPage::showCell);
    connect(group_, &PlotGroup::cursorStepChanged, &context.selection, &RunSelection::setStep);
    connect(group_, &PlotGroup::hoverTextChanged, this, &Page::statusTextChanged);
    connect(&context.project, &ProjectModel::changed, this, &RanksPage::refresh);
    refresh();
}

const RunEntry* RanksPage::run() const
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    return snapshot ? snapshot->run(runId_) : nullptr;
}

Quantity RanksPage::quantity() const
{
    return Quantity(quantity_->currentData().toInt());
}

// Runs with several ranks, newest first. The chosen one stays while it exists.
void RanksPage::fillRuns()
{
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    QStringList ids;
    if (snapshot)
        for (const RunEntry& entry : snapshot->runs)
            if (entry.config.world > 1 && entry.config.mode != "twin")
                ids << entry.id();
    QStringList shown;
    for (int i = 0; i < runs_->count(); ++i)
        shown << runs_->itemData(i).toString();
    if (ids != shown) {
        runs_->clear();
        for (const QString& id : ids)
            runs_->addItem(id, id);
    }
    runs_->setVisible(!ids.isEmpty());
    if (!ids.contains(runId_)) {
        const RunSelection& selection = context().selection;
        runId_ = ids.contains(selection.runB())   ? selection.runB()
                 : ids.contains(selection.runA()) ? selection.runA()
                                                  : ids.value(0);
    }
    runs_->setCurrentIndex(int(ids.indexOf(runId_)));
}

void RanksPage::refresh()
{
    if (!isVisible())
        return; // open() catches up
    fillRuns();
    const RunEntry* entry = run();
    if (runId_ != shownRun_) {
        shownRun_ = runId_;
        rankByUser_ = false;
        plots_->fitAgain();
        dismissed_ = false;
        pinned_.reset();
        banner()->clear();
        cells_->clear();
    }
    const QString nothing = entry ? tr("%1 is not recorded in this run.").arg(quantityTitle(quantity()))
                                  : tr("No run with several ranks yet. Start a ddp run.");
    plots_->setEmptyText(nothing);
    panel_->setRanks(entry ? entry->config.world : 0);
    equality_->setRun(entry);
    feed_->setRun(entry, quantity());
    draw();
    showVerdict();
}

int RanksPage::rankOfRow(int row) const
{
    const RankPicture& picture = feed_->picture();
    return row >= 0 && row < int(picture.ranks.size()) ? picture.ranks[std::size_t(row)] : -1;
}

int RanksPage::rowOfRank(int rank) const
{
    const auto& ranks = feed_->picture().ranks;
    const auto at = std::find(ranks.begin(), ranks.end(), rank);
    return at == ranks.end() ? -1 : int(at - ranks.begin());
}

void RanksPage::draw()
{
    const RankPicture& picture = feed_->picture();
    if (!picture.ranks.empty() && (!rankByUser_ || rowOfRank(feed_->chosenRank()) < 0)) {
        rankByUser_ = false;
        int odd = oddRank(picture);
        if (const std::optional<RankEquality> broken = equality_->firstBroken(); broken && odd < 0)
            odd = broken->rank();
        feed_->setChosenRank(rowOfRank(odd) >= 0 ? odd : picture.ranks.front());
    }
    const RunEntry* entry = run();
    plots_->showPicture(picture, feed_->others(), feed_->chosenRank(), quantity(), entry && entry->running());
    showVerdict();
    showCell();
}

void RanksPage::showVerdict()
{
    const RunEntry* entry = run();
    const std::optional<RankEquality> broken = entry ? equality_->firstBroken() : std::nullopt;
    QString sentence = broken ? equalitySentence(*broken) : QString();
    plots_->setMark(broken ? broken->step() : -1, sentence);
    if (!broken) {
        broken_->clear();
    } else if (!dismissed_) {
        sentence[0] = sentence[0].toUpper();
        if (broken_->headline() != sentence)
            broken_->showMessage(State::Diverged, sentence, equalityExplanation(*broken),
                                 tr("Show step %1").arg(broken->step()));
    }
    if (!entry)
        setSubtitle({});
    else if (feed_->picture().ranks.empty())
        setSubtitle(tr("%n rank(s)", nullptr, entry->config.world));
    else
        setSubtitle(limitSentence(feed_->picture()));
}

// The pinned cell, else the one under pointer or keyboard.
void RanksPage::showCell()
{
    const RunEntry* entry = run();
    const std::optional<qint64> cursor = group_->cursorStep();
    std::optional<RankStep> cell = pinned_;
    if (!cell && cursor && rankOfRow(heatmap_->currentRow()) >= 0)
        cell = RankStep{rankOfRow(heatmap_->currentRow()), *cursor};
    const int row = cell ? rowOfRank(cell->rank) : -1;
    if (!entry || row < 0) {
        panel_->showNoCell();
        return;
    }
    const auto [rank, step] = *cell;
    const RankPicture& picture = feed_->picture();
    const SeriesSnapshot& values = *picture.values[std::size_t(row)];
    const SeriesSnapshot& distances = *picture.distances[std::size_t(row)];
    const std::size_t at = values.indexOf(step), distanceAt = distances.indexOf(step);
    const QString title = quantityTitle(quantity());
    if (at >= values.size() || distanceAt >= distances.size()) {
        panel_->showCell(rank, step, tr("No record"), tr("This rank recorded no %1 at this step.").arg(title),
                         false, pinned_.has_value());
    } else {
        const double distance = distances.value(distanceAt);
        const QuantityInfo* info = quantityInfo(quantity());
        const QString unit =
            info ? QString::fromLatin1(info->unit.data(), int(info->unit.size())) : QString();
        QString headline = tr("%1 %2").arg(title, formatExact(values.value(at)));
        if (!unit.isEmpty())
            headline += QLatin1Char(' ') + unit;
        headline[0] = headline[0].toUpper();
        panel_->showCell(rank, step, headline, distanceSentence(distance, picture.ranks.size()),
                         std::fabs(distance) > kRankLimit, pinned_.has_value());
    }
    cells_->setCell({qs(entry->info.folder), entry->config.world, rank, step});
}

void RanksPage::pin(std::optional<RankStep> cell)
{
    pinned_ = cell;
    if (cell) {
        rankByUser_ = true;
        feed_->setChosenRank(cell->rank);
        heatmap_->setCurrentRow(rowOfRank(cell->rank));
        group_->setCursorStep(cell->step);
        draw();
        return;
    }
    showCell();
}

void RanksPage::goToStep(qint64 step)
{
    const auto [lower, upper] = group_->xRange();
    const double at = double(step), width = upper - lower;
    if (at < lower &&
        lower - at < width / 4) // a little outside, such as step 0: kept together with what is shown
        group_->setXRange(at - width * 0.01, upper);
    else if (at < lower || at > upper)
        group_->setXRange(at - width / 2, at + width / 2);
    group_->setFollowing(false);
    group_->setCursorStep(step);
}

void RanksPage::jumpToDivergence()
{
    std::optional<RankStep> target = firstBeyondLimit(feed_->picture());
    if (const std::optional<RankEquality> broken = equality_->firstBroken())
        target = RankStep{broken->rank(), broken->step()};
    if (!target) {
        Q_EMIT statusTextChanged(tr("No rank leaves the others"));
        return;
    }
    goToStep(target->step);
    pin(target);
    heatmap_->setFocus();
}

void RanksPage::nextScale()
{
    plots_->nextScale();
}

void RanksPage::open(const QString& argument)
{
    std::optional<qint64> step;
    int rank = -1;
    for (const QString& word : argument.split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
        const QString value = word.mid(word.indexOf(QLatin1Char(':')) + 1);
        if (word.startsWith(QLatin1String("run:"))) {
            const ProjectSnapshotPtr snapshot = context().project.snapshot();
            if (snapshot && snapshot->run(value))
                runId_ = value;
        } else if (word.startsWith(QLatin1String("step:"))) {
            step = value.toLongLong();
        } else if (word.startsWith(QLatin1String("rank:"))) {
            rank = value.toInt();
        } else if (word.startsWith(QLatin1String("quantity:"))) {
            chooseQuantity(value);
        }
    }
    refresh();
    if (step)
        goToStep(*step);
    else if (const std::optional<qint64> last = context().selection.step(); last && !group_->cursorStep())
        group_->setCursorStep(last); // the step that another page, or the session, was at
    if (step && rank >= 0)
        pin(RankStep{rank, *step});
    heatmap_->setFocus();
}

bool RanksPage::escape()
{
    if (PlotPage::escape())
        return true;
    if (pinned_) {
        pin(std::nullopt);
    } else if (group_->cursorStep()) {
        group_->setCursorStep(std::nullopt);
        showCell();
    } else {
        return false;
    }
    return true;
}

bool RanksPage::busy() const
{
    return feed_->busy() || equality_->busy() || cells_->busy();
}

QJsonObject RanksPage::saveState() const
{
    QJsonObject state = PlotPage::saveState();
    state.insert(QStringLiteral("run"), runId_);
    if (const QuantityInfo* info = quantityInfo(quantity()))
        state.insert(QStringLiteral("quantity"),
                     QString::fromLatin1(info->name.data(), int(info->name.size())));
    return state;
}

void RanksPage::restoreState(const QJsonObject& state)
{
    runId_ = state.value(QStringLiteral("run")).toString(runId_); // an unknown one is replaced by fillRuns()
    chooseQuantity(state.value(QStringLiteral("quantity")).toString());
    PlotPage::restoreState(state);
}

void RanksPage::chooseQuantity(const QString& name)
{
    if (const QuantityInfo* info = quantityByName(name.toStdString()))
        if (const int at = quantity_->findData(int(info->id)); at >= 0)
            quantity_->setCurrentIndex(at);
}

void RanksPage::themeChanged()
{
    plots_->applyTheme();
    draw();
}

} // namespace lockstep
