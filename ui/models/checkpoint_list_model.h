// The checkpoints a person can choose from: those of the project's runs, then those opened by hand.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QAbstractListModel>
#include <QStringList>

namespace lockstep {

class CheckpointListModel : public QAbstractListModel
{
    Q_OBJECT

public:
    using QAbstractListModel::QAbstractListModel;

    void setSnapshot(const ProjectSnapshot& snapshot);
    // Those of runs that a gate, a drill or a proof made; hidden unless asked for.
    void setAuxiliaryShown(bool shown);
    int auxiliary() const { return auxiliary_; } // how many there are, shown or not
    // Returns its row.
    int addOpened(const QString& path);
    void removeOpened(const QString& path); // those of runs stay
    QStringList opened() const { return opened_; }
    int rowOf(const QString& path) const; // -1: not there

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

private:
    struct Row {
        QString path, title, detail;
        bool auxiliary = false;
        bool operator==(const Row&) const = default;
    };
    void rebuild();

    std::vector<Row> project_, rows_;
    QStringList opened_;
    bool auxiliaryShown_ = false;
    int auxiliary_ = 0;
};

} // namespace lockstep
