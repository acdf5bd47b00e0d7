#include "ui/models/runs_model.h"

#include "core/base/fingerprint.h"
#include "core/base/records.h"
#include "ui/models/format.h"
#include "ui/models/phases.h"

#include <QCoreApplication>
#include <QDateTime>

#include <algorithm>

namespace lockstep {

namespace {

bool sameRow(const RunEntry& a, const RunEntry& b)
{
    return a.info.state == b.info.state && a.info.lastStep == b.info.lastStep &&
           a.info.endedUnixMs == b.info.endedUnixMs && bitsOf(a.info.lastLoss) == bitsOf(b.info.lastLoss) &&
           a.info.name == b.info.name && !a.running();
}

QString configHash(const RunEntry& entry)
{
    if (!entry.configReadable)
        return QStringLiteral("-");
    RunConfig config = entry.config;
    config.name.clear(); // the name changes nothing in the training
    const std::string text = toJson(config);
    return formatShortHash(fingerprint(text.data(), text.size(), 1));
}

} // namespace

State runState(const RunEntry& entry, const RunVerdict* verdict)
{
    switch (entry.info.state) {
    case RunState::Running:
        return State::Running;
    case RunState::Failed:
        return State::Failed;
    case RunState::Stopped:
        return State::Off;
    case RunState::Interrupted:
        return State::CannotCompare;
    case RunState::Finished:
        break;
    }
    return verdict && verdict->state == State::Diverged ? State::Diverged : State::Holds;
}

QString runStateText(const RunEntry& entry, const RunVerdict* verdict)
{
    switch (runState(entry, verdict)) {
    case State::Off:
        return QCoreApplication::translate("lockstep::RunsModel", "stopped");
    case State::CannotCompare:
        return QCoreApplication::translate("lockstep::RunsModel", "interrupted");
    case State::Holds:
        return QCoreApplication::translate("lockstep::RunsModel", "finished");
    default:
        return stateWord(runState(entry, verdict));
    }
}

QString runModeText(const RunConfig& config)
{
    QString text = qs(config.mode);
    for (const FaultSpec& fault : config.faults) {
        text += QStringLiteral(", ") + qs(fault.id);
        for (const auto& [key, value] : fault.parameters)
            text += QLatin1Char(' ') + qs(key + "=" + value);
    }
    return text;
}

std::int64_t runElapsedMs(const RunEntry& entry)
{
    const std::int64_t end = entry.info.endedUnixMs > 0 ? entry.info.endedUnixMs
                             : entry.running()          ? QDateTime::currentMSecsSinceEpoch()
                                                        : 0;
    return end > 0 && entry.info.startedUnixMs > 0 ? end - entry.info.startedUnixMs : -1;
}

void RunsModel::setSnapshot(const ProjectSnapshotPtr& snapshot)
{
    snapshot_ = snapshot;
    std::vector<RunEntry> shown;
    for (const RunEntry& entry : snapshot->runs)
        if (!hidden_.contains(entry.id()))
            shown.push_back(entry);
    sync(shown);
}

void RunsModel::setHidden(const QSet<QString>& hidden)
{
    hidden_ = hidden;
    if (snapshot_)
        setSnapshot(snapshot_);
}

void RunsModel::setVerdicts(const RunVerdicts& verdicts)
{
    verdicts_ = verdicts;
    if (!runs_.empty())
        Q_EMIT dataChanged(index(0, StateColumn), index(rowCount() - 1, Against));
}

void RunsModel::setMarks(const QString& runA, const QString& runB)
{
    runA_ = runA;
    runB_ = runB;
    if (!runs_.empty())
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

// Both lists are ordered the same way, so walking them side by side finds every insertion and removal.
void RunsModel::sync(const std::vector<RunEntry>& target)
{
    QSet<QString> wanted;
    for (const RunEntry& entry : target)
        wanted.insert(entry.id());
    for (int row = rowCount() - 1; row >= 0; --row) {
        if (wanted.contains(runs_[std::size_t(row)].id()))
            continue;
        beginRemoveRows({}, row, row);
        runs_.erase(runs_.begin() + row);
        endRemoveRows();
    }
    for (int row = 0; row < int(target.size()); ++row) {
        const RunEntry& entry = target[std::size_t(row)];
        const int at = rowOf(entry.id());
        if (at < 0) {
            beginInsertRows({}, row, row);
            runs_.insert(runs_.begin() + row, entry);
            endInsertRows();
        } else if (at != row) { // the order itself changed: rare, and moving is enough
            beginMoveRows({}, at, at, {}, row);
            RunEntry moved = std::move(runs_[std::size_t(at)]);
            runs_.erase(runs_.begin() + at);
            runs_.insert(runs_.begin() + row, std::move(moved));
            endMoveRows();
        }
        if (at >= 0 && !sameRow(runs_[std::size_t(row)], entry)) {
            runs_[std::size_t(row)] = entry;
            Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
        }
    }
}

int RunsModel::rowOf(const QString& id) const
{
    const auto it =
        std::find_if(runs_.begin(), runs_.end(), [&id](const RunEntry& e) { return e.id() == id; });
    return it == runs_.end() ? -1 : int(it - runs_.begin());
}

int RunsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(runs_.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunsModel::display(const RunEntry& entry, int column) const
{
    const auto verdict = verdicts_.constFind(entry.id());
    const RunVerdict* judged = verdict == verdicts_.constEnd() ? nullptr : &*verdict;
    switch (column) {
    case Mark:
        return entry.id() == runA_   ? QStringLiteral("A")
               : entry.id() == runB_ ? QStringLiteral("B")
                                     : QString();
    case StateColumn:
        return runStateText(entry, judged);
    case Name:
        return entry.name();
    case Mode:
        return entry.configReadable ? runModeText(entry.config) : QStringLiteral("-");
    case World:
        return entry.configReadable ? QString::number(entry.config.world) : QStringLiteral("-");
    case Backend:
        return entry.configReadable && entry.config.mode == "ddp" ? qs(entry.config.backend)
                                                                  : QStringLiteral("-");
    case Steps: {
        const QString done = QString::number(std::max<std::int64_t>(entry.info.lastStep, 0));
        return entry.running() && entry.config.steps > 0 ? tr("%1 / %2").arg(done).arg(entry.config.steps)
                                                         : done;
    }
    case LastLoss:
        return entry.info.lastStep > 0 ? formatLoss(entry.info.lastLoss, false) : QStringLiteral("-");
    case DivergesAt:
        if (!judged || judged->state == State::CannotCompare)
            return QStringLiteral("-");
        return judged->firstStep >= 0 ? QString::number(judged->firstStep) : tr("none");
    case Against:
        return judged ? judged->sentence : QString();
    case Time:
        return formatDuration(runElapsedMs(entry));
    case Started:
        return formatClock(entry.info.startedUnixMs);
    case Config:
        return configHash(entry);
    default:
        return {};
    }
}

QVariant RunsModel::sortKey(const RunEntry& entry, int column) const
{
    switch (column) {
    case World:
        return entry.config.world;
    case Steps:
        return qlonglong(entry.info.lastStep);
    case LastLoss:
        return entry.info.lastLoss;
    case DivergesAt:
        return qlonglong(verdicts_.value(entry.id()).firstStep);
    case Time:
        return qlonglong(runElapsedMs(entry));
    case Started:
        return qlonglong(entry.info.startedUnixMs);
    default:
        return display(entry, column);
    }
}

QVariant RunsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const RunEntry& entry = runs_[std::size_t(index.row())];
    const auto verdict = verdicts_.constFind(entry.id());
    const State state = runState(entry, verdict == verdicts_.constEnd() ? nullptr : &*verdict);
    const int column = index.column();
    const bool diverged = state == State::Diverged && (column == DivergesAt || column == Against);
    switch (role) {
    case Qt::DisplayRole:
        return display(entry, column);
    case SortRole:
        return sortKey(entry, column);
    case Qt::ToolTipRole:
        if (column == LastLoss)
            return entry.config.mode == "single"
                       ? formatExact(entry.info.lastLoss)
                       : tr("%1 on rank 0, on its own samples").arg(formatExact(entry.info.lastLoss));
        if (column == StateColumn && !entry.info.firstFailure.sentence.empty())
            return qs(entry.info.firstFailure.sentence);
        if (column == Against)
            return verdicts_.value(entry.id()).explanation;
        return column == Name || column == Mode ? display(entry, column) : QVariant();
    case Qt::TextAlignmentRole:
        switch (column) {
        case World:
        case Steps:
        case LastLoss:
        case DivergesAt:
        case Time:
        case Started:
            return int(Qt::AlignRight | Qt::AlignVCenter);
        case Mark:
            return int(Qt::AlignCenter);
        default:
            return int(Qt::AlignLeft | Qt::AlignVCenter);
        }
    case StateRole:
        return column == StateColumn ? QVariant(int(state)) : QVariant();
    case ToneRole:
        if (column == Mark)
            return int(Tone::Accent);
        if (diverged)
            return int(Tone::Red);
        if (column == Time || column == Started || column == Backend || column == Config || column == Against)
            return int(Tone::Secondary);
        return int(Tone::Normal);
    case EmphasisRole:
        return column == Mark || (diverged && column == DivergesAt) ||
               (column == Name && (entry.id() == runA_ || entry.id() == runB_ || entry.running()));
    case MonoRole:
        return column == Config;
    case IdRole:
        return entry.id();
    default:
        return {};
    }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case Mark:
        return QString();
    case StateColumn:
        return tr("state");
    case Name:
        return tr("run");
    case Mode:
        return tr("mode");
    case World:
        return tr("world");
    case Backend:
        return tr("backend");
    case Steps:
        return tr("steps");
    case LastLoss:
        return tr("last loss");
    case DivergesAt:
        return tr("diverges at");
    case Against:
        return tr("against reference");
    case Time:
        return tr("time");
    case Started:
        return tr("started");
    case Config:
        return tr("config");
    default:
        return {};
    }
}

} // namespace lockstep
