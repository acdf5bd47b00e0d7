// Paints the two lists of the rail: phases of 44 px joined by a line, pages of 28 px with a count at the right.
#pragma once

#include <QStyledItemDelegate>

namespace lockstep {

enum RailRole { IconNameRole = Qt::UserRole + 100, CountRole, CountRedRole };

class RailDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    RailDelegate(bool phases, QObject* parent) : QStyledItemDelegate(parent), phases_(phases) {}

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    void paintPhase(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const;
    void paintPage(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const;

    bool phases_;
};

} // namespace lockstep
