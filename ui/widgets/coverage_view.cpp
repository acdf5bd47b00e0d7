#include "ui/widgets/coverage_view.h"

#include "ui/models/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QWheelEvent>

#include <algorithm>
#include <array>
#include <cmath>

namespace lockstep {

namespace {

constexpr int kLeft = 96;
constexpr int kRight = 250; // summary and the small square
constexpr int kAxis = 24;
constexpr int kGap = 22; // below a strip: seen line, marks, air
constexpr int kSeen = 5;
constexpr int kSquare = 60;

// Early is dark in the light theme and light in the dark one: emphasis goes away from the page.
const std::array<QColor, 4>& shades()
{
    static const std::array<QColor, 4> light = {QColor("#0A3D62"), QColor("#4B90C8"), QColor("#84B5DE"),
                                                QColor("#D9E7F3")};
    static const std::array<QColor, 4> dark = {QColor("#CFE8FB"), QColor("#7FBFEF"), QColor("#2C659A"),
                                               QColor("#23384B")};
    return theme::current() == ThemeKind::Dark ? dark : light;
}

QRgb shadeOf(double when)
{
    const double place = std::clamp(when, 0.0, 1.0) * 3;
    const int at = std::min(2, int(place));
    const double part = place - at;
    const QColor &a = shades()[std::size_t(at)], &b = shades()[std::size_t(at) + 1];
    return qRgb(int(a.red() + (b.red() - a.red()) * part), int(a.green() + (b.green() - a.green()) * part),
                int(a.blue() + (b.blue() - a.blue()) * part));
}

QImage drawCells(const CoverageEpoch& epoch, int columns)
{
    QImage picture(std::max(1, columns), std::max(1, epoch.rows), QImage::Format_ARGB32_Premultiplied);
    picture.fill(Qt::transparent);
    for (int row = 0; row < epoch.rows; ++row) {
        auto* line = reinterpret_cast<QRgb*>(picture.scanLine(row));
        for (int c = 0; c < columns; ++c) {
            const CoverageCell& cell = epoch.cells[std::size_t(row) * std::size_t(columns) + std::size_t(c)];
            if (cell.id != CoverageCell::kNone)
                line[c] = shadeOf(double(cell.position) / std::max(1u, epoch.longest - 1));
        }
    }
    return picture;
}

// A step of the id axis that gives about `wanted` labels: 1, 2 or 5 times a power of ten.
double niceStep(double span, int wanted)
{
    const double raw = std::max(1.0, span / std::max(1, wanted));
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= raw)
            return factor * power;
    return 10 * power;
}

} // namespace

CoverageView::CoverageView(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Coverage, sample by rank"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
}

int CoverageView::rowsPerEpoch() const
{
    return data_ ? std::clamp(data_->world, 1, CoverageEpoch::kMaxRows) : 4;
}

QSize CoverageView::sizeHint() const
{
    const int epochs = data_ ? std::max<int>(1, int(data_->orders.size())) : 1;
    const int rowHeight = rowsPerEpoch() <= 8 ? 17 : rowsPerEpoch() <= 16 ? 9 : 3;
    const int height = std::clamp(rowsPerEpoch() * rowHeight, 68, 200);
    return {800, epochs * (height + kGap) + kAxis + 8};
}

QSize CoverageView::minimumSizeHint() const
{
    // On small screens the strips get lower, and only what decides is written beside them.
    const int epochs = data_ ? std::max<int>(1, int(data_->orders.size())) : 1;
    return {480, std::min(sizeHint().height(), epochs * (24 + kGap) + kAxis + 8)};
}

void CoverageView::setData(CoverageDataPtr data)
{
    data_ = std::move(data);
    image_ = {};
    pictures_.clear();
    setMaximumHeight(sizeHint().height());
    updateGeometry();
    if (data_ && data_->error.isEmpty())
        setAccessibleDescription(
            tr("%1 samples, %2 ranks, %n epoch(s) shown", nullptr, int(data_->orders.size()))
                .arg(formatCount(data_->datasetSize))
                .arg(data_->world));
    fit();
}

void CoverageView::fit()
{
    setRange(0, data_ ? double(std::max<std::int64_t>(1, data_->datasetSize)) : 1);
}

