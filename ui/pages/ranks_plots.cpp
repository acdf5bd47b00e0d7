#include "ui/pages/ranks_plots.h"

#include "ui/models/quantity_text.h"
#include "ui/pages/ranks_findings.h"
#include "ui/plots/heatmap_view.h"
#include "ui/plots/plot_group.h"
#include "ui/widgets/building_blocks.h"

#include <QVBoxLayout>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kLeft = 96, kRight = 120; // room for rank names and for counts
constexpr int kHeatmapHeight = 150;     // below that ranks share rows

} // namespace

RanksPlots::RanksPlots(QWidget* parent)
    : QWidget(parent),
      group_(new PlotGroup(this)),
      spread_(new CurveView(this)),
      rank_(new CurveView(this)),
      heatmap_(new HeatmapView(this))
{
    spread_->setObjectName(QStringLiteral("spreadPlot"));
    heatmap_->setObjectName(QStringLiteral("heatmap"));
    rank_->setObjectName(QStringLiteral("rankPlot"));
    heatmap_->setTitle(tr("Rank by step"));
    heatmap_->setLimit(kRankLimit, tr("robust sd"));
    heatmap_->setMargins(kLeft, kRight);
    heatmap_->setMinimumHeight(kHeatmapHeight);
    spread_->setEmptyText(tr("Shown once two ranks have a step in common."));
    spread_->setXAxisVisible(false);
    spread_->setFixedHeight(110);
    rank_->setXAxisCaption(tr("step"));
    rank_->setMinimumHeight(130);
    for (CurveView* view : {spread_, rank_}) {
        view->setMargins(kLeft, kRight);
        group_->add(view);
    }
    group_->add(heatmap_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 8, 0, 6);
    column->setSpacing(2);
    column->addWidget(spread_);
    column->addWidget(heatmap_, 55);
    column->addWidget(horizontalLine(this));
    column->addWidget(rank_, 45);
    setTabOrder(spread_, heatmap_);
    setTabOrder(heatmap_, rank_);
}

void RanksPlots::setEmptyText(const QString& text)
{
    rank_->setEmptyText(text);
}

void RanksPlots::showPicture(const RankPicture& picture, const RankRange& others, int chosen,
                             Quantity quantity, bool live)
{
    std::vector<HeatmapRow> rows;
    for (std::size_t r = 0; r < picture.ranks.size(); ++r)
        rows.push_back({rankName(picture.ranks[r]), {}, picture.distances[r]});
    heatmap_->setRows(std::move(rows));
    heatmap_->setTitle(picture.ranks.size() == 2 ? tr("Rank by step, against step-to-step noise")
                                                 : tr("Rank by step"));
    // Few ranks need less than the usual least height; a widget taller than its place would lie over the plot below.
    heatmap_->setMinimumHeight(std::min(kHeatmapHeight, heatmap_->fullHeight()));
    heatmap_->setMaximumHeight(heatmap_->fullHeight());
    const QString title = quantityTitle(quantity);
    spread_->setTitle(tr("%1, spread over ranks (max - min)").arg(title));
    spread_->setSeries(
        {{tr("spread"), PlotTheme::forApplication().ranks[1], CurveStyle::Thin, picture.spread}});
    const auto at = std::find(picture.ranks.begin(), picture.ranks.end(), chosen);
    const int row = at == picture.ranks.end() ? -1 : int(at - picture.ranks.begin());
    if (heatmap_->currentRow() < 0 || !heatmap_->cursorStep())
        heatmap_->setCurrentRow(row);
    showChosen(picture, others, row, title);
    if (!picture.ranks.empty() && !fitted_) {
        fitted_ = true;
        group_->setFollowing(live);
        group_->fit();
    } else if (group_->following()) {
        group_->fit();
    }
}

void RanksPlots::showChosen(const RankPicture& picture, const RankRange& others, int row,
                            const QString& title)
{
    const PlotTheme theme = PlotTheme::forApplication();
    std::vector<CurveSeries> series;
    std::vector<CurveBand> bands;
    if (row < 0) {
        rank_->setTitle(tr("One rank against the others"));
    } else {
        const int rank = picture.ranks[std::size_t(row)];
        const int count = int(picture.ranks.size()) - 1;
        if (count > 0 && others.median) {
            if (count > 1)
                bands.push_back({theme.range, {}, others.low, others.high});
            const QString name =
                count > 1 ? tr("median of %1").arg(count) : rankName(picture.ranks[row == 0 ? 1 : 0]);
            series.push_back({name, theme.ranks[2], CurveStyle::Mean, others.median, name});
        }
        series.push_back({rankName(rank), heatmap_->beyondLimit(row) > 0 ? theme.red : theme.ranks[0],
                          CurveStyle::Thin, picture.values[std::size_t(row)], rankName(rank), true});
        rank_->setTitle((count > 1   ? tr("%1: rank %2 against median and range of the others")
                         : count > 0 ? tr("%1: rank %2 against the other rank")
                                     : tr("%1: rank %2, the only one that recorded it"))
                            .arg(title)
                            .arg(rank));
    }
    rank_->setBands(std::move(bands));
    rank_->setSeries(std::move(series));
}

void RanksPlots::setMark(qint64 step, const QString& sentence)
{
    std::vector<CurveMarker> named, lines;
    if (step >= 0) {
        named.push_back({step, sentence, CurveMarker::Kind::Divergence});
        lines.push_back({step, {}, CurveMarker::Kind::Divergence});
    }
    spread_->setMarkers(std::move(named));
    heatmap_->setMarkers(lines);
    rank_->setMarkers(std::move(lines));
}

void RanksPlots::nextScale()
{
    CurveView* target = spread_->hasFocus() ? spread_ : rank_;
    target->setYScale(target->yScale() == YScale::Linear ? YScale::Log
                      : target->yScale() == YScale::Log  ? YScale::Symlog
                                                         : YScale::Linear);
}

void RanksPlots::applyTheme()
{
    const PlotTheme theme = PlotTheme::forApplication();
    spread_->setTheme(theme);
    rank_->setTheme(theme);
    heatmap_->setTheme(theme);
}

} // namespace lockstep
