// The newest distributed run over its baseline, small and live: loss at the left, difference at the right.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/pages/curve_feed.h"
#include "ui/widgets/building_blocks.h"

namespace lockstep {

class CurveView;

class OverviewPlots : public Pane
{
    Q_OBJECT

public:
    explicit OverviewPlots(QWidget* parent = nullptr);
    // `runB` against `runA`; either may be empty.
    void setRuns(const ProjectSnapshotPtr& snapshot, const QString& runA, const QString& runB);
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
};

} // namespace lockstep