void CoverageView::setRange(double first, double last)
{
    const double size = data_ ? double(std::max<std::int64_t>(1, data_->datasetSize)) : 1;
    const double span = std::clamp(last - first, std::min(size, 8.0), size);
    range_.first = std::clamp(first, 0.0, size - span);
    range_.last = range_.first + span;
    request();
    update();
    Q_EMIT rangeChanged();
}

void CoverageView::request()
{
    // One column per pixel, but never more columns than ids.
    range_.columns = std::max(1, std::min(plot().width(), int(std::ceil(range_.last - range_.first))));
    if (!data_ || data_->orders.empty() || image_.range == range_)
        return;
    jobs_.start([data = data_, range = range_](const JobToken&) { return aggregateCoverage(*data, range); },
                [this](CoverageImage image) {
                    image_ = std::move(image);
                    pictures_.clear();
                    for (const CoverageEpoch& epoch : image_.epochs)
                        pictures_.push_back(drawCells(epoch, image_.range.columns));
                    update();
                });
}

QRect CoverageView::plot() const
{
    return {kLeft, 4, std::max(10, width() - kLeft - kRight), std::max(10, height() - kAxis - 8)};
}

CoverageView::Strip CoverageView::strip(int epoch) const
{
    const int epochs = std::max<int>(1, data_ ? int(data_->orders.size()) : 1);
    const QRect area = plot();
    const int each = area.height() / epochs;
    Strip strip;
    strip.rows = QRect(area.left(), area.top() + epoch * each, area.width(), std::max(4, each - kGap));
    strip.seen = QRect(area.left(), strip.rows.bottom() + 3, area.width(), kSeen);
    return strip;
}

void CoverageView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (!data_ || data_->orders.empty())
        return;
    for (int epoch = 0; epoch < int(data_->orders.size()); ++epoch) {
        paintStrip(painter, epoch);
        paintMarks(painter, epoch);
        paintSummary(painter, epoch);
    }
    paintAxis(painter);
}

void CoverageView::paintStrip(QPainter& painter, int epoch)
{
    const Tokens& t = theme::tokens();
    const Strip s = strip(epoch);
    painter.setFont(theme::font(12.5, true));
    painter.setPen(t.ink);
    painter.drawText(QRect(0, s.rows.top() - 2, kLeft - 30, 18), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("epoch %1").arg(data_->epochs[std::size_t(epoch)].epoch));
    painter.fillRect(s.rows, t.alt);
    if (std::size_t(epoch) >= pictures_.size())
        return;
    // The picture covers image_.range; what is asked for now may lie elsewhere until the next answer.
    const double scale = s.rows.width() / (range_.last - range_.first);
    const QRectF target(s.rows.left() + (image_.range.first - range_.first) * scale, s.rows.top(),
                        (image_.range.last - image_.range.first) * scale, s.rows.height());
    painter.save();
    painter.setClipRect(s.rows);
    const QImage& picture = pictures_[std::size_t(epoch)];
    painter.drawImage(target, picture);
    const int rows = picture.height();
    if (rows > 1 && s.rows.height() / rows >= 8) {
        painter.setPen(QPen(t.base, 1));
        for (int row = 1; row < rows; ++row) {
            const int y = s.rows.top() + row * s.rows.height() / rows;
            painter.drawLine(s.rows.left(), y, s.rows.right(), y);
        }
    }
    const std::vector<std::uint8_t>& seen = image_.epochs[std::size_t(epoch)].seen;
    painter.setClipRect(s.seen);
    for (std::size_t c = 0; c < seen.size(); ++c) {
        const double width = target.width() / double(seen.size());
        const QRectF cell(target.left() + double(c) * width, s.seen.top(), width + 0.5, s.seen.height());
        painter.fillRect(cell, seen[c] == 2 ? t.line : t.redTint);
        if (seen[c] != 2)
            painter.fillRect(QRectF(cell.left(), cell.center().y(), cell.width(), 1.5), t.red);
    }
    painter.restore();
    painter.setFont(theme::font(11));
    painter.setPen(t.ink2);
    if (data_->world <= 8)
        for (int r = 0; r < rows; ++r)
            painter.drawText(
                QRect(kLeft - 30, s.rows.top() + r * s.rows.height() / rows, 20, s.rows.height() / rows),
                Qt::AlignRight | Qt::AlignVCenter, QString::number(r));
    else
        painter.drawText(QRect(0, s.rows.top() + 16, kLeft - 10, 18), Qt::AlignLeft,
                         tr("%1 ranks").arg(data_->world));
}

