#include "ui/plots/curve_view_p.h"

#include "ui/plots/series_math.h"

#include <QThreadPool>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lockstep {

namespace {

RasterPen penOf(CurveStyle style, QColor color)
{
    RasterPen pen;
    switch (style) {
    case CurveStyle::Single:
        pen.width = 3;
        break;
    case CurveStyle::Mean:
        pen.width = 1.8;
        break;
    case CurveStyle::Rank:
        pen.width = 1;
        color.setAlphaF(color.alphaF() * 0.55f);
        break;
    case CurveStyle::Twin:
        pen.width = 1.2;
        pen.dashOn = 5;
        pen.dashOff = 4;
        break;
    case CurveStyle::Thin:
        pen.width = 1.2;
        break;
    }
    pen.color = color.rgba();
    return pen;
}

bool hasValues(const SeriesSnapshot::Ptr& data)
{
    return data && !data->empty();
}

// The shortest decimal that reads back to the same double.
QString exactText(double value, bool withSign)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("+Infinity") : QStringLiteral("-Infinity");
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    const QString text = QString::fromLatin1(buffer, int(end - buffer));
    return withSign && value > 0 ? QLatin1Char('+') + text : text;
}

} // namespace

CurveView::Impl::Impl(CurveView* view) : q(view)
{
    plot = new QCustomPlot(view);
    plot->setAttribute(Qt::WA_TransparentForMouseEvents);
    plot->setFocusPolicy(Qt::NoFocus);
    plot->setInteractions({});
    plot->setNoAntialiasingOnDrag(false);
    plot->axisRect()->setAutoMargins(QCP::msNone);
    plot->axisRect()->setupFullAxesBox(false);
    plot->xAxis2->setVisible(false);
    plot->yAxis2->setVisible(false);
    layer = new CurveLayer(plot->xAxis, plot->yAxis);
    xTicker.reset(new ValueTicker(ValueTicker::Kind::Step));
    yTicker.reset(new ValueTicker(ValueTicker::Kind::Value));
    plot->xAxis->setTicker(xTicker);
    plot->yAxis->setTicker(yTicker);
    plot->xAxis->setSubTicks(false);
    overlay = new CurveOverlay(view);
    overlay->content = [this] { return overlayContent(); };
    overlay->installEventFilter(view);
    QObject::connect(plot, &QCustomPlot::afterReplot, overlay, qOverload<>(&QWidget::update));
}

CurveView::CurveView(QWidget* parent) : QWidget(parent), impl_(std::make_unique<Impl>(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    impl_->applyTheme();
    impl_->applyMargins();
    impl_->refresh();
}

CurveView::~CurveView() = default;

// --- look
// -----------------------------------------------------------------------------------------------------------

void CurveView::Impl::applyTheme()
{
    plot->setBackground(QBrush(theme.base));
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        axis->setBasePen(QPen(theme.ink3, 1));
        axis->setTickPen(QPen(theme.ink3, 1));
        axis->setSubTickPen(QPen(theme.line, 1));
        axis->setTickLength(0, 4);
        axis->setSubTickLength(0, 2);
        axis->setTickLabelColor(theme.ink2);
        axis->setTickLabelFont(PlotTheme::labelFont());
        axis->setTickLabelPadding(4);
        axis->grid()->setPen(QPen(theme.line2, 1));
        axis->grid()->setZeroLinePen(Qt::NoPen);
        axis->grid()->setAntialiased(false);
        axis->setAntialiased(false);
    }
    layer->scene.nonFinite = theme.red.rgba();
    layer->scene.nonPositive = theme.ink3.rgba();
}

void CurveView::Impl::applyMargins()
{
    const bool strip = !title.isEmpty() || !markers.empty();
    plot->axisRect()->setMargins(QMargins(leftMargin, strip ? OverlayContent::kTitleStrip + 2 : 6,
                                          rightMargin, xAxisVisible ? 24 : 8));
}

void CurveView::setTitle(const QString& title)
{
    impl_->title = title;
    setAccessibleName(title);
    impl_->applyMargins();
    impl_->refresh();
}

