#include "ui/plots/heatmap_view.h"

#include "ui/plots/curve_overlay.h"
#include "ui/plots/heatmap_cells.h"
#include "ui/plots/value_ticker.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

constexpr int kTitleHeight = 24;
constexpr int kAxisHeight = 22;
constexpr double kLabelHeight = 13;
constexpr double kSmallestRow = 4; // lower than this, several ranks share a row
constexpr double kTallestRow = 26;

} // namespace

struct HeatmapView::Impl {
    HeatmapView* q;
    PlotTheme theme = PlotTheme::forApplication();
    QString title, unit;
    std::vector<HeatmapRow> rows;
    std::vector<std::size_t> beyond; // per row, over all steps
    std::vector<CurveMarker> markers;
    double limit = 6;
    double low = 0, high = 1;
    bool ranged = false, hovered = false;
    std::optional<qint64> cursor;
    int current = -1;
    int left = 96, right = 104;
    QImage cells;
    bool stale = true;
    std::optional<QPointF> pressed;
    QPointF dragLast;
    bool moved = false;

    explicit Impl(HeatmapView* view) : q(view) {}

    QRect area() const
    {
        const int top = kTitleHeight + (markers.empty() ? 4 : OverlayContent::kTitleStrip);
        return {
            left, top, std::max(10, q->width() - left - right),
            std::max(10, std::min(q->height() - top - kAxisHeight, int(kTallestRow * double(rows.size()))))};
    }
    int ranksPerBand() const
    {
        return std::max(1, int(std::ceil(double(rows.size()) * kSmallestRow / area().height())));
    }
    int bands() const { return (int(rows.size()) + ranksPerBand() - 1) / std::max(1, ranksPerBand()); }
    QRectF bandRect(int band) const
    {
        const QRect a = area();
        const double height = double(a.height()) / std::max(1, bands());
        return {double(a.left()), a.top() + band * height, double(a.width()), height};
    }
    int rowAt(double y) const
    {
        const QRect a = area();
        if (rows.empty() || y < a.top() || y >= a.bottom() + 1)
            return -1;
        const int band = std::clamp(int((y - a.top()) / (double(a.height()) / bands())), 0, bands() - 1);
        return std::min(int(rows.size()) - 1, band * ranksPerBand());
    }
    double toX(double step) const { return area().left() + (step - low) / (high - low) * area().width(); }
    double toStep(double x) const { return low + (x - area().left()) / area().width() * (high - low); }

    void countBeyond();
    void renderCells(double ratio);
    void paintLegend(QPainter& p) const;
    void paintRowLabels(QPainter& p) const;
    OverlayContent overlayContent() const;
    QString cellText(int row, qint64 step) const;
    std::optional<double> valueAt(int row, qint64 step) const;
    std::optional<qint64> nearestStep(double x) const;
    void userRange(double newLow, double newHigh);
    void userCell(int row, std::optional<qint64> step);
};

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent), impl_(std::make_unique<Impl>(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Ranks by step"));
}

HeatmapView::~HeatmapView() = default;

void HeatmapView::setTheme(const PlotTheme& theme)
{
    impl_->theme = theme;
    impl_->stale = true;
    update();
}

void HeatmapView::setTitle(const QString& title)
{
    impl_->title = title;
    setAccessibleName(title);
    update();
}

void HeatmapView::setRows(std::vector<HeatmapRow> rows)
{
    impl_->rows = std::move(rows);
    impl_->current = std::min(impl_->current, int(impl_->rows.size()) - 1);
    impl_->countBeyond();
    impl_->stale = true;
    if (!impl_->ranged) {
        const auto [first, last] = dataXRange();
        impl_->low = first;
        impl_->high = last;
    }
    setAccessibleDescription(textSummary());
    update();
}

void HeatmapView::setLimit(double limit, const QString& unit)
{
    if (limit > 0 && std::isfinite(limit))
        impl_->limit = limit;
    impl_->unit = unit;
    impl_->countBeyond();
    impl_->stale = true;
    setAccessibleDescription(textSummary());
    update();
}

void HeatmapView::setMarkers(std::vector<CurveMarker> markers)
{
    impl_->markers = std::move(markers);
    impl_->stale = true;
    update();
}

void HeatmapView::setXRange(double lower, double upper)
{
    if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper))
        return;
    impl_->low = lower;
    impl_->high = upper;
    impl_->ranged = true;
    impl_->stale = true;
    update();
}

