#include "ui/plots/tensor_heat.h"

#include <QHelpEvent>
#include <QLocale>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

// Between the seven colours of the theme; 0 is the faintest.
QColor heatColor(const PlotTheme& theme, double part)
{
    const double at = std::clamp(part, 0.0, 1.0) * double(theme.heat.size() - 1);
    const auto low = std::min(std::size_t(at), theme.heat.size() - 2);
    const double t = at - double(low);
    const QColor &a = theme.heat[low], &b = theme.heat[low + 1];
    const auto mix = [t](int x, int y) { return int(std::lround(x + (y - x) * t)); };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

QString span(std::int64_t first, std::int64_t last)
{
    return first == last ? QLocale::c().toString(qlonglong(first))
                         : QStringLiteral("%1-%2").arg(QLocale::c().toString(qlonglong(first)),
                                                       QLocale::c().toString(qlonglong(last)));
}

} // namespace

TensorHeat::TensorHeat(QWidget* parent) : QWidget(parent)
{
    setAccessibleName(tr("Heat map of the values"));
}

void TensorHeat::setCells(std::vector<double> cells, int rows, int columns, std::int64_t allRows,
                          std::int64_t allColumns)
{
    cells_ = std::move(cells);
    rows_ = rows;
    columns_ = columns;
    allRows_ = allRows;
    allColumns_ = allColumns;
    most_ = 0;
    for (const double cell : cells_)
        most_ = std::max(most_, std::isnan(cell) ? 0 : cell);
    setAccessibleDescription(tr("%1 rows, %2 columns, largest absolute value %3")
                                 .arg(allRows_)
                                 .arg(allColumns_)
                                 .arg(most_, 0, 'g', 5));
    update();
}

QRect TensorHeat::plotArea() const
{
    return rect().adjusted(12, 22, -12, -22);
}

void TensorHeat::paintEvent(QPaintEvent*)
{
    const PlotTheme theme = PlotTheme::forApplication();
    QPainter painter(this);
    painter.fillRect(rect(), theme.base);
    painter.setFont(PlotTheme::titleFont());
    painter.setPen(theme.ink);
    painter.drawText(QRect(12, 2, width() - 24, 18), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("heat map, largest |value|"));
    if (rows_ == 0 || columns_ == 0)
        return;
    const QRect area = plotArea();
    for (int r = 0; r < rows_; ++r) {
        const int top = area.top() + area.height() * r / rows_;
        const int bottom = area.top() + area.height() * (r + 1) / rows_;
        for (int c = 0; c < columns_; ++c) {
            const double cell = cells_[std::size_t(r) * std::size_t(columns_) + std::size_t(c)];
            const int left = area.left() + area.width() * c / columns_;
            const int right = area.left() + area.width() * (c + 1) / columns_;
            painter.fillRect(QRect(left, top, std::max(1, right - left), std::max(1, bottom - top)),
                             std::isnan(cell) ? theme.red : heatColor(theme, most_ > 0 ? cell / most_ : 0));
        }
    }
    // Cells narrower than a pixel paint over each other; those that are not finite must not be lost.
    for (int r = 0; r < rows_; ++r)
        for (int c = 0; c < columns_; ++c)
            if (std::isnan(cells_[std::size_t(r) * std::size_t(columns_) + std::size_t(c)]))
                painter.fillRect(
                    QRect(area.left() + area.width() * c / columns_, area.top() + area.height() * r / rows_,
                          std::max(2, area.width() / columns_), std::max(2, area.height() / rows_)),
                    theme.red);
    painter.setFont(PlotTheme::labelFont());
    painter.setPen(theme.ink2);
    const QRect labels(area.left(), area.bottom() + 4, area.width(), 16);
    painter.drawText(labels, Qt::AlignLeft | Qt::AlignVCenter,
                     tr("%1 x %2").arg(QLocale::c().toString(qlonglong(allRows_)),
                                       QLocale::c().toString(qlonglong(allColumns_))));
    painter.drawText(labels, Qt::AlignRight | Qt::AlignVCenter, tr("0 to %1").arg(most_, 0, 'g', 5));
}

bool TensorHeat::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QRect area = plotArea();
    if (rows_ == 0 || columns_ == 0 || !area.contains(help->pos())) {
        QToolTip::hideText();
        return true;
    }
    const std::int64_t r = std::int64_t(help->pos().y() - area.top()) * rows_ / area.height();
    const std::int64_t c = std::int64_t(help->pos().x() - area.left()) * columns_ / area.width();
    // Row i of the tensor lies in cell row i * rows / allRows.
    const auto first = [](std::int64_t cell, std::int64_t cells, std::int64_t all) {
        return (cell * all + cells - 1) / cells;
    };
    const double value = cells_[std::size_t(r * columns_ + c)];
    QToolTip::showText(
        help->globalPos(),
        tr("rows %1, columns %2: %3")
            .arg(span(first(r, rows_, allRows_), first(r + 1, rows_, allRows_) - 1),
                 span(first(c, columns_, allColumns_), first(c + 1, columns_, allColumns_) - 1),
                 std::isnan(value) ? tr("not finite") : QString::number(value, 'g', 8)),
        this);
    return true;
}

} // namespace lockstep
