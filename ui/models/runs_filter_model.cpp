#include "ui/models/runs_filter_model.h"

#include "ui/models/format.h"
#include "ui/models/roles.h"
#include "ui/models/runs_model.h"

namespace lockstep {

namespace {

bool matches(const RunsModel& model, int row, const QString& word)
{
    const auto text = [&](RunsModel::Column column) { return model.index(row, column).data().toString(); };
    const RunEntry& entry = model.run(row);
    const qsizetype colon = word.indexOf(QLatin1Char(':'));
    if (colon > 0) {
        const QString key = word.left(colon).toLower();
        const QString value = word.mid(colon + 1);
        const auto starts = [&](const QString& field) {
            return field.startsWith(value, Qt::CaseInsensitive);
        };
        if (key == QLatin1String("mode"))
            return starts(qs(entry.config.mode));
        if (key == QLatin1String("world"))
            return QString::number(entry.config.world) == value;
        if (key == QLatin1String("state"))
            return starts(text(RunsModel::StateColumn)) || starts(qs(runStateName(entry.info.state)));
        if (key == QLatin1String("workload"))
            return starts(qs(entry.config.workload));
        if (key == QLatin1String("fault"))
            return !entry.config.faults.empty() && starts(qs(entry.config.faults.front().id));
    }
    return text(RunsModel::Name).contains(word, Qt::CaseInsensitive) ||
           text(RunsModel::Mode).contains(word, Qt::CaseInsensitive) ||
           text(RunsModel::StateColumn).contains(word, Qt::CaseInsensitive);
}

} // namespace

RunsFilterModel::RunsFilterModel(QObject* parent) : QSortFilterProxyModel(parent)
{
    setSortRole(SortRole);
}

void RunsFilterModel::setFilterText(const QString& text)
{
    words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void RunsFilterModel::setLimit(int rows)
{
    limit_ = rows;
    invalidateFilter();
}

void RunsFilterModel::setAuxiliaryShown(bool shown)
{
    auxiliaryShown_ = shown;
    invalidateFilter();
}

void RunsFilterModel::setSourceModel(QAbstractItemModel* model)
{
    for (const QMetaObject::Connection& one : std::as_const(counting_))
        disconnect(one);
    counting_.clear();
    QSortFilterProxyModel::setSourceModel(model);
    if (!model)
        return;
    // A new run pushes the last one over the limit, which Qt does not ask about again by itself.
    for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        counting_ << connect(model, signal, this, [this] {
            if (limit_ >= 0)
                invalidateFilter();
        });
}

bool RunsFilterModel::mayShow(const RunsModel& model, int row) const
{
    return auxiliaryShown_ || !model.run(row).auxiliary();
}

bool RunsFilterModel::filterAcceptsRow(int row, const QModelIndex&) const
{
    const auto* model = qobject_cast<const RunsModel*>(sourceModel());
    if (!model || !mayShow(*model, row))
        return false;
    int newer = 0;
    for (int i = 0; limit_ >= 0 && i < row; ++i)
        if (mayShow(*model, i) && ++newer >= limit_)
            return false;
    return std::all_of(words_.begin(), words_.end(),
                       [&](const QString& word) { return matches(*model, row, word); });
}

} // namespace lockstep