std::pair<double, double> HeatmapView::xRange() const
{
    return {impl_->low, impl_->high};
}

std::pair<double, double> HeatmapView::dataXRange() const
{
    double first = std::numeric_limits<double>::infinity(), last = -first;
    for (const HeatmapRow& row : impl_->rows) {
        if (!row.data || row.data->empty())
            continue;
        first = std::min(first, double(row.data->firstStep()));
        last = std::max(last, double(row.data->lastStep()));
    }
    if (first > last)
        return {0, 1};
    return {first, last + std::max((last - first) * 0.005, 0.05)}; // as CurveView, so that both line up
}

bool HeatmapView::hasData() const
{
    return std::any_of(impl_->rows.begin(), impl_->rows.end(),
                       [](const HeatmapRow& row) { return row.data && !row.data->empty(); });
}

void HeatmapView::setMargins(int left, int right)
{
    impl_->left = left;
    impl_->right = right;
    impl_->stale = true;
    update();
}

void HeatmapView::setCursorStep(std::optional<qint64> step)
{
    impl_->cursor = step;
    update();
}

std::optional<qint64> HeatmapView::cursorStep() const
{
    return impl_->cursor;
}

void HeatmapView::setCurrentRow(int row)
{
    impl_->current = std::clamp(row, -1, int(impl_->rows.size()) - 1);
    update();
}

int HeatmapView::currentRow() const
{
    return impl_->current;
}

std::int64_t HeatmapView::beyondLimit(int row) const
{
    return row >= 0 && row < int(impl_->beyond.size()) ? std::int64_t(impl_->beyond[std::size_t(row)]) : 0;
}

void HeatmapView::Impl::countBeyond()
{
    beyond.assign(rows.size(), 0);
    for (std::size_t r = 0; r < rows.size(); ++r)
        if (rows[r].data)
            beyond[r] = rows[r].data->countOutside(-limit, limit);
}

QString HeatmapView::textSummary() const
{
    QStringList odd;
    std::int64_t notFinite = 0;
    for (std::size_t r = 0; r < impl_->rows.size(); ++r) {
        if (impl_->beyond[r] > 0)
            odd << tr("%1: %n steps beyond the limit", nullptr, int(impl_->beyond[r]))
                       .arg(impl_->rows[r].label);
        if (impl_->rows[r].data)
            notFinite += impl_->rows[r].data->summary().bad;
    }
    QString text = odd.isEmpty() ? tr("%1 rows, none beyond the limit of %2 %3.")
                                       .arg(impl_->rows.size())
                                       .arg(impl_->limit)
                                       .arg(impl_->unit)
                                 : odd.join(QStringLiteral(", ")) + QLatin1Char('.');
    if (notFinite > 0)
        text += QLatin1Char(' ') + tr("%n values are not finite.", nullptr, int(notFinite));
    return text;
}

QSize HeatmapView::sizeHint() const
{
    return {760, 90 + 22 * int(std::min<std::size_t>(impl_->rows.size(), 32))};
}

QSize HeatmapView::minimumSizeHint() const
{
    return {320, 140};
}

// --- painting -------------------------------------------------------------------------------------------------------

