// Paints table and tree cells from the roles of ui/models/roles.h: state shape, tone, emphasis, fixed-width digits, row
// line, tinted rows. Numbers are never cut; words are cut in the middle and whole in the tooltip.
#pragma once

#include <QStyledItemDelegate>

namespace lockstep {

class CellDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    explicit CellDelegate(int rowHeight, QObject* parent = nullptr)
        : QStyledItemDelegate(parent), rowHeight_(rowHeight)
    {
    }

    // Whether the last row has a line below it.
    void setLastLine(bool on) { lastLine_ = on; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    // Width a cell wants for all of its text.
    static int textWidth(const QModelIndex& index, int rowHeight);

private:
    int rowHeight_;
    bool lastLine_ = true;
};

} // namespace lockstep
