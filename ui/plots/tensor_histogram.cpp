#include "ui/plots/tensor_histogram.h"

#include <QHelpEvent>
#include <QLocale>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

QString number(double value)
{
    return QString::number(value, 'g', 5);
}

QString count(std::int64_t n)
{
    return QLocale::c().toString(qlonglong(n));
}

} // namespace

TensorHistogram::TensorHistogram(QWidget* parent) : QWidget(parent)
{
    setAccessibleName(tr("Histogram of the values"));
}

void TensorHistogram::setBins(std::vector<std::int64_t> bins, double low, double high, std::int64_t nan,
                              std::int64_t inf)
{
    bins_ = std::move(bins);
    low_ = low;
    high_ = high;
    nan_ = nan;
    inf_ = inf;
    setAccessibleDescription(bins_.empty() ? tr("No finite value")
                                           : tr("From %1 to %2, %3 NaN, %4 infinite")
                                                 .arg(number(low_), number(high_), count(nan_), count(inf_)));
    update();
}

QRect TensorHistogram::plotArea() const
{
    return rect().adjusted(12, 22, -12, -22);
}

int TensorHistogram::binAt(int x) const
{
    const QRect area = plotArea();
    if (bins_.empty() || !area.isValid() || x < area.left() || x > area.right())
        return -1;
    return std::min(int(bins_.size()) - 1,
                    int(double(x - area.left()) / area.width() * double(bins_.size())));
}

void TensorHistogram::paintEvent(QPaintEvent*)
{
    const PlotTheme theme = PlotTheme::forApplication();
    QPainter painter(this);
    painter.fillRect(rect(), theme.base);
    const QRect area = plotArea();
    painter.setFont(PlotTheme::titleFont());
    painter.setPen(theme.ink);
    painter.drawText(QRect(12, 2, width() - 24, 18), Qt::AlignLeft | Qt::AlignVCenter, tr("histogram"));
    painter.setFont(PlotTheme::labelFont());
    if (nan_ > 0 || inf_ > 0) {
        painter.setPen(theme.red);
        painter.drawText(QRect(12, 2, width() - 24, 18), Qt::AlignRight | Qt::AlignVCenter,
                         tr("%1 NaN, %2 infinite").arg(count(nan_), count(inf_)));
    }
    if (bins_.empty()) {
        painter.setPen(theme.ink2);
        painter.drawText(area, Qt::AlignCenter, tr("No finite value"));
        return;
    }
    const std::int64_t most = *std::max_element(bins_.begin(), bins_.end());
    for (std::size_t i = 0; i < bins_.size(); ++i) {
        if (bins_[i] == 0)
            continue;
        const int left = area.left() + int(area.width() * i / bins_.size());
        const int right = area.left() + int(area.width() * (i + 1) / bins_.size());
        const int height =
            std::max(1, int(std::lround(double(area.height()) * double(bins_[i]) / double(most))));
        painter.fillRect(QRect(left, area.bottom() - height + 1, std::max(1, right - left - 1), height),
                         theme.ranks[1]);
    }
    painter.setPen(theme.ink3);
    painter.drawLine(area.left(), area.bottom() + 1, area.right(), area.bottom() + 1);
    painter.setPen(theme.ink2);
    const QRect labels(area.left(), area.bottom() + 4, area.width(), 16);
    painter.drawText(labels, Qt::AlignLeft | Qt::AlignVCenter, number(low_));
    painter.drawText(labels, Qt::AlignRight | Qt::AlignVCenter, number(high_));
    if (low_ < 0 && high_ > 0) { // zero, where it does not touch the ends
        const double at = area.left() + area.width() * (-low_ / (high_ - low_));
        if (at - area.left() > 60 && area.right() - at > 60)
            painter.drawText(QRectF(at - 20, labels.top(), 40, 16), Qt::AlignCenter, QStringLiteral("0"));
    }
}

bool TensorHistogram::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int bin = binAt(help->pos().x());
    if (bin < 0) {
        QToolTip::hideText();
        return true;
    }
    const double width = (high_ / 2 - low_ / 2) / double(bins_.size()) * 2;
    QToolTip::showText(help->globalPos(),
                       tr("%1 to %2: %3 values")
                           .arg(number(low_ + width * bin), number(low_ + width * (bin + 1)),
                                count(bins_[std::size_t(bin)])),
                       this);
    return true;
}

} // namespace lockstep