void HeatmapView::Impl::renderCells(double ratio)
{
    const QRect a = area();
    const int width = std::max(1, int(std::lround(a.width() * ratio)));
    const int height = std::max(1, int(std::lround(a.height() * ratio)));
    cells = QImage(width, height, QImage::Format_ARGB32_Premultiplied);
    cells.fill(theme.base);
    const PlotMapping map(low, high, 0, 1, width, height);
    QPainter p(&cells);
    const int perBand = ranksPerBand(), count = bands();
    for (int band = 0; band < count; ++band) {
        std::vector<HeatCell> line(static_cast<std::size_t>(width));
        for (int r = band * perBand; r < std::min(int(rows.size()), (band + 1) * perBand); ++r) {
            if (!rows[std::size_t(r)].data)
                continue;
            const auto own = heatCells(*rows[std::size_t(r)].data, map);
            for (std::size_t c = 0; c < own.size(); ++c)
                line[c].add(own[c]);
        }
        const int top = height * band / count, bottom = height * (band + 1) / count;
        const int gap = bottom - top > 8 * ratio ? int(std::lround(2 * ratio)) : 0;
        const QRect box(0, top, width, std::max(1, bottom - top - gap));
        for (int c = 0; c < width;) {
            const HeatCell& cell = line[std::size_t(c)];
            const int bin = cell.recorded ? heatBin(cell.largest, limit) : -1;
            int end = c + 1;
            while (end < width) {
                const HeatCell& next = line[std::size_t(end)];
                if ((next.recorded ? heatBin(next.largest, limit) : -1) != bin)
                    break;
                ++end;
            }
            const QRect stretch(c, box.top(), end - c, box.height());
            if (bin >= 0)
                p.fillRect(stretch, theme.heat[std::size_t(bin)]);
            else
                p.fillRect(stretch, QBrush(theme.line, Qt::BDiagPattern));
            c = end;
        }
        // Frames and diamonds are as wide as a pointer can find, however narrow the cell is.
        const double line1 = 1.5 * ratio;
        p.setBrush(Qt::NoBrush);
        for (const auto& [first, last] : stretchesBeyond(line, limit, int(std::lround(3 * ratio)))) {
            const double wide = std::max(double(last - first + 1), 4 * ratio);
            const double middle = (first + last + 1) / 2.0;
            p.setPen(QPen(theme.red, line1));
            p.drawRect(QRectF(middle - wide / 2, box.top(), wide, box.height())
                           .adjusted(line1 / 2, line1 / 2, -line1 / 2, -line1 / 2));
        }
        p.setRenderHint(QPainter::Antialiasing);
        p.setPen(Qt::NoPen);
        p.setBrush(theme.ink);
        double lastDiamond = -100;
        const double half = std::min(4 * ratio, box.height() / 2.0);
        for (int c = 0; c < width; ++c) {
            if (!line[std::size_t(c)].bad || c - lastDiamond < 2 * half)
                continue;
            lastDiamond = c;
            const QPointF m(c + 0.5, box.top() + box.height() / 2.0);
            p.drawPolygon(QPolygonF{m - QPointF(0, half), m + QPointF(half, 0), m + QPointF(0, half),
                                    m - QPointF(half, 0)});
        }
        p.setRenderHint(QPainter::Antialiasing, false);
    }
    p.end();
    cells.setDevicePixelRatio(ratio);
    stale = false;
}

void HeatmapView::Impl::paintLegend(QPainter& p) const
{
    p.setFont(PlotTheme::labelFont());
    const QFontMetricsF metrics(p.font());
    double x = q->width() - 8;
    const double y = (kTitleHeight - 12) / 2.0;
    const auto text = [&](const QString& t) {
        const double w = metrics.horizontalAdvance(t);
        x -= w;
        p.setPen(theme.ink2);
        p.drawText(QRectF(x, 0, w + 2, kTitleHeight), Qt::AlignLeft | Qt::AlignVCenter, t);
        x -= 6;
    };
    text(HeatmapView::tr("no record"));
    x -= 16;
    p.fillRect(QRectF(x, y, 16, 11), QBrush(theme.line, Qt::BDiagPattern));
    x -= 14;
    text(HeatmapView::tr("NaN"));
    p.setPen(Qt::NoPen);
    p.setBrush(theme.ink);
    p.drawPolygon(
        QPolygonF{QPointF(x - 5, y + 1), QPointF(x, y + 6), QPointF(x - 5, y + 11), QPointF(x - 10, y + 6)});
    p.setBrush(Qt::NoBrush);
    x -= 24;
    text(HeatmapView::tr("beyond limit %1").arg(limit));
    x -= 18;
    p.fillRect(QRectF(x, y, 17, 11), theme.heat[6]);
    p.setPen(QPen(theme.red, 1.5));
    p.drawRect(QRectF(x, y, 17, 11));
    x -= 14;
    text(unit.isEmpty() ? QString::number(limit) : QStringLiteral("%1 %2").arg(limit).arg(unit));
    for (int bin = 5; bin >= 0; --bin) {
        x -= 16;
        p.fillRect(QRectF(x, y, 15, 11), theme.heat[std::size_t(bin)]);
    }
    x -= 5;
    text(QStringLiteral("0"));
    if (!title.isEmpty()) {
        p.setFont(PlotTheme::titleFont());
        p.setPen(theme.ink);
        p.drawText(QRectF(8, 0, std::max(0.0, x - 12), kTitleHeight), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(p.font()).elidedText(title, Qt::ElideMiddle, std::max(0.0, x - 12)));
    }
}

