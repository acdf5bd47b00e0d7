// The plots of the Ranks page over one x axis: spread over ranks, heat map of distances, the chosen rank against the
// others.
#pragma once

#include "core/base/quantity.h"
#include "ui/plots/curve_view.h"
#include "ui/plots/rank_fold.h"

#include <QWidget>

namespace lockstep {

class HeatmapView;
class PlotGroup;

class RanksPlots : public QWidget
{
    Q_OBJECT

public:
    explicit RanksPlots(QWidget* parent = nullptr);

    // `live`: the newest step stays in view until the user pans. `chosen` is a rank, -1: none.
    void showPicture(const RankPicture& picture, const RankRange& others, int chosen, Quantity quantity,
                     bool live);
    void setEmptyText(const QString& text);
    // A broken equality: its sentence stands at the top, its line crosses all plots. Negative: none.
    void setMark(qint64 step, const QString& sentence);
    // The next picture is shown from its first to its last step.
    void fitAgain() { fitted_ = false; }
    void nextScale();
    void applyTheme();

    HeatmapView* heatmap() const { return heatmap_; }
    PlotGroup* group() const { return group_; }

private:
    void showChosen(const RankPicture& picture, const RankRange& others, int row, const QString& title);

    PlotGroup* group_;
    CurveView *spread_, *rank_;
    HeatmapView* heatmap_;
    bool fitted_ = false;
};

} // namespace lockstep