QString CurveView::title() const
{
    return impl_->title;
}

void CurveView::setTheme(const PlotTheme& theme)
{
    impl_->theme = theme;
    impl_->applyTheme();
    impl_->refresh();
}

void CurveView::setEmptyText(const QString& text)
{
    impl_->emptyText = text;
    impl_->overlay->update();
}

void CurveView::setMargins(int left, int right)
{
    impl_->leftMargin = left;
    impl_->rightMargin = right;
    impl_->applyMargins();
    impl_->refresh();
}

void CurveView::setXAxisVisible(bool visible)
{
    impl_->xAxisVisible = visible;
    impl_->applyMargins();
    impl_->refresh();
}

void CurveView::setXAxisCaption(const QString& caption)
{
    impl_->xCaption = caption;
    impl_->overlay->update();
}

void CurveView::setInteractive(bool interactive)
{
    impl_->interactive = interactive;
    setFocusPolicy(interactive ? Qt::StrongFocus : Qt::NoFocus);
}

QSize CurveView::sizeHint() const
{
    return {640, 220};
}

QSize CurveView::minimumSizeHint() const
{
    return {200, 110};
}

void CurveView::resizeEvent(QResizeEvent*)
{
    impl_->plot->setGeometry(rect());
    impl_->overlay->setGeometry(rect());
    impl_->overlay->raise();
    impl_->refresh();
}

void CurveView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange || event->type() == QEvent::ApplicationFontChange) {
        impl_->applyTheme();
        impl_->refresh();
    }
    QWidget::changeEvent(event);
}

// --- data
// -----------------------------------------------------------------------------------------------------------

void CurveView::setSeries(std::vector<CurveSeries> series)
{
    impl_->series = std::move(series);
    impl_->startSmoothing();
    impl_->rebuildScene();
    if (!impl_->ranged || impl_->following) {
        const auto [first, last] = dataXRange();
        const double width = impl_->high - impl_->low;
        if (!impl_->ranged || impl_->followAll)
            setXRange(first, last);
        else
            setXRange(last - width, last);
        impl_->ranged = impl_->ranged && impl_->following;
    }
    setAccessibleDescription(textSummary());
    impl_->refresh();
}

const std::vector<CurveSeries>& CurveView::series() const
{
    return impl_->series;
}

void CurveView::setBands(std::vector<CurveBand> bands)
{
    impl_->bands = std::move(bands);
    impl_->rebuildScene();
    impl_->refresh();
}

void CurveView::setMarkers(std::vector<CurveMarker> markers)
{
    impl_->markers = std::move(markers);
    impl_->applyMargins();
    impl_->refresh();
}

void CurveView::setNotes(std::vector<CurveNote> notes)
{
    impl_->notes = std::move(notes);
    impl_->overlay->update();
}

void CurveView::Impl::rebuildScene()
{
    RasterScene& scene = layer->scene;
    scene.bands.clear();
    scene.curves.clear();
    for (const CurveBand& band : bands) {
        if (!hasValues(band.lower) || !hasValues(band.upper))
            continue;
        RasterPen edge;
        edge.color = band.edge.isValid() ? band.edge.rgba() : 0;
        scene.bands.push_back({band.lower, band.upper, band.fill.rgba(), edge});
    }
    for (const CurveSeries& one : series) {
        if (!hasValues(one.data))
            continue;
        const auto smooth = smoothing > 0 ? smoothedOf.find(one.data.get()) : smoothedOf.end();
        if (smooth == smoothedOf.end()) {
            scene.curves.push_back({one.data, penOf(one.style, one.color)});
            continue;
        }
        QColor faint = one.color;
        faint.setAlphaF(faint.alphaF() * 0.25f);
        scene.curves.push_back({one.data, penOf(CurveStyle::Thin, faint)});
        scene.curves.push_back({smooth->second, penOf(one.style, one.color)});
    }
    layer->transform = transform;
}