void HeatmapView::Impl::paintRowLabels(QPainter& p) const
{
    const QRect a = area();
    const int perBand = ranksPerBand(), count = bands();
    const double height = double(a.height()) / std::max(1, count);
    const int every = std::max(1, int(std::ceil(kLabelHeight / height)));
    std::size_t most = 1;
    for (const std::size_t n : beyond)
        most = std::max(most, n);
    const auto beyondIn = [&](int band) {
        std::size_t n = 0;
        for (int r = band * perBand; r < std::min(int(rows.size()), (band + 1) * perBand); ++r)
            n += beyond[std::size_t(r)];
        return n;
    };
    // Odd rows have the first choice of the room, the worst of them before the others.
    std::vector<std::pair<int, bool>> labelled;
    std::vector<int> oddBands;
    for (int band = 0; band < count; ++band)
        if (beyondIn(band) > 0)
            oddBands.push_back(band);
    std::stable_sort(oddBands.begin(), oddBands.end(),
                     [&](int x, int y) { return beyondIn(x) > beyondIn(y); });
    const auto hasRoom = [&](int band) {
        return std::none_of(labelled.begin(), labelled.end(), [&](const auto& other) {
            return std::fabs((other.first - band) * height) < kLabelHeight - 0.5;
        });
    };
    for (const int band : oddBands)
        if (hasRoom(band))
            labelled.emplace_back(band, true);
    for (int band = 0; band < count; band += every) {
        if (hasRoom(band))
            labelled.emplace_back(band, false);
    }
    QString group;
    for (int band = 0; band < count; ++band) {
        const HeatmapRow& row = rows[std::size_t(band * perBand)];
        if (row.group == group)
            continue;
        group = row.group;
        const double y = a.top() + band * height;
        int end = band + 1;
        while (end < count && rows[std::size_t(end * perBand)].group == group)
            ++end;
        if ((end - band) * height < 2 * kLabelHeight) // groups too narrow to be told apart here
            continue;
        const double room = std::max(height, kLabelHeight);
        if (height >= kLabelHeight) { // else the names of the rows need the place
            p.setFont(PlotTheme::labelFont());
            p.setPen(theme.ink3);
            p.drawText(QRectF(6, y, left - 12, room), Qt::AlignLeft | Qt::AlignVCenter, group);
        }
        if (band > 0) {
            p.setPen(QPen(theme.line, 1));
            p.drawLine(QPointF(6, std::round(y) - 0.5), QPointF(q->width() - 8, std::round(y) - 0.5));
        }
    }
    for (const auto& [band, odd] : labelled) {
        const int first = band * perBand, last = std::min(int(rows.size()), (band + 1) * perBand) - 1;
        std::size_t n = 0;
        int oddRow = first;
        for (int r = last; r >= first; --r) {
            n += beyond[std::size_t(r)];
            oddRow = beyond[std::size_t(r)] > 0 ? r : oddRow;
        }
        const QRectF line(0, a.top() + (band + 0.5) * height - 10, left - 8, 20);
        const HeatmapRow& row = rows[std::size_t(odd ? oddRow : first)];
        const QString label = last > first && !odd ? row.label + QStringLiteral(" ...") : row.label;
        p.setFont(odd ? PlotTheme::titleFont() : PlotTheme::labelFont());
        p.setPen(odd ? theme.red : theme.ink);
        p.drawText(line, Qt::AlignRight | Qt::AlignVCenter, label);
        if (odd) {
            const double x = line.right() - QFontMetricsF(p.font()).horizontalAdvance(label) - 13;
            paintDivergenceIcon(p, theme, {x, line.center().y()}, theme.base);
        }
        const QRectF number(a.right() + 8, line.top(), 34, 20);
        p.setFont(odd ? PlotTheme::titleFont() : PlotTheme::labelFont());
        p.setPen(odd ? theme.red : theme.ink2);
        p.drawText(number, Qt::AlignRight | Qt::AlignVCenter, QString::number(n));
        if (n > 0)
            p.fillRect(QRectF(number.right() + 6, line.center().y() - 3,
                              std::max(2.0, (q->width() - number.right() - 14) * double(n) / double(most)),
                              6),
                       theme.red);
    }
    p.setFont(PlotTheme::labelFont());
    p.setPen(theme.ink3);
    p.drawText(QRectF(a.right() + 8, a.top() - 18, right - 10, 16), Qt::AlignLeft | Qt::AlignVCenter,
               HeatmapView::tr("beyond limit"));
}

