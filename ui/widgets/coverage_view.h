// The coverage picture: one strip per epoch, one row per rank, one column per sample, shade = when it is used. Wheel zooms
// at the pointer, drag pans, double click shows all. Columns are aggregated off the GUI thread; until they are there the
// picture before is stretched, so panning never waits.
#pragma once

#include "ui/models/data_coverage.h"
#include "ui/models/query_jobs.h"

#include <QImage>
#include <QWidget>

namespace lockstep {

class CoverageView : public QWidget
{
    Q_OBJECT

public:
    explicit CoverageView(QWidget* parent = nullptr);

    void setData(CoverageDataPtr data);
    // Ids shown; the whole dataset after setData().
    CoverageRange range() const { return range_; }
    void setRange(double first, double last);
    void fit();
    bool busy() const { return jobs_.busy(); }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void hovered(const QString& text);
    void rangeChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    struct Strip {
        QRect rows; // where the ranks are drawn
        QRect seen; // the line "seen once" below
    };
    QRect plot() const; // columns
    Strip strip(int epoch) const;
    int rowsPerEpoch() const;
    void request();
    void paintStrip(QPainter& painter, int epoch);
    void paintMarks(QPainter& painter, int epoch);
    void paintSummary(QPainter& painter, int epoch);
    void paintAxis(QPainter& painter);
    QString textAt(const QPoint& position) const;

    CoverageDataPtr data_;
    CoverageRange range_;
    CoverageImage image_;          // what is aggregated
    std::vector<QImage> pictures_; // one per epoch, drawn from image_
    QueryJobs jobs_;
    QPoint pressed_;
    CoverageRange pressedRange_;
    bool dragging_ = false;
};

} // namespace lockstep
