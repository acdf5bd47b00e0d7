#include "ui/widgets/data_tree.h"

#include "ui/models/roles.h"
#include "ui/widgets/cell_delegate.h"
#include "ui/widgets/theme.h"

#include <QHeaderView>
#include <QPainter>

namespace lockstep {

DataTree::DataTree(QWidget* parent, int rowHeight) : QTreeView(parent)
{
    setItemDelegate(new CellDelegate(rowHeight, this));
    setFrameShape(QFrame::NoFrame);
    setUniformRowHeights(true);
    setIndentation(16);
    setMouseTracking(true);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    header()->setFont(theme::font(12, true));
    header()->setFixedHeight(24);
    header()->setHighlightSections(false);
    header()->setTextElideMode(Qt::ElideRight);
    header()->setStretchLastSection(true);
    header()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void DataTree::drawRow(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const Tokens& t = theme::tokens();
    const QRect row(0, option.rect.top(), viewport()->width(), option.rect.height());
    if (selectionModel() && selectionModel()->isSelected(index))
        painter->fillRect(row, t.tint);
    else if (index.data(TintRole).toBool())
        painter->fillRect(row, t.redTint);
    else if (index.data(GroupRole).toBool())
        painter->fillRect(row, t.alt);
    painter->setPen(t.line2);
    painter->drawLine(row.bottomLeft(), row.bottomRight());
    QTreeView::drawRow(painter, option, index);
}

} // namespace lockstep