void CurveView::setSmoothing(double weight)
{
    impl_->smoothing = std::clamp(weight, 0.0, 0.999999);
    impl_->smoothedOf.clear();
    impl_->startSmoothing();
    impl_->rebuildScene();
    impl_->refresh();
}

double CurveView::smoothing() const
{
    return impl_->smoothing;
}

void CurveView::Impl::startSmoothing()
{
    ++smoothingGeneration;
    std::map<const SeriesSnapshot*, SeriesSnapshot::Ptr> kept;
    for (const CurveSeries& one : series) {
        if (smoothing <= 0 || !hasValues(one.data))
            continue;
        const auto known = smoothedOf.find(one.data.get());
        if (known != smoothedOf.end()) {
            kept.insert(*known);
            continue;
        }
        // The job owns the snapshot; `alive` is looked at on the GUI thread only, so a closed view is never
        // touched.
        QThreadPool::globalInstance()->start([this, data = one.data, weight = smoothing,
                                              generation = smoothingGeneration,
                                              guard = std::weak_ptr<int>(alive)] {
            SeriesSnapshot::Ptr result = smoothed(*data, weight);
            QMetaObject::invokeMethod(
                qApp,
                [this, data, result, generation, guard] {
                    if (guard.expired() || generation != smoothingGeneration)
                        return;
                    smoothedOf[data.get()] = result;
                    rebuildScene();
                    refresh();
                },
                Qt::QueuedConnection);
        });
    }
    smoothedOf = std::move(kept);
}

// --- ranges
// ---------------------------------------------------------------------------------------------------------

void CurveView::setYScale(YScale scale, double symlogThreshold)
{
    impl_->transform.scale = scale;
    if (symlogThreshold > 0 && std::isfinite(symlogThreshold))
        impl_->transform.threshold = symlogThreshold;
    impl_->rebuildScene();
    impl_->refresh();
}

YScale CurveView::yScale() const
{
    return impl_->transform.scale;
}

void CurveView::setYRange(std::optional<std::pair<double, double>> range)
{
    impl_->fixedY = range && range->first < range->second ? range : std::nullopt;
    impl_->refresh();
}

std::pair<double, double> CurveView::yRange() const
{
    const QCPRange range = impl_->plot->yAxis->range();
    return {impl_->transform.backward(range.lower), impl_->transform.backward(range.upper)};
}

void CurveView::setXRange(double lower, double upper)
{
    if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper))
        return;
    impl_->low = lower;
    impl_->high = upper;
    impl_->ranged = true;
    impl_->refresh();
}

std::pair<double, double> CurveView::xRange() const
{
    return {impl_->low, impl_->high};
}

std::pair<double, double> CurveView::dataXRange() const
{
    double first = std::numeric_limits<double>::infinity(), last = -first;
    for (const CurveSeries& one : impl_->series) {
        if (!hasValues(one.data))
            continue;
        first = std::min(first, double(one.data->firstStep()));
        last = std::max(last, double(one.data->lastStep()));
    }
    if (first > last)
        return {0, 1};
    // The last step gets a little room: its value, or its NaN, stands inside the plot and not on the border.
    return {first, last + std::max((last - first) * 0.005, 0.05)};
}

void CurveView::fit()
{
    const auto [first, last] = dataXRange();
    impl_->followAll = true;
    impl_->fixedY.reset();
    setXRange(first, last);
}

void CurveView::setFollowing(bool following)
{
    impl_->following = following;
    const auto [first, last] = dataXRange();
    impl_->followAll = impl_->low <= first;
    if (following && !impl_->series.empty())
        impl_->followAll ? setXRange(first, last) : setXRange(last - (impl_->high - impl_->low), last);
}

bool CurveView::following() const
{
    return impl_->following;
}

