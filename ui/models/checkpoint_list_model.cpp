#include "ui/models/checkpoint_list_model.h"

#include "ui/models/format.h"
#include "ui/models/roles.h"

#include <QFileInfo>

#include <algorithm>
#include <iterator>

namespace lockstep {

void CheckpointListModel::setSnapshot(const ProjectSnapshot& snapshot)
{
    std::vector<Row> rows;
    for (const CheckpointSeen& seen : snapshot.checkpoints) {
        QString path = qs(seen.path);
        if (QFileInfo(path).isRelative())
            path = qs(snapshot.info.folder) + QLatin1Char('/') + path;
        const RunEntry* run = snapshot.run(qs(seen.runId));
        // Files of all runs are called alike: the run leads where it is known.
        const QString file = QFileInfo(path).fileName();
        QStringList title{run ? run->name() : file}, detail;
        if (run)
            detail << file;
        if (seen.step >= 0)
            (run ? title : detail) << tr("step %1").arg(seen.step);
        if (seen.bytes > 0)
            detail << formatBytes(seen.bytes);
        rows.push_back({path, title.join(QStringLiteral(", ")), detail.join(QStringLiteral(", ")),
                        run && run->auxiliary()});
    }
    if (rows == project_)
        return;
    project_ = std::move(rows);
    auxiliary_ =
        int(std::count_if(project_.begin(), project_.end(), [](const Row& r) { return r.auxiliary; }));
    rebuild();
}

void CheckpointListModel::setAuxiliaryShown(bool shown)
{
    if (shown == auxiliaryShown_)
        return;
    auxiliaryShown_ = shown;
    rebuild();
}

int CheckpointListModel::addOpened(const QString& path)
{
    if (rowOf(path) < 0) {
        opened_ << path;
        rebuild();
    }
    return rowOf(path);
}

void CheckpointListModel::removeOpened(const QString& path)
{
    if (opened_.removeAll(path) > 0)
        rebuild();
}

void CheckpointListModel::rebuild()
{
    beginResetModel();
    rows_.clear();
    std::copy_if(project_.begin(), project_.end(), std::back_inserter(rows_),
                 [this](const Row& row) { return auxiliaryShown_ || !row.auxiliary; });
    for (const QString& path : opened_) {
        const QFileInfo info(path);
        rows_.push_back({path, info.fileName(), tr("opened, %1").arg(formatBytes(info.size())), false});
    }
    endResetModel();
}

int CheckpointListModel::rowOf(const QString& path) const
{
    const auto it =
        std::find_if(rows_.begin(), rows_.end(), [&path](const Row& row) { return row.path == path; });
    return it == rows_.end() ? -1 : int(it - rows_.begin());
}

int CheckpointListModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(rows_.size());
}

QVariant CheckpointListModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Row& row = rows_[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return row.title;
    case DetailRole:
        return row.detail;
    case IdRole:
    case Qt::ToolTipRole:
        return row.path;
    default:
        return {};
    }
}

} // namespace lockstep
