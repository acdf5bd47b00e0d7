// A read-only tree of whole rows that looks like DataTable: ground and line run under the indentation, too.
#pragma once

#include <QTreeView>

namespace lockstep {

class DataTree : public QTreeView
{
    Q_OBJECT

public:
    explicit DataTree(QWidget* parent = nullptr, int rowHeight = 24);

protected:
    void drawRow(QPainter* painter, const QStyleOptionViewItem& option,
                 const QModelIndex& index) const override;
};

} // namespace lockstep
