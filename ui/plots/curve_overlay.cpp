#include "ui/plots/curve_overlay.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep {

namespace {

constexpr double kTitleStrip = OverlayContent::kTitleStrip;
constexpr double kChipHeight = 18;
constexpr double kReadoutRow = 15;
constexpr double kReadoutPadding = 7;

// Title, chips and event names stand in a strip above the plot area, so that they never lie on a curve.
QRectF paintTitle(QPainter& p, const OverlayContent& c)
{
    if (c.title.isEmpty())
        return {};
    p.setFont(PlotTheme::titleFont());
    const QFontMetricsF metrics(p.font());
    const QString text = metrics.elidedText(c.title, Qt::ElideMiddle, c.area.width() - 8);
    const QRectF box(c.area.left(), c.area.top() - kTitleStrip, metrics.horizontalAdvance(text) + 8,
                     kTitleStrip - 2);
    p.setPen(c.theme.ink);
    p.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, text);
    return box;
}

void paintMarkers(QPainter& p, const OverlayContent& c, const QRectF& title)
{
    std::vector<QRectF> taken;
    if (!title.isEmpty())
        taken.push_back(title);
    const auto hit = [&](const QRectF& box) -> const QRectF* {
        for (const QRectF& t : taken)
            if (t.intersects(box))
                return &t;
        return nullptr;
    };
    const double stripTop = c.area.top() - kTitleStrip, right = c.area.right() + 1;
    for (const auto kind : {CurveMarker::Kind::Divergence, CurveMarker::Kind::Event}) {
        for (const OverlayContent::Marker& marker : c.markers) {
            if (marker.kind != kind || marker.x < c.area.left() - 1 || marker.x > right)
                continue;
            const bool divergence = kind == CurveMarker::Kind::Divergence;
            p.setPen(divergence ? QPen(c.theme.red, 1.5) : QPen(c.theme.ink3, 1, Qt::DotLine));
            p.drawLine(QPointF(marker.x, c.area.top() - (divergence && c.title.isEmpty() ? 0 : 3)),
                       QPointF(marker.x, c.area.bottom() + 1));
            if (marker.text.isEmpty())
                continue;
            p.setFont(PlotTheme::labelFont());
            const QFontMetricsF metrics(p.font());
            const QSizeF size = divergence
                                    ? divergenceChipSize(marker.text)
                                    : QSizeF(metrics.horizontalAdvance(marker.text) + 4, kTitleStrip - 4);
            QRectF box(QPointF(marker.x - (divergence ? 4 : 2), stripTop), size);
            // To the right until nothing is in the way; at the border to the left.
            while (const QRectF* other = hit(box))
                box.moveLeft(other->right() + 6);
            if (box.right() > right)
                box.moveRight(std::min(right, marker.x + 4));
            // A divergence is always named; an event without room keeps its line.
            if (hit(box) != nullptr || box.left() < c.area.left() || std::fabs(box.left() - marker.x) > 260) {
                if (!divergence)
                    continue;
                box.moveLeft(std::clamp(marker.x + 5, double(c.area.left()), right - size.width()));
                box.moveTop(c.area.top() + 2);
            }
            if (divergence) {
                paintDivergenceChip(p, c.theme, box.topLeft(), marker.text);
            } else {
                p.setPen(c.theme.ink3);
                p.drawText(box, Qt::AlignCenter, marker.text);
            }
            taken.push_back(box);
        }
    }
}

