#include "ui/widgets/run_strip.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kInset = 12;
constexpr int kShape = 13;

QString sentenceOf(const RunStrip::Item& item)
{
    return item.detail.isEmpty() ? item.title : item.title + QStringLiteral(": ") + item.detail;
}

} // namespace

RunStrip::RunStrip(QWidget* parent) : QWidget(parent)
{
    setFixedHeight(48);
    setAccessibleName(tr("Runs of this gate"));
}

void RunStrip::setItems(std::vector<Item> items)
{
    items_ = std::move(items);
    QStringList words;
    for (const Item& item : items_)
        words << sentenceOf(item);
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    update();
}

QRect RunStrip::rectOf(std::size_t item) const
{
    const int count = int(items_.size()), left = width() * int(item) / count;
    return {left, 0, width() * (int(item) + 1) / count - left, height()};
}

void RunStrip::paintEvent(QPaintEvent*)
{
    const Tokens& t = theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const Item& item = items_[i];
        const QRect cell = rectOf(i);
        if (i > 0)
            painter.fillRect(QRect(cell.left(), 0, 1, cell.height()), t.line2);
        const QRect inner = cell.adjusted(kInset, 7, -kInset, -10);
        paintState(painter, QRectF(inner.left(), inner.top() + 3, kShape, kShape), item.state);
        painter.setFont(theme::font(12));
        painter.setPen(t.ink2);
        const int detail = painter.fontMetrics().horizontalAdvance(item.detail);
        const QRect words = QRect(inner.left() + kShape + 7, inner.top(), inner.width() - kShape - 7, 19);
        painter.drawText(words, Qt::AlignVCenter | Qt::AlignRight, item.detail);
        painter.setFont(theme::font(12.5, true));
        painter.setPen(item.state == State::Waiting ? t.ink2 : t.ink);
        painter.drawText(words, Qt::AlignVCenter | Qt::AlignLeft,
                         painter.fontMetrics().elidedText(item.title, Qt::ElideRight,
                                                          std::max(words.width() - detail - 8, 20)));
        const QRectF bar(inner.left(), inner.bottom() - 3, inner.width(), 4);
        painter.setPen(Qt::NoPen);
        painter.setBrush(t.line2);
        painter.drawRoundedRect(bar, 2, 2);
        painter.setBrush(item.state == State::Failed    ? t.red
                         : item.state == State::Running ? t.accent
                                                        : t.ink3);
        if (item.progress > 0)
            painter.drawRoundedRect(
                QRectF(bar.left(), bar.top(), bar.width() * std::min(item.progress, 1.0), bar.height()), 2,
                2);
    }
}

bool RunStrip::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (std::size_t i = 0; i < items_.size(); ++i)
        if (rectOf(i).contains(help->pos()))
            QToolTip::showText(help->globalPos(), sentenceOf(items_[i]), this);
    return true;
}

} // namespace lockstep
