// Filter line of the Runs page: words, and key:value pairs for mode, world, state, workload and fault. All must match.
//   mode:ddp world:4 state:diverged     single-02
#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace lockstep {

class RunsModel;

class RunsFilterModel : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    explicit RunsFilterModel(QObject* parent = nullptr);
    void setFilterText(const QString& text);
    // Shows the newest `rows` of those that may be shown only; -1: all.
    void setLimit(int rows);
    // Runs that a gate, a drill or a proof made.
    void setAuxiliaryShown(bool shown);
    bool auxiliaryShown() const { return auxiliaryShown_; }

    void setSourceModel(QAbstractItemModel* model) override;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    bool mayShow(const RunsModel& model, int row) const;

    QStringList words_;
    int limit_ = -1;
    bool auxiliaryShown_ = false;
    QList<QMetaObject::Connection> counting_; // to the source model
};

} // namespace lockstep