OverlayContent HeatmapView::Impl::overlayContent() const
{
    OverlayContent c;
    c.theme = theme;
    c.area = area();
    c.focused = q->hasFocus();
    if (!q->hasData())
        c.emptyText = HeatmapView::tr("No values yet.");
    for (const CurveMarker& marker : markers)
        c.markers.push_back({toX(double(marker.step)), marker.text, marker.kind});
    if (cursor && double(*cursor) >= low && double(*cursor) <= high) {
        c.cursorX = toX(double(*cursor));
        if ((hovered || c.focused) && current >= 0) {
            c.readoutHead = HeatmapView::tr("step %1").arg(*cursor);
            const auto value = valueAt(current, *cursor);
            const bool odd = value && std::fabs(*value) > limit;
            c.rows.push_back({rows[std::size_t(current)].label,
                              value ? QString::number(*value, 'g', 6) +
                                          (unit.isEmpty() ? QString() : QLatin1Char(' ') + unit)
                                    : HeatmapView::tr("no record"),
                              odd ? theme.red : theme.ranks[2], CurveStyle::Mean, odd});
        }
    }
    return c;
}

void HeatmapView::paintEvent(QPaintEvent*)
{
    Impl& d = *impl_;
    const double ratio = devicePixelRatioF();
    const QRect a = d.area();
    if (d.stale || d.cells.size() != (QSizeF(a.size()) * ratio).toSize() ||
        d.cells.devicePixelRatio() != ratio)
        d.renderCells(ratio);
    QPainter p(this);
    p.fillRect(rect(), d.theme.base);
    p.setRenderHint(QPainter::Antialiasing);
    d.paintLegend(p);
    if (!d.rows.empty()) {
        p.drawImage(a.topLeft(), d.cells);
        d.paintRowLabels(p);
    }
    const ValueTicks ticks = stepTicks(d.low, d.high, std::max(2, a.width() / 70));
    p.setFont(PlotTheme::labelFont());
    for (int i = 0; i < ticks.major.size(); ++i) {
        const double x = d.toX(ticks.major[i]);
        p.setPen(QPen(d.theme.ink3, 1));
        p.drawLine(QPointF(x, a.bottom() + 1), QPointF(x, a.bottom() + 4));
        p.setPen(d.theme.ink2);
        p.drawText(QRectF(x - 40, a.bottom() + 5, 80, 15), Qt::AlignHCenter | Qt::AlignTop, ticks.labels[i]);
    }
    p.setPen(d.theme.ink2);
    p.drawText(QRectF(0, a.bottom() + 5, d.left - 24, 15), Qt::AlignRight | Qt::AlignTop, tr("step"));
    if (d.current >= 0 && d.cursor) {
        const QRectF band = d.bandRect(d.current / d.ranksPerBand());
        const double x = d.toX(double(*d.cursor)), half = std::max(3.0, a.width() / (d.high - d.low) / 2);
        const QRectF cell = QRectF(x - half, band.top(), 2 * half, band.height() - 1).intersected(QRectF(a));
        if (!cell.isEmpty()) {
            p.setPen(QPen(d.theme.base, 3.5));
            p.drawRect(cell);
            p.setPen(QPen(d.theme.ink, 1.5));
            p.drawRect(cell);
        }
    }
    paintOverlay(p, d.overlayContent(), size());
}

