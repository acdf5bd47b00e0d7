// One run over its reference, small and live: loss at the left, difference with the measured tolerance at the right.
#pragma once

#include "ui/models/comparison_model.h"
#include "ui/models/project_snapshot.h"
#include "ui/pages/curve_feed.h"
#include "ui/widgets/building_blocks.h"

namespace lockstep {

class CurveView;

class PairPlots : public Pane
{
    Q_OBJECT

public:
    explicit PairPlots(QWidget* parent = nullptr);
    // `runB` against `runA`; either may be empty.
    void setRuns(const ProjectSnapshotPtr& snapshot, const QString& runA, const QString& runB);
    // Of these runs: its tolerance band and first divergent step; null: not known yet.
    void setComparison(const RunComparisonPtr& comparison);
    bool busy() const { return feed_->busy(); }

Q_SIGNALS:
    void openCurves();

protected:
    void changeEvent(QEvent* event) override;

private:
    void draw();

    CurveFeed* feed_;
    CurveView *loss_, *delta_;
    Chip* live_;
    ProjectSnapshotPtr snapshot_;
    QString runA_, runB_;
    RunComparisonPtr comparison_;
};

} // namespace lockstep