// y limits of what is visible, in coordinates of the transform.
std::pair<double, double> CurveView::Impl::visibleY() const
{
    SeriesNode node;
    double positive = std::numeric_limits<double>::infinity();
    const bool log = transform.scale == YScale::Log;
    const auto look = [&](const SeriesSnapshot::Ptr& data) {
        if (!hasValues(data))
            return;
        const std::size_t begin = data->lowerBound(low);
        const std::size_t end =
            data->lowerBound(std::nextafter(high, std::numeric_limits<double>::infinity()));
        const std::size_t from = begin < end ? begin : begin > 0 ? begin - 1 : 0;
        const std::size_t to = begin < end ? end : std::min(data->size(), end + 1);
        node.add(data->query(from, to));
        if (log)
            positive = std::min(positive, data->smallestPositive(from, to));
    };
    for (const CurveSeries& one : series)
        look(one.data);
    for (const CurveBand& band : bands) {
        look(band.lower);
        look(band.upper);
    }
    if (log)
        node.lo = positive;
    if (node.empty() || !std::isfinite(node.lo))
        return log ? std::pair{-1.0, 1.0} : std::pair{0.0, 1.0};
    double from = transform.forward(node.lo), to = transform.forward(node.hi);
    if (transform.scale == YScale::Symlog) { // zero always shows
        from = std::min(from, -1.0);
        to = std::max(to, 1.0);
    }
    const double size = std::max(std::fabs(from), std::fabs(to));
    const double smallest = std::max(size * 1e-12, 1e-300);
    const double room = to - from > smallest ? (to - from) * 0.06 : std::max(size * 0.1, 0.5 * smallest);
    from -= room;
    to += room;
    if (!std::isfinite(to - from)) // values near the largest double
        return {std::max(from, -1e308), std::min(to, 0.7e308)};
    if (!(from < to))
        return {from - 1, to + 1};
    return {from, to};
}

void CurveView::Impl::refresh()
{
    const auto [lowY, highY] =
        fixedY ? std::pair{transform.forward(fixedY->first), transform.forward(fixedY->second)} : visibleY();
    plot->xAxis->setRange(low, high);
    plot->yAxis->setRange(lowY, std::isfinite(lowY) ? highY : lowY + 1);
    const int width = q->width() - leftMargin - rightMargin, height = q->height() - 30;
    xTicker->target = std::max(2, width / 64);
    yTicker->target = std::clamp(height / (transform.scale == YScale::Symlog ? 18 : 38), 2, 9);
    yTicker->transform = transform;
    // On a log axis coordinate 0 is the value 1, which is nothing special.
    plot->yAxis->grid()->setZeroLinePen(transform.scale == YScale::Log ? QPen(Qt::NoPen)
                                                                       : QPen(theme.line, 1));
    const bool any = !layer->scene.curves.empty() || !layer->scene.bands.empty();
    plot->yAxis->setTickLabels(any);
    plot->xAxis->setTickLabels(any && xAxisVisible);
    plot->replot(QCustomPlot::rpQueuedReplot);
}

QRect CurveView::plotArea() const
{
    return impl_->plot->axisRect()->rect();
}

PlotMapping CurveView::mapping() const
{
    return impl_->layer->mapping(devicePixelRatioF());
}

double CurveView::Impl::stepToX(double step) const
{
    return plot->xAxis->coordToPixel(step);
}

double CurveView::Impl::xToStep(double x) const
{
    return plot->xAxis->pixelToCoord(x);
}

double CurveView::Impl::valueToY(double value) const
{
    return plot->yAxis->coordToPixel(std::clamp(transform.forward(value), -1e300, 1e300));
}

// --- read-out
// -------------------------------------------------------------------------------------------------------

void CurveView::setCursorStep(std::optional<qint64> step)
{
    impl_->cursor = step;
    impl_->overlay->update();
}

std::optional<qint64> CurveView::cursorStep() const
{
    return impl_->cursor;
}

void CurveView::setPinned(bool pinned)
{
    impl_->pinned = pinned;
    impl_->overlay->update();
}

std::vector<ReadoutRow> CurveView::readout(qint64 step) const
{
    std::vector<ReadoutRow> rows;
    for (const CurveSeries& one : impl_->series) {
        ReadoutRow row{one.label, one.color, false, 0, tr("no record")};
        if (hasValues(one.data)) {
            const std::size_t i = one.data->indexOf(step);
            if (i < one.data->size()) {
                row.present = true;
                row.value = one.data->value(i);
                row.text = exactText(row.value, one.signedValue);
            }
        }
        rows.push_back(row);
    }
    return rows;
}

