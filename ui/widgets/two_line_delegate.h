// List rows of 44 px with a title and a second line (DisplayRole, DetailRole).
#pragma once

#include <QStyledItemDelegate>

namespace lockstep {

class TwoLineDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {120, 44}; }
};

} // namespace lockstep
