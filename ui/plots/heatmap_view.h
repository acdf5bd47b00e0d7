// Ranks by steps, one colour cell each, for any number of both: a pixel that covers several steps, or several ranks,
// shows the largest of them, so no outlier disappears at any zoom. Cells beyond the limit get a red frame and are counted
// at the right, so the odd rank is found without colour. GUI thread only.
//
// Mouse: wheel zooms at the pointer, drag pans, double-click fits, click chooses a cell.
// Keys: Left/Right one step, with Shift ten; Up/Down one row; Home first cell beyond the limit; F fit, +/- zoom; Enter
// chooses the cell.
#pragma once

#include "ui/plots/curve_view.h"

namespace lockstep {

struct HeatmapRow {
    QString label;            // "rank 11"
    QString group = {};       // "node 1"; a line separates groups
    SeriesSnapshot::Ptr data; // e.g. distance to the median of the ranks; the size counts, not the sign
};

class HeatmapView : public QWidget
{
    Q_OBJECT
public:
    explicit HeatmapView(QWidget* parent = nullptr);
    ~HeatmapView() override;

    void setTheme(const PlotTheme& theme);
    void setTitle(const QString& title);
    void setRows(std::vector<HeatmapRow> rows);
    // Cells with |value| > limit are beyond it. The colours run from 0 to the limit.
    void setLimit(double limit, const QString& unit); // "robust sd"
    void setMarkers(std::vector<CurveMarker> markers);
    void setXRange(double lower, double upper);
    std::pair<double, double> xRange() const;
    std::pair<double, double> dataXRange() const;
    bool hasData() const;
    void setMargins(int left, int right);
    void setCursorStep(std::optional<qint64> step);
    std::optional<qint64> cursorStep() const;
    void setCurrentRow(int row); // -1: none
    int currentRow() const;
    // Steps beyond the limit in the whole series of a row (not only in the visible range).
    std::int64_t beyondLimit(int row) const;
    // At which every row has its largest height; higher than this stays empty below.
    int fullHeight() const;
    QString textSummary() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void xRangeChanged(double lower, double upper); // by the user only, as the next two
    void cursorStepChanged(std::optional<qint64> step);
    void currentRowChanged(int row);
    void cellActivated(int row, qint64 step); // Enter or click
    void hoverTextChanged(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace lockstep