// --- input ----------------------------------------------------------------------------------------------------------

std::optional<double> HeatmapView::Impl::valueAt(int row, qint64 step) const
{
    if (row < 0 || row >= int(rows.size()) || !rows[std::size_t(row)].data)
        return std::nullopt;
    const SeriesSnapshot& data = *rows[std::size_t(row)].data;
    const std::size_t i = data.indexOf(step);
    return i < data.size() ? std::optional(data.value(i)) : std::nullopt;
}

QString HeatmapView::Impl::cellText(int row, qint64 step) const
{
    const auto value = valueAt(row, step);
    const QString label = row >= 0 ? rows[std::size_t(row)].label : QString();
    return value ? HeatmapView::tr("%1, step %2: %3 %4, limit %5")
                       .arg(label)
                       .arg(step)
                       .arg(*value)
                       .arg(unit)
                       .arg(limit)
                 : HeatmapView::tr("%1, step %2: no record").arg(label).arg(step);
}

std::optional<qint64> HeatmapView::Impl::nearestStep(double x) const
{
    std::optional<qint64> best;
    for (const HeatmapRow& row : rows) {
        if (!row.data || row.data->empty())
            continue;
        const qint64 step = row.data->step(row.data->nearest(x));
        if (!best || std::fabs(double(step) - x) < std::fabs(double(*best) - x))
            best = step;
    }
    return best;
}

void HeatmapView::Impl::userRange(double newLow, double newHigh)
{
    if (!std::isfinite(newLow) || !std::isfinite(newHigh) || newHigh - newLow < 1e-3)
        return;
    q->setXRange(newLow, newHigh);
    Q_EMIT q->xRangeChanged(low, high);
}

void HeatmapView::Impl::userCell(int row, std::optional<qint64> step)
{
    if (row != current) {
        current = row;
        Q_EMIT q->currentRowChanged(row);
    }
    if (step != cursor) {
        cursor = step;
        Q_EMIT q->cursorStepChanged(step);
    }
    Q_EMIT q->hoverTextChanged(step && row >= 0 ? cellText(row, *step) : QString());
    q->update();
}

void HeatmapView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    impl_->pressed = impl_->dragLast = event->position();
    impl_->moved = false;
}

void HeatmapView::mouseMoveEvent(QMouseEvent* event)
{
    Impl& d = *impl_;
    const QPointF at = event->position();
    if (!d.pressed) {
        const int row = d.rowAt(at.y());
        const QRect a = d.area();
        d.hovered = row >= 0 && at.x() >= a.left() && at.x() <= a.right() + 1;
        if (d.hovered) {
            // A pixel may stand for several steps: the one that gave it its colour is shown, not the nearest.
            const double from = d.toStep(std::floor(at.x())), to = d.toStep(std::floor(at.x()) + 1);
            std::optional<qint64> step = d.nearestStep((from + to) / 2);
            int best = row;
            double largest = -1;
            for (int r = row; r < std::min(int(d.rows.size()), row + d.ranksPerBand()); ++r) {
                const auto& data = d.rows[std::size_t(r)].data;
                if (!data || data->empty())
                    continue;
                for (std::size_t i = data->lowerBound(from), end = std::min(data->lowerBound(to), i + 100000);
                     i < end; ++i) {
                    const double size = std::isfinite(data->value(i)) ? std::fabs(data->value(i)) : INFINITY;
                    if (size > largest) {
                        largest = size;
                        step = data->step(i);
                        best = r;
                    }
                }
            }
            d.userCell(best, step);
        } else {
            d.userCell(d.current, std::nullopt);
        }
        return;
    }
    d.moved = d.moved || (at - *d.pressed).manhattanLength() >= 4;
    if (d.moved) {
        const double by = d.toStep(d.dragLast.x()) - d.toStep(at.x());
        d.userRange(d.low + by, d.high + by);
        d.dragLast = at;
    }
}

