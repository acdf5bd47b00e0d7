// Two checkpoints compared tensor by tensor after their names were brought together: what differs most comes first.
#pragma once

#include <QAbstractTableModel>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

struct CheckpointDiffRow {
    QString key; // A's name; B's where only B has it
    QString type, shape;
    QString maxAbs, maxAbsExact; // largest |A - B|; empty: not comparable
    QString relative;            // maxAbs over the largest magnitude of A
    QString differ;              // "412 of 768", or why the values were not compared
    double order = 0;            // larger: higher up
    bool equal = false;          // in every bit
};

struct CheckpointComparison {
    QString pathA, pathB;
    QString error;   // one of the files cannot be opened
    QString mapping; // "module. stripped from A"; empty: the names fit as they are
    int matched = 0, onlyA = 0, onlyB = 0, equal = 0;
    std::vector<CheckpointDiffRow> rows; // sorted
};
using CheckpointComparisonPtr = std::shared_ptr<const CheckpointComparison>;

// Any thread; reads both files once, with all cores.
CheckpointComparisonPtr compareCheckpoints(const QString& pathA, const QString& pathB);

class CheckpointDiffModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Key, Kind, Shape, MaxAbs, Relative, Differ, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setComparison(CheckpointComparisonPtr comparison); // may be null
    void setDifferingOnly(bool differingOnly);
    const CheckpointComparison* comparison() const { return comparison_.get(); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    void collect();

    CheckpointComparisonPtr comparison_;
    bool differingOnly_ = true;
    std::vector<std::size_t> shown_;
};

} // namespace lockstep