void CoverageView::paintMarks(QPainter& painter, int epoch)
{
    const Tokens& t = theme::tokens();
    const Strip s = strip(epoch);
    const double scale = s.rows.width() / (range_.last - range_.first);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(s.rows.adjusted(-6, 0, 6, kGap));
    const auto triangles = [&](const std::vector<std::uint32_t>& ids, const QColor& colour) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(colour);
        for (const std::uint32_t id : ids) {
            if (id < range_.first || id >= range_.last)
                continue;
            const double x = s.rows.left() + (id + 0.5 - range_.first) * scale;
            const double y = s.seen.bottom() + 3;
            painter.drawPolygon(QPolygonF({{x, y}, {x - 4, y + 7}, {x + 4, y + 7}}));
        }
    };
    triangles(data_->padding[std::size_t(epoch)], t.ink);
    triangles(data_->overlaps[std::size_t(epoch)], t.red);
    painter.restore();
}

void CoverageView::paintSummary(QPainter& painter, int epoch)
{
    const Tokens& t = theme::tokens();
    const Strip s = strip(epoch);
    const EpochRow& row = data_->epochs[std::size_t(epoch)];
    const int x = plot().right() + 14;
    const int textWidth = kRight - kSquare - 24;
    painter.setFont(theme::font(12));
    int y = s.rows.top();
    const auto line = [&](const QString& text, const QColor& colour, bool bold = false,
                          State state = State::None) {
        int left = x;
        if (state != State::None) {
            painter.drawPixmap(left, y + 2, stateIcon(state).pixmap(14, 14));
            left += 18;
        }
        painter.setFont(theme::font(12, bold));
        painter.setPen(colour);
        painter.drawText(QRect(left, y, textWidth - (left - x), 18), Qt::AlignLeft | Qt::AlignVCenter, text);
        y += 18;
    };
    const bool complete = row.seen == data_->datasetSize;
    const bool roomy = s.rows.height() + kGap >= 4 * 18;
    if (roomy || !complete)
        line(tr("%1 of %2 seen").arg(formatCount(row.seen), formatCount(data_->datasetSize)),
             complete ? t.ink : t.red, !complete);
    if (roomy || row.overlap > 0)
        line(tr("%1 overlap").arg(formatCount(row.overlap)), row.overlap > 0 ? t.red : t.ink2,
             row.overlap > 0);
    if (roomy)
        line(tr("%1 padding").arg(formatCount(row.padding)), t.ink2);
    if (epoch == 0)
        line(tr("first order"), t.ink2, false, State::Holds);
    else if (row.sameOrder)
        line(tr("same order"), t.red, true, State::Diverged);
    else
        line(data_->plan.shuffle ? tr("changed") : tr("not shuffled"), t.ink2, false, State::Holds);

    const int side = std::min(kSquare, s.rows.height() + kGap - 6);
    const QRect square(width() - side - 6, s.rows.top(), side, side);
    painter.setPen(t.line);
    painter.setBrush(t.base);
    painter.drawRect(square);
    if (epoch == 0) {
        painter.setPen(t.ink3);
        painter.setFont(theme::font(11));
        painter.drawText(square, Qt::AlignCenter | Qt::TextWordWrap, tr("refer-\nence"));
        return;
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(row.sameOrder ? t.red : t.ink2);
    for (const auto& [px, py] : data_->againstFirst[std::size_t(epoch)])
        painter.drawRect(QRectF(square.left() + 2 + px * (square.width() - 4),
                                square.bottom() - 2 - py * (square.height() - 4), 1.5, 1.5));
}

void CoverageView::paintAxis(QPainter& painter)
{
    const Tokens& t = theme::tokens();
    const QRect area = plot();
    const int y = area.bottom() + 4;
    painter.setFont(theme::font(11));
    painter.setPen(t.ink3);
    painter.drawText(QRect(0, y, kLeft - 10, 18), Qt::AlignLeft | Qt::AlignVCenter, tr("sample id"));
    painter.drawText(QRect(area.right() + 14, y, kRight - 20, 18), Qt::AlignRight | Qt::AlignVCenter,
                     tr("order against epoch %1").arg(data_->epochs.front().epoch));
    const double span = range_.last - range_.first;
    const double step = niceStep(span, area.width() / 90);
    for (double id = std::ceil(range_.first / step) * step; id < range_.last; id += step) {
        const int x = area.left() + int((id + 0.5 - range_.first) * area.width() / span);
        painter.drawLine(x, y - 3, x, y);
        painter.drawText(QRect(x - 50, y, 100, 18), Qt::AlignCenter, formatCount(std::int64_t(id)));
    }
}

QString CoverageView::textAt(const QPoint& position) const
{
    if (!data_ || image_.range != range_)
        return {};
    for (int epoch = 0; epoch < int(image_.epochs.size()); ++epoch) {
        const Strip s = strip(epoch);
        if (!s.rows.contains(position))
            continue;
        const CoverageEpoch& e = image_.epochs[std::size_t(epoch)];
        const int column = std::clamp((position.x() - s.rows.left()) * range_.columns / s.rows.width(), 0,
                                      range_.columns - 1);
        const int row = std::clamp((position.y() - s.rows.top()) * e.rows / s.rows.height(), 0, e.rows - 1);
        const CoverageCell& cell =
            e.cells[std::size_t(row) * std::size_t(range_.columns) + std::size_t(column)];
        if (cell.id == CoverageCell::kNone)
            return tr("epoch %1, rank %2 uses none of these samples")
                .arg(data_->epochs[std::size_t(epoch)].epoch)
                .arg(row * e.ranksPerRow);
        const std::int64_t perStep = data_->plan.batch * data_->plan.accumulate;
        return tr("sample %1, epoch %2, rank %3, position %4, step %5")
            .arg(formatCount(cell.id))
            .arg(data_->epochs[std::size_t(epoch)].epoch)
            .arg(cell.rank)
            .arg(formatCount(cell.position))
            .arg(formatCount(data_->epochs[std::size_t(epoch)].firstStep + cell.position / perStep));
    }
    return {};
}

void CoverageView::resizeEvent(QResizeEvent*)
{
    request();
}

void CoverageView::wheelEvent(QWheelEvent* event)
{
    const QRect area = plot();
    const double at =
        range_.first + (event->position().x() - area.left()) * (range_.last - range_.first) / area.width();
    const double factor = std::pow(0.8, event->angleDelta().y() / 120.0);
    setRange(at - (at - range_.first) * factor, at + (range_.last - at) * factor);
    event->accept();
}

void CoverageView::mousePressEvent(QMouseEvent* event)
{
    pressed_ = event->pos();
    pressedRange_ = range_;
    dragging_ = event->button() == Qt::LeftButton;
}

void CoverageView::mouseMoveEvent(QMouseEvent* event)
{
    if (dragging_) {
        const double ids =
            (pressed_.x() - event->pos().x()) * (pressedRange_.last - pressedRange_.first) / plot().width();
        setRange(pressedRange_.first + ids, pressedRange_.last + ids);
        return;
    }
    Q_EMIT hovered(textAt(event->pos()));
}

void CoverageView::mouseReleaseEvent(QMouseEvent*)
{
    dragging_ = false;
}

void CoverageView::mouseDoubleClickEvent(QMouseEvent*)
{
    fit();
}

void CoverageView::keyPressEvent(QKeyEvent* event)
{
    const double span = range_.last - range_.first;
    const double middle = (range_.first + range_.last) / 2;
    switch (event->key()) {
    case Qt::Key_Left:
        return setRange(range_.first - span / 10, range_.last - span / 10);
    case Qt::Key_Right:
        return setRange(range_.first + span / 10, range_.last + span / 10);
    case Qt::Key_Plus:
        return setRange(middle - span * 0.4, middle + span * 0.4);
    case Qt::Key_Minus:
        return setRange(middle - span * 0.625, middle + span * 0.625);
    case Qt::Key_F:
        return fit();
    default:
        QWidget::keyPressEvent(event);
    }
}

void CoverageView::leaveEvent(QEvent*)
{
    Q_EMIT hovered({});
}

} // namespace lockstep
