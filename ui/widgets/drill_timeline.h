// Who knew what when: one lane per rank and one for the host. Left of the break nothing is measured; right of it the axis is
// logarithmic, from a millisecond to beyond the limit. The break is ink, not red: it was deliberate.
#pragma once

#include "ui/models/drill_story.h"

#include <QWidget>

namespace lockstep {

class DrillTimeline : public QWidget
{
    Q_OBJECT

public:
    explicit DrillTimeline(QWidget* parent = nullptr);
    void setStory(const DrillStory& story); // without lanes: says so

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    int laneTop(int lane) const;
    double xOf(double seconds) const;
    void paintLane(QPainter& painter, const DrillLane& lane, int top) const;
    void paintAxis(QPainter& painter) const;

    DrillStory story_;
};

} // namespace lockstep
