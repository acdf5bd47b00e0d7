// What lies above the curves: title, markers, notes, cursor, read-out, end labels. A transparent child
// widget, so that moving the cursor repaints this layer and never the curves. Private to ui/plots.
#pragma once

#include "ui/plots/curve_view.h"

#include <QPainter>
#include <QWidget>

#include <functional>

namespace lockstep {

// Positions are widget coordinates (logical pixels).
struct OverlayContent {
    static constexpr int kTitleStrip = 22; // height above the plot area for title and chips

    struct Label { // beside the right edge
        QString text;
        QColor color;
        double y = 0;
        bool bold = false;
    };
    struct Marker {
        double x = 0;
        QString text;
        CurveMarker::Kind kind = CurveMarker::Kind::Event;
    };
    struct Note {
        QPointF at;
        QString text;
        QColor color;
    };
    struct Dot {
        QPointF at;
        QColor color;
    };
    struct Row {
        QString label, text;
        QColor color;
        CurveStyle style = CurveStyle::Thin;
        bool bold = false;
    };

    PlotTheme theme = PlotTheme::light();
    QRect area;
    QString title, emptyText, caption;
    std::vector<Label> endLabels;
    std::vector<Marker> markers;
    std::vector<Note> notes;
    std::optional<double> cursorX;
    std::vector<Dot> dots;
    QString readoutHead; // empty: no read-out
    std::vector<Row> rows;
    std::optional<std::pair<double, double>> selection;
    bool focused = false;
};

void paintOverlay(QPainter& painter, const OverlayContent& content, const QSize& size);
// Labels moved apart so that none covers another, inside [top, bottom]; order by wanted y. Returns the new
// middles.
std::vector<double> spreadLabels(std::vector<double> wanted, double height, double top, double bottom);

// The chip of a divergent step: octagon with a cross and text. Returns its rectangle.
QRectF paintDivergenceChip(QPainter& painter, const PlotTheme& theme, QPointF topLeft, const QString& text);
// The octagon alone, 12 pixels wide.
void paintDivergenceIcon(QPainter& painter, const PlotTheme& theme, QPointF middle, const QColor& cross);
QSizeF divergenceChipSize(const QString& text);

class CurveOverlay : public QWidget
{
    Q_OBJECT
public:
    explicit CurveOverlay(QWidget* parent);
    std::function<OverlayContent()> content; // asked at each paint

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace lockstep
