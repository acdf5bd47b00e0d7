// Filter line of the Runs page: words, and key:value pairs for mode, world, state, workload and fault. All must match.
//   mode:ddp world:4 state:diverged     single-02
#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace lockstep {

class RunsFilterModel : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    explicit RunsFilterModel(QObject* parent = nullptr);
    void setFilterText(const QString& text);
    // Shows the newest `rows` only; -1: all.
    void setLimit(int rows);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList words_;
    int limit_ = -1;
};

} // namespace lockstep
