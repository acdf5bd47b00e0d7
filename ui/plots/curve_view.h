// One plot panel: series over steps with bands, markers, notes, a shared cursor and an exact read-out.
//
// Everything that is drawn comes from immutable snapshots (series_snapshot.h), so a page replaces series at
// any time by calling setSeries() again with newer ones; the x range of the reader is kept. No spike, no NaN
// and no lone value is ever left out, at any zoom (curve_raster.h has the rules). GUI thread only.
//
// Mouse: wheel zooms x at the pointer, Ctrl+wheel y, drag pans, Shift+drag selects, double-click fits.
// Keys: Left/Right one step, with Shift ten; Home/End first and last step; F fit, L next y scale, + and -
// zoom, Enter pins the read-out, Esc drops pin and selection.
#pragma once

#include "ui/plots/plot_mapping.h"
#include "ui/plots/plot_theme.h"
#include "ui/plots/series_snapshot.h"

#include <QString>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace lockstep {

// Widths are logical pixels. Draw order is the order of the list: baseline first, twin last.
enum class CurveStyle {
    Single, // 3.0, the thick line below everything
    Mean,   // 1.8
    Rank,   // 1.0 at 55 %
    Twin,   // 1.2 dashed 5-4, light, on top
    Thin,   // 1.2
};

struct CurveSeries {
    QString label; // in the read-out
    QColor color;
    CurveStyle style = CurveStyle::Thin;
    SeriesSnapshot::Ptr data; // null or empty: listed in the read-out, nothing drawn
    QString endLabel = {};    // at the right margin beside the last visible value; empty: none
    bool bold = false;        // end label and read-out row in semi-bold
    bool signedValue = false; // the read-out shows "+" (delta curves)
    QColor endColor = {};     // of the end label where the line's own is too faint to read
};

// A filled stretch between two series with the same steps: tolerance band or spread of the ranks. Lies below
// all curves.
struct CurveBand {
    QColor fill;
    QColor edge = {}; // invalid: no edge line
    SeriesSnapshot::Ptr lower, upper;
    QString endLabel = {};
};

struct CurveMarker {
    enum class Kind {
        Divergence, // red line across the plot; the text stands in a chip with an octagon
        Event,      // thin grey line with small text
    };
    std::int64_t step = 0;
    QString text = {}; // empty: line only
    Kind kind = Kind::Event;
};

// A dot at a value with a sentence beside it ("step 42: +1.357e-03, first loss outside the band").
struct CurveNote {
    std::int64_t step = 0;
    double value = 0;
    QString text;
    QColor color;
};

// One line of the read-out: the exact stored value, shortest decimal that reads back to the same double.
struct ReadoutRow {
    QString label;
    QColor color;
    bool present = false; // false: this series has no record at this step
    double value = 0;
    QString text;
};

class CurveView : public QWidget
{
    Q_OBJECT
public:
    explicit CurveView(QWidget* parent = nullptr);
    ~CurveView() override;

    void setTitle(const QString& title);
    QString title() const;
    void setTheme(const PlotTheme& theme);
    // Shown in the middle of a plot without any value.
    void setEmptyText(const QString& text);

    void setSeries(std::vector<CurveSeries> series);
    const std::vector<CurveSeries>& series() const;
    void setBands(std::vector<CurveBand> bands);
    void setMarkers(std::vector<CurveMarker> markers);
    void setNotes(std::vector<CurveNote> notes);

    void setYScale(YScale scale, double symlogThreshold = 1e-6);
    YScale yScale() const;
    // Fixed y range; without a value the y range follows what is visible.
    void setYRange(std::optional<std::pair<double, double>> range);
    std::pair<double, double> yRange() const;

    // Log: the axis is even in log10(step + 1), so that step 0 has a place.
    void setXScale(XScale scale);
    XScale xScale() const;
    // The word in the read-out: "step 57" or "57 samples".
    void setXUnit(XUnit unit);

    // Exponential smoothing, weight in [0, 1), 0 = off: computed from every value with bias correction, off
    // the GUI thread; the raw curve stays visible behind it and the read-out keeps showing stored values.
    void setSmoothing(double weight);
    double smoothing() const;

    // In steps. Set by the page or a PlotGroup; emits nothing.
    void setXRange(double lower, double upper);
    std::pair<double, double> xRange() const;
    // First and last step of all series; {0, 1} without any value.
    std::pair<double, double> dataXRange() const;
    // Shows every step (and follows new ones if following).
    void fit();
    // While following, new steps move the upper end of the x range; panning or zooming by the user ends it.
    void setFollowing(bool following);
    bool following() const;

    void setCursorStep(std::optional<qint64> step);
    std::optional<qint64> cursorStep() const;
    // As if a person had moved it: emits cursorStepChanged().
    void moveCursorTo(qint64 step);
    void setPinned(bool pinned);
    // The values at this step, in the order of the series.
    std::vector<ReadoutRow> readout(qint64 step) const;
    // "step 57: single 3.08505678, twin 3.08505678" for the status bar.
    QString readoutText(qint64 step) const;

    // Plots above each other line up when they share margins (logical pixels). Defaults 56 and 84.
    void setMargins(int left, int right);
    void setXAxisVisible(bool visible); // labels of the x axis; the lowest plot of a column has them
    void setXAxisCaption(const QString& caption);
    // Wheel, drag and keys are off for small static plots.
    void setInteractive(bool interactive);

    // Plot area without axes, in widget coordinates, and the mapping that the last paint used (device
    // pixels).
    QRect plotArea() const;
    PlotMapping mapping() const;
    // Plots below each other as lines and text; empty: nothing to draw.
    static QByteArray svg(const std::vector<CurveView*>& views);
    // What a screen reader says: title, series with first, last, lowest and highest value, non-finite values.
    QString textSummary() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    // By the user only, so that plots can be tied to each other without loops.
    void xRangeChanged(double lower, double upper);
    void cursorStepChanged(std::optional<qint64> step);
    void followingChanged(bool following);
    void yScaleChanged(lockstep::YScale scale);
    void pinnedChanged(bool pinned);
    void stepActivated(qint64 step);                // Enter or click
    void rangeSelected(double lower, double upper); // Shift+drag
    void hoverTextChanged(const QString& text);     // readoutText of the cursor, empty when it left

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace lockstep
