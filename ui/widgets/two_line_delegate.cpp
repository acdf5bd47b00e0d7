#include "ui/widgets/two_line_delegate.h"

#include "ui/models/roles.h"
#include "ui/widgets/theme.h"

#include <QPainter>

namespace lockstep {

void TwoLineDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const
{
    const Tokens& t = theme::tokens();
    const bool selected = option.state & QStyle::State_Selected;
    painter->save();
    if (selected)
        painter->fillRect(option.rect, t.tint);
    else if (option.state & QStyle::State_MouseOver)
        painter->fillRect(option.rect, t.alt);
    if (selected)
        painter->fillRect(QRect(option.rect.topLeft(), QSize(3, option.rect.height())), t.accent);
    const QRect words = option.rect.adjusted(12, 5, -8, -5);
    painter->setFont(theme::font(13, selected || index.data(EmphasisRole).toBool()));
    painter->setPen(t.ink);
    painter->drawText(
        words, Qt::AlignTop | Qt::AlignLeft,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle, words.width()));
    painter->setFont(theme::font(11.5));
    painter->setPen(t.ink3);
    painter->drawText(
        words, Qt::AlignBottom | Qt::AlignLeft,
        painter->fontMetrics().elidedText(index.data(DetailRole).toString(), Qt::ElideRight, words.width()));
    if ((option.state & QStyle::State_HasFocus) && (option.state & QStyle::State_KeyboardFocusChange)) {
        painter->setPen(QPen(t.accent, 2));
        painter->drawRect(option.rect.adjusted(1, 1, -1, -1));
    }
    painter->restore();
}

} // namespace lockstep