void HeatmapView::mouseReleaseEvent(QMouseEvent*)
{
    Impl& d = *impl_;
    if (d.pressed && !d.moved && d.current >= 0 && d.cursor)
        Q_EMIT cellActivated(d.current, *d.cursor);
    d.pressed.reset();
}

void HeatmapView::mouseDoubleClickEvent(QMouseEvent*)
{
    const auto [first, last] = dataXRange();
    impl_->userRange(first, last);
}

void HeatmapView::wheelEvent(QWheelEvent* event)
{
    Impl& d = *impl_;
    const auto [first, last] = dataXRange();
    double factor = std::pow(1.25, -event->angleDelta().y() / 120.0);
    factor = std::min(factor, std::max(1.0, 3 * (last - first) / (d.high - d.low)));
    const double centre = d.toStep(event->position().x());
    d.userRange(centre - (centre - d.low) * factor, centre + (d.high - centre) * factor);
}

void HeatmapView::leaveEvent(QEvent*)
{
    impl_->hovered = false;
    if (!hasFocus())
        impl_->userCell(impl_->current, std::nullopt);
}

void HeatmapView::keyPressEvent(QKeyEvent* event)
{
    Impl& d = *impl_;
    const qint64 by = event->modifiers() & Qt::ShiftModifier ? 10 : 1;
    const auto [first, last] = dataXRange();
    const int rows = int(d.rows.size());
    const auto step = d.cursor ? d.cursor : d.nearestStep((d.low + d.high) / 2);
    const int row = std::max(0, d.current);
    if (rows == 0 || !step || event->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Left:
        d.userCell(row, d.nearestStep(double(*step - by)));
        return;
    case Qt::Key_Right:
        d.userCell(row, d.nearestStep(double(*step + by)));
        return;
    case Qt::Key_Up:
        d.userCell(std::max(0, row - 1), step);
        return;
    case Qt::Key_Down:
        d.userCell(std::min(rows - 1, d.current + 1), step);
        return;
    case Qt::Key_Home: {
        int found = -1;
        std::optional<qint64> earliest;
        for (int r = 0; r < rows; ++r) {
            const auto& data = d.rows[std::size_t(r)].data;
            if (d.beyond[std::size_t(r)] == 0)
                continue;
            const qint64 at = data->step(data->firstOutside(-d.limit, d.limit));
            if (!earliest || at < *earliest) {
                earliest = at;
                found = r;
            }
        }
        if (!earliest)
            return;
        d.userCell(found, earliest);
        if (double(*earliest) < d.low || double(*earliest) > d.high) {
            const double half = (d.high - d.low) / 2;
            d.userRange(double(*earliest) - half, double(*earliest) + half);
        }
        return;
    }
    case Qt::Key_F:
        d.userRange(first, last);
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_Minus: {
        const double factor = event->key() == Qt::Key_Minus ? 1.6 : 1 / 1.6;
        const double centre = double(*step);
        d.userRange(centre - (centre - d.low) * factor, centre + (d.high - centre) * factor);
        return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
        Q_EMIT cellActivated(row, *step);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

void HeatmapView::focusInEvent(QFocusEvent* event)
{
    update();
    QWidget::focusInEvent(event);
}

void HeatmapView::focusOutEvent(QFocusEvent* event)
{
    update();
    QWidget::focusOutEvent(event);
}

} // namespace lockstep