QString CurveView::readoutText(qint64 step) const
{
    QStringList parts;
    for (const ReadoutRow& row : readout(step))
        if (row.present)
            parts << row.label + QLatin1Char(' ') + row.text;
    return parts.isEmpty() ? tr("step %1: no record").arg(step)
                           : tr("step %1: %2").arg(step).arg(parts.join(QStringLiteral(", ")));
}

QString CurveView::textSummary() const
{
    QStringList lines;
    for (const CurveSeries& one : impl_->series) {
        if (!hasValues(one.data)) {
            lines << tr("%1: no values.").arg(one.label);
            continue;
        }
        const SeriesNode node = one.data->summary();
        QString line = tr("%1: steps %2 to %3, last value %4")
                           .arg(one.label)
                           .arg(one.data->firstStep())
                           .arg(one.data->lastStep())
                           .arg(exactText(one.data->value(one.data->size() - 1), one.signedValue));
        if (!node.empty())
            line += tr(", lowest %1, highest %2").arg(exactText(node.lo, false), exactText(node.hi, false));
        if (node.bad > 0)
            line += tr(", %n not finite", nullptr, int(node.bad));
        lines << line + QLatin1Char('.');
    }
    return lines.isEmpty() ? tr("No values yet.") : lines.join(QLatin1Char(' '));
}

OverlayContent CurveView::Impl::overlayContent() const
{
    OverlayContent c;
    c.theme = theme;
    c.area = plot->axisRect()->rect();
    c.title = title;
    c.caption = xAxisVisible ? xCaption : QString();
    c.focused = q->hasFocus();
    const bool anyValues =
        std::any_of(series.begin(), series.end(), [](const CurveSeries& s) { return hasValues(s.data); });
    if (!anyValues)
        c.emptyText = emptyText;
    const auto lastVisible = [this](const SeriesSnapshot& data) -> std::optional<double> {
        std::size_t i = data.lowerBound(std::nextafter(high, std::numeric_limits<double>::infinity()));
        for (int tries = 0; i > 0 && tries < 64; ++tries)
            if (std::isfinite(data.value(--i)))
                return data.value(i);
        return std::nullopt;
    };
    const auto addLabel = [&](const QString& text, const SeriesSnapshot::Ptr& data, const QColor& color,
                              bool bold) {
        if (text.isEmpty() || !hasValues(data))
            return;
        if (const auto value = lastVisible(*data))
            c.endLabels.push_back({text, color, valueToY(*value), bold});
    };
    for (const CurveBand& band : bands)
        addLabel(band.endLabel, band.upper, theme.ink3, false);
    for (const CurveSeries& one : series)
        addLabel(one.endLabel, one.data, one.color, one.bold);
    for (const CurveMarker& marker : markers)
        c.markers.push_back({stepToX(double(marker.step)), marker.text, marker.kind});
    for (const CurveNote& note : notes)
        c.notes.push_back({{stepToX(double(note.step)), valueToY(note.value)}, note.text, note.color});
    if (selection)
        c.selection = std::pair{stepToX(selection->first), stepToX(selection->second)};
    if (cursor && double(*cursor) >= low && double(*cursor) <= high) {
        c.cursorX = stepToX(double(*cursor));
        const auto rows = q->readout(*cursor);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].present && std::isfinite(rows[i].value) && series[i].style != CurveStyle::Rank)
                c.dots.push_back({{*c.cursorX, valueToY(rows[i].value)}, rows[i].color});
            if (hovered || pinned || q->hasFocus())
                c.rows.push_back(
                    {rows[i].label, rows[i].text, rows[i].color, series[i].style, series[i].bold});
        }
        if (!c.rows.empty())
            c.readoutHead = pinned ? CurveView::tr("step %1, pinned").arg(*cursor)
                                   : CurveView::tr("step %1").arg(*cursor);
    }
    return c;
}

} // namespace lockstep