void paintNotes(QPainter& p, const OverlayContent& c)
{
    p.setFont(PlotTheme::labelFont());
    const QFontMetricsF metrics(p.font());
    for (const OverlayContent::Note& note : c.notes) {
        if (note.at.x() < c.area.left() || note.at.x() > c.area.right() + 1)
            continue;
        const QPointF at(note.at.x(), std::clamp(note.at.y(), double(c.area.top()), double(c.area.bottom())));
        p.setPen(Qt::NoPen);
        p.setBrush(note.color);
        p.drawEllipse(at, 3.5, 3.5);
        p.setBrush(Qt::NoBrush);
        const double width = metrics.horizontalAdvance(note.text) + 4;
        const bool left = at.x() - 12 - width > c.area.left();
        const QRectF box(left ? at.x() - 12 - width : at.x() + 10, at.y() - metrics.height() / 2, width,
                         metrics.height());
        p.setPen(note.color);
        p.drawText(box, Qt::AlignCenter, note.text);
    }
}

void paintEndLabels(QPainter& p, const OverlayContent& c, const QSize& size)
{
    std::vector<std::size_t> order(c.endLabels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return c.endLabels[a].y < c.endLabels[b].y; });
    std::vector<double> wanted;
    for (const std::size_t i : order)
        wanted.push_back(c.endLabels[i].y);
    const double height = 13;
    const std::vector<double> middles = spreadLabels(wanted, height, c.area.top(), c.area.bottom() + 1);
    const double left = c.area.right() + 7, room = size.width() - left - 2;
    if (room < 16)
        return;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const OverlayContent::Label& label = c.endLabels[order[k]];
        p.setFont(label.bold ? PlotTheme::titleFont() : PlotTheme::labelFont());
        p.setPen(label.bold ? label.color : c.theme.ink2);
        const QString text = QFontMetricsF(p.font()).elidedText(label.text, Qt::ElideMiddle, room);
        p.drawText(QRectF(left, middles[k] - height, room, 2 * height), Qt::AlignLeft | Qt::AlignVCenter,
                   text);
    }
}

void paintCursor(QPainter& p, const OverlayContent& c)
{
    if (!c.cursorX)
        return;
    p.setRenderHint(QPainter::Antialiasing, false);
    p.setPen(QPen(c.theme.ink2, 1, Qt::CustomDashLine));
    QPen pen(c.theme.ink2, 1);
    pen.setDashPattern({3, 3});
    p.setPen(pen);
    const double x = std::floor(*c.cursorX);
    p.drawLine(QPointF(x, c.area.top()), QPointF(x, c.area.bottom()));
    p.setRenderHint(QPainter::Antialiasing, true);
    for (const OverlayContent::Dot& dot : c.dots) {
        if (!QRectF(c.area).adjusted(-1, -1, 1, 1).contains(dot.at))
            continue;
        p.setPen(QPen(dot.color, 1.5));
        p.setBrush(c.theme.base);
        p.drawEllipse(dot.at, 3, 3);
    }
    p.setBrush(Qt::NoBrush);
}

void paintSample(QPainter& p, const OverlayContent::Row& row, const QPointF& from, double width)
{
    const double w = row.style == CurveStyle::Single ? 3.0 : row.style == CurveStyle::Mean ? 2 : 1.5;
    QPen pen(row.color, w, Qt::SolidLine, Qt::FlatCap);
    if (row.style == CurveStyle::Twin)
        pen.setDashPattern({2.5, 2});
    p.setPen(pen);
    p.drawLine(from, from + QPointF(width, 0));
}

