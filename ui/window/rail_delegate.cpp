#include "ui/window/rail_delegate.h"

#include "ui/models/gates_model.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QPainter>

namespace lockstep {

namespace {

constexpr int kCollapsedBelow = 100;
constexpr int kShapeLeft = 14;
constexpr int kTextLeft = 40;

// Tint and the accent bar of the current place; focus ring on top.
void paintGround(QPainter* painter, const QStyleOptionViewItem& option)
{
    const Tokens& t = theme::tokens();
    if (option.state & QStyle::State_Selected) {
        painter->fillRect(option.rect, t.tint);
        painter->fillRect(QRect(option.rect.topLeft(), QSize(3, option.rect.height())), t.accent);
    } else if (option.state & QStyle::State_MouseOver) {
        painter->fillRect(option.rect, t.line2);
    }
    if ((option.state & QStyle::State_HasFocus) && (option.state & QStyle::State_KeyboardFocusChange)) {
        painter->setPen(QPen(t.accent, 2));
        painter->drawRect(option.rect.adjusted(1, 1, -1, -1));
    }
}

} // namespace

QSize RailDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const
{
    return {100, phases_ ? 44 : 28};
}

void RailDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const
{
    painter->save();
    paintGround(painter, option);
    if (phases_)
        paintPhase(painter, option, index);
    else
        paintPage(painter, option, index);
    painter->restore();
}

void RailDelegate::paintPhase(QPainter* painter, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const
{
    const Tokens& t = theme::tokens();
    const State state = State(index.siblingAtColumn(GatesModel::Gate).data(StateRole).toInt());
    const bool closed = state == State::Closed || state == State::CannotCompare;
    const QRect r = option.rect;
    const bool collapsed = r.width() < kCollapsedBelow;
    const int left = collapsed ? r.left() + (r.width() - 14) / 2 : r.left() + kShapeLeft;
    const int top = collapsed ? r.top() + 15 : r.top() + 8;
    paintState(*painter, QRectF(left, top, 14, 14), state);
    if (index.row() + 1 < index.model()->rowCount()) { // to the next shape
        painter->setPen(t.line);
        painter->drawLine(left + 7, top + 19, left + 7, r.bottom() + (collapsed ? 10 : 3));
    }
    if (collapsed)
        return;
    const QRect words = r.adjusted(kTextLeft, 4, -8, -6);
    const bool emphasis = (option.state & QStyle::State_Selected) || state == State::Running;
    painter->setFont(theme::font(13, emphasis));
    painter->setPen(closed ? t.ink3 : t.ink);
    painter->drawText(
        words, Qt::AlignLeft | Qt::AlignTop,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, words.width()));
    painter->setFont(theme::font(11));
    painter->setPen(state == State::Diverged || state == State::Overridden ? stateColor(state) : t.ink3);
    painter->drawText(
        words, Qt::AlignLeft | Qt::AlignBottom,
        painter->fontMetrics().elidedText(index.data(DetailRole).toString(), Qt::ElideRight, words.width()));
}

void RailDelegate::paintPage(QPainter* painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const
{
    const Tokens& t = theme::tokens();
    const bool enabled = index.flags().testFlag(Qt::ItemIsEnabled);
    const bool selected = option.state & QStyle::State_Selected;
    const QRect r = option.rect;
    const bool collapsed = r.width() < kCollapsedBelow;
    const int left = collapsed ? r.left() + (r.width() - 14) / 2 : r.left() + kShapeLeft;
    const QColor ink = !enabled ? t.ink3 : selected ? t.accent : t.ink2;
    paintIcon(*painter, QRectF(left, r.top() + 7, 14, 14), index.data(IconNameRole).toString(), ink);
    if (collapsed)
        return;
    QRect words = r.adjusted(kTextLeft, 0, -12, 0);
    const int count = index.data(CountRole).toInt();
    if (count > 0) {
        const bool red = index.data(CountRedRole).toBool();
        painter->setFont(theme::font(12, red));
        painter->setPen(red ? t.red : t.ink3);
        painter->drawText(words, Qt::AlignRight | Qt::AlignVCenter, QString::number(count));
        words.setRight(words.right() - 30);
    }
    painter->setFont(theme::font(13, selected));
    painter->setPen(enabled ? t.ink : t.ink3);
    painter->drawText(
        words, Qt::AlignLeft | Qt::AlignVCenter,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, words.width()));
}

} // namespace lockstep
