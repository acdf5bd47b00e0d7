// Differing keys of two run configurations, grouped by what they may change: Maths, Launch, Engine, Recording. A group is a
// row of its own and says how many of its keys differ.
#pragma once

#include "core/config/run_config.h"
#include "ui/models/roles.h"

#include <QAbstractItemModel>
#include <QString>

#include <optional>
#include <vector>

namespace lockstep {

class RunConfigDiffModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Column { Key, ValueA, ValueB, Effect, Why, ColumnCount };

    using QAbstractItemModel::QAbstractItemModel;

    // Nothing, or two configurations and how they are called in the header. Called with every snapshot: a script tells its
    // configuration only after its run began. Resets only when something is new.
    void setRuns(std::optional<RunConfig> a, std::optional<RunConfig> b, const QString& nameA,
                 const QString& nameB);
    void setDifferingOnly(bool differingOnly);

    int keys() const { return keys_; }
    int differing() const { return differing_; }
    // "64 keys: 57 equal, 7 differ".
    QString summary() const;
    QString markdown() const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Row {
        QString key, a, b, effect, why;
        State state = State::None;
        bool differs = false;
    };
    struct Group {
        QString title;
        int keys = 0;
        int differing = 0;
        std::vector<Row> rows; // those shown
    };

    void rebuild();
    static void explain(Row& row, int group, const RunConfig& a, const RunConfig& b);
    const Row* rowAt(const QModelIndex& index) const; // nullptr for groups

    std::optional<RunConfig> a_, b_;
    QString nameA_, nameB_;
    bool differingOnly_ = true;
    int keys_ = 0;
    int differing_ = 0;
    std::vector<Group> groups_;
};

} // namespace lockstep