void paintReadout(QPainter& p, const OverlayContent& c)
{
    if (c.readoutHead.isEmpty() || !c.cursorX)
        return;
    const QFont plain = PlotTheme::labelFont(), bold = PlotTheme::titleFont();
    const QFontMetricsF metrics(plain), boldMetrics(bold);
    const int fitting = std::max(1, int((c.area.height() - 12 - 2 * kReadoutPadding) / kReadoutRow) - 1);
    std::size_t shown = c.rows.size();
    if (int(shown) > fitting)
        shown = std::size_t(std::max(0, fitting - 1));
    const QString more = shown < c.rows.size() ? CurveView::tr("%n more below in the status bar", nullptr,
                                                               int(c.rows.size() - shown))
                                               : QString();
    // Values line up at their decimal point.
    double labels = 0, whole = 0, fraction = 0;
    const auto split = [](const QString& text) {
        const qsizetype dot = text.indexOf(QLatin1Char('.'));
        return dot < 0 ? text.size() : dot;
    };
    for (std::size_t i = 0; i < shown; ++i) {
        const QFontMetricsF& m = c.rows[i].bold ? boldMetrics : metrics;
        const QString& text = c.rows[i].text;
        labels = std::max(labels, m.horizontalAdvance(c.rows[i].label));
        whole = std::max(whole, m.horizontalAdvance(text.left(split(text))));
        fraction = std::max(fraction, m.horizontalAdvance(text.mid(split(text))));
    }
    const double values = whole + fraction;
    double width = kReadoutPadding * 2 + 20 + labels + 16 + values;
    width = std::max({width, kReadoutPadding * 2 + boldMetrics.horizontalAdvance(c.readoutHead),
                      kReadoutPadding * 2 + metrics.horizontalAdvance(more)});
    const double height =
        kReadoutPadding * 2 + 3 + kReadoutRow * (1 + double(shown) + (more.isEmpty() ? 0 : 1));
    double x = *c.cursorX + 14;
    if (x + width > c.area.right() - 2)
        x = *c.cursorX - 14 - width;
    x = std::clamp(x, double(c.area.left()) + 2,
                   std::max(double(c.area.left()) + 2, c.area.right() - width - 2));
    const QRectF box(std::round(x) + 0.5, c.area.top() + 4.5, std::ceil(width), std::ceil(height));
    p.setPen(QPen(c.theme.line, 1));
    p.setBrush(c.theme.base);
    p.drawRoundedRect(box, 4, 4);
    p.setBrush(Qt::NoBrush);

    QRectF line(box.left() + kReadoutPadding, box.top() + kReadoutPadding, width - 2 * kReadoutPadding,
                kReadoutRow);
    p.setFont(bold);
    p.setPen(c.theme.ink);
    p.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, c.readoutHead);
    line.translate(0, 3);
    for (std::size_t i = 0; i < shown; ++i) {
        line.translate(0, kReadoutRow);
        const OverlayContent::Row& row = c.rows[i];
        paintSample(p, row, QPointF(line.left(), line.center().y()), 14);
        p.setFont(row.bold ? bold : plain);
        p.setPen(c.theme.ink);
        const QString label = QFontMetricsF(p.font()).elidedText(row.label, Qt::ElideMiddle, labels + 1);
        p.drawText(line.adjusted(20, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, label);
        const double dot = line.right() - fraction;
        const QString before = row.text.left(split(row.text)), after = row.text.mid(split(row.text));
        p.drawText(QRectF(dot - 300, line.top(), 300, line.height()), Qt::AlignRight | Qt::AlignVCenter,
                   before);
        p.drawText(QRectF(dot, line.top(), 300, line.height()), Qt::AlignLeft | Qt::AlignVCenter, after);
    }
    if (!more.isEmpty()) {
        line.translate(0, kReadoutRow);
        p.setFont(plain);
        p.setPen(c.theme.ink3);
        p.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, more);
    }
}

} // namespace

std::vector<double> spreadLabels(std::vector<double> y, double height, double top, double bottom)
{
    if (y.empty())
        return y;
    for (double& at : y)
        at = std::clamp(at, top + height / 2, std::max(top + height / 2, bottom - height / 2));
    for (std::size_t i = 1; i < y.size(); ++i)
        y[i] = std::max(y[i], y[i - 1] + height);
    // Too low: push up from the bottom; too many for the room, they overlap evenly rather than leave it.
    double limit = bottom - height / 2;
    for (std::size_t i = y.size(); i-- > 0;) {
        y[i] = std::min(y[i], limit);
        limit = y[i] - height;
    }
    if (y.front() < top + height / 2 && y.size() > 1) {
        const double step = (bottom - top - height) / double(y.size() - 1);
        for (std::size_t i = 0; i < y.size(); ++i)
            y[i] = top + height / 2 + step * double(i);
    }
    return y;
}

