#include "ui/widgets/cell_delegate.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QPainter>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kPadding = 10;
constexpr int kShape = 13;
constexpr int kShapeGap = 6;
constexpr int kTwoLines = 40;        // row height from which a second line is shown
constexpr int kWordsOfASentence = 4; // spaces from which a text is one

QFont cellFont(const QModelIndex& index)
{
    const bool bold = index.data(EmphasisRole).toBool();
    return index.data(MonoRole).toBool() ? theme::monoFont(11.5) : theme::font(12.5, bold);
}

State stateOf(const QModelIndex& index)
{
    const QVariant state = index.data(StateRole);
    return state.isValid() ? State(state.toInt()) : State::None;
}

} // namespace

int CellDelegate::textWidth(const QModelIndex& index, int rowHeight)
{
    const int shape = stateOf(index) == State::None ? 0 : kShape + kShapeGap;
    int text = QFontMetrics(cellFont(index)).horizontalAdvance(index.data().toString()) + shape;
    if (rowHeight >= kTwoLines)
        text = std::max(text,
                        QFontMetrics(theme::font(12)).horizontalAdvance(index.data(DetailRole).toString()));
    return text + 2 * kPadding + 2;
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const
{
    return {textWidth(index, rowHeight_), rowHeight_};
}

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const
{
    const Tokens& t = theme::tokens();
    const bool selected = option.state & QStyle::State_Selected;
    const bool group = index.data(GroupRole).toBool();
    painter->save();
    if (selected)
        painter->fillRect(option.rect, t.tint);
    else if (index.data(TintRole).toBool())
        painter->fillRect(option.rect, t.redTint);
    else if (group || (option.state & QStyle::State_MouseOver))
        painter->fillRect(option.rect, t.alt);
    if (lastLine_ || index.row() + 1 < index.model()->rowCount(index.parent())) {
        painter->setPen(t.line2);
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    }

    QRect cell = option.rect.adjusted(kPadding, 0, -kPadding, -1);
    const State state = stateOf(index);
    if (state != State::None) {
        const int top = cell.top() + (cell.height() - kShape) / 2;
        paintState(*painter, QRectF(cell.left(), top, kShape, kShape), state);
        cell.setLeft(cell.left() + kShape + kShapeGap);
    }

    const QVariant tone = index.data(ToneRole);
    QColor color = tone.isValid() ? toneColor(Tone(tone.toInt())) : t.ink;
    if (state == State::Diverged || state == State::Failed || state == State::Overridden ||
        state == State::Passed || state == State::Running)
        color = stateColor(state);
    else if (state != State::None && !tone.isValid())
        color = t.ink2;
    painter->setPen(color);
    painter->setFont(cellFont(index));
    const QString detail = rowHeight_ >= kTwoLines ? index.data(DetailRole).toString() : QString();
    if (!detail.isEmpty()) { // second line of a tall row
        painter->drawText(
            cell.adjusted(0, 4, 0, 0), Qt::AlignLeft | Qt::AlignTop | Qt::TextSingleLine,
            painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle, cell.width()));
        painter->setFont(theme::font(12));
        painter->setPen(t.ink2);
        painter->drawText(cell.adjusted(0, 0, 0, -4), Qt::AlignLeft | Qt::AlignBottom | Qt::TextSingleLine,
                          painter->fontMetrics().elidedText(detail, Qt::ElideRight, cell.width()));
        painter->restore();
        return;
    }
    const QVariant align = index.data(Qt::TextAlignmentRole);
    const int alignment = align.isValid() ? align.toInt() : int(Qt::AlignLeft | Qt::AlignVCenter);
    // What does not fit says so: without the dots the begin of a right-aligned text would be cut off unseen.
    // Of a name the end tells as much as the begin, a sentence is read from its begin.
    const QString whole = index.data().toString();
    const bool sentence = whole.count(QLatin1Char(' ')) >= kWordsOfASentence;
    const QString text = painter->fontMetrics().elidedText(
        whole, group || sentence ? Qt::ElideRight : Qt::ElideMiddle, cell.width());
    painter->drawText(cell, alignment | Qt::TextSingleLine, text);

    if ((option.state & QStyle::State_HasFocus) && (option.state & QStyle::State_KeyboardFocusChange)) {
        painter->setPen(QPen(t.accent, 2));
        painter->drawRect(option.rect.adjusted(1, 1, -2, -2));
    }
    painter->restore();
}

} // namespace lockstep