QSizeF divergenceChipSize(const QString& text)
{
    return {QFontMetricsF(PlotTheme::titleFont()).horizontalAdvance(text) + 32, kChipHeight};
}

void paintDivergenceIcon(QPainter& p, const PlotTheme& theme, QPointF middle, const QColor& cross)
{
    QPolygonF octagon;
    for (int i = 0; i < 8; ++i) {
        const double angle = M_PI / 8 + i * M_PI / 4;
        octagon << middle + QPointF(std::cos(angle), std::sin(angle)) * 6.0;
    }
    p.setPen(Qt::NoPen);
    p.setBrush(theme.red);
    p.drawPolygon(octagon);
    p.setPen(QPen(cross, 1.5));
    p.drawLine(middle + QPointF(-2.2, -2.2), middle + QPointF(2.2, 2.2));
    p.drawLine(middle + QPointF(-2.2, 2.2), middle + QPointF(2.2, -2.2));
    p.setBrush(Qt::NoBrush);
}

QRectF paintDivergenceChip(QPainter& p, const PlotTheme& theme, QPointF topLeft, const QString& text)
{
    const QRectF box(QPointF(std::round(topLeft.x()) + 0.5, std::round(topLeft.y()) + 0.5),
                     divergenceChipSize(text));
    QColor border = theme.red;
    border.setAlphaF(0.4f);
    p.setPen(QPen(border, 1));
    p.setBrush(theme.redTint);
    p.drawRoundedRect(box, 3, 3);
    paintDivergenceIcon(p, theme, {box.left() + 13, box.center().y()}, theme.redTint);
    p.setFont(PlotTheme::titleFont());
    p.setPen(theme.red);
    p.drawText(box.adjusted(24, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
    return box;
}

void paintOverlay(QPainter& p, const OverlayContent& c, const QSize& size)
{
    p.setRenderHint(QPainter::Antialiasing);
    if (c.selection) {
        QColor fill = c.theme.accent;
        fill.setAlphaF(0.15f);
        p.fillRect(QRectF(QPointF(c.selection->first, c.area.top()),
                          QPointF(c.selection->second, c.area.bottom() + 1)),
                   fill);
    }
    const QRectF title = paintTitle(p, c);
    if (!c.emptyText.isEmpty()) {
        p.setFont(PlotTheme::labelFont());
        p.setPen(c.theme.ink3);
        p.drawText(QRectF(c.area), Qt::AlignCenter | Qt::TextWordWrap, c.emptyText);
    }
    paintMarkers(p, c, title);
    paintNotes(p, c);
    paintEndLabels(p, c, size);
    if (!c.caption.isEmpty()) {
        p.setFont(PlotTheme::labelFont());
        p.setPen(c.theme.ink2);
        p.drawText(QRectF(c.area.right() + 20, c.area.bottom() + 4, size.width() - c.area.right() - 20, 16),
                   Qt::AlignLeft | Qt::AlignVCenter, c.caption);
    }
    paintCursor(p, c);
    paintReadout(p, c);
    if (c.focused) {
        p.setPen(QPen(c.theme.accent, 2));
        p.setBrush(Qt::NoBrush);
        p.drawRoundedRect(QRectF(QPointF(0, 0), QSizeF(size)).adjusted(1, 1, -1, -1), 4, 4);
    }
}

CurveOverlay::CurveOverlay(QWidget* parent) : QWidget(parent)
{
    setAttribute(Qt::WA_NoSystemBackground);
    setMouseTracking(true);
    setFocusPolicy(Qt::NoFocus);
}

void CurveOverlay::paintEvent(QPaintEvent*)
{
    if (!content)
        return;
    QPainter painter(this);
    paintOverlay(painter, content(), size());
}

} // namespace lockstep
