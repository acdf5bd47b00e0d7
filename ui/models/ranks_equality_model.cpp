#include "ui/models/ranks_equality_model.h"

#include "ui/models/format.h"

#include <QCoreApplication>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::RanksEqualityModel)
};

QString nameOf(Quantity quantity)
{
    switch (quantity) {
    case Quantity::ParamFingerprint:
        return Tr::tr("parameters");
    case Quantity::OptimizerFingerprint:
        return Tr::tr("optimizer state");
    case Quantity::BufferFingerprint:
        return Tr::tr("buffers");
    case Quantity::SampleIds:
        return Tr::tr("sample ids");
    case Quantity::RngCpu:
        return Tr::tr("generator state");
    default:
        return {};
    }
}

State stateOf(const RankEquality& row)
{
    if (row.steps == 0)
        return State::CannotCompare;
    if (row.broken())
        return State::Diverged;
    return row.rule == RankEquality::Rule::Told ? State::None : State::Holds;
}

} // namespace

QString equalitySentence(const RankEquality& row)
{
    if (row.rule == RankEquality::Rule::Distinct)
        return Tr::tr("rank %1 has the %2 of rank %3 from step %4")
            .arg(row.repeatedRank)
            .arg(nameOf(row.quantity))
            .arg(row.repeatedOf)
            .arg(row.firstRepeated);
    if (row.differentRanks > 1)
        return Tr::tr("%1 differ on %2 of %3 ranks from step %4")
            .arg(nameOf(row.quantity))
            .arg(row.differentRanks)
            .arg(row.ranks)
            .arg(row.firstDifferent);
    return Tr::tr("%1 differ on rank %2 from step %3")
        .arg(nameOf(row.quantity))
        .arg(row.differentRank)
        .arg(row.firstDifferent);
}

QString equalityExplanation(const RankEquality& row)
{
    switch (row.quantity) {
    case Quantity::SampleIds:
        return Tr::tr(
            "Each rank must train on samples of its own. Check the sampler: number of replicas, rank, seed.");
    case Quantity::OptimizerFingerprint:
        return Tr::tr("Every rank must hold the same optimizer state. Check what is stepped or loaded on one "
                      "rank only.");
    default:
        return row.firstDifferent <= 0 ? Tr::tr("Every rank must start from the same parameters. Check "
                                                "seeds, loading, and that DDP wraps the "
                                                "model before training.")
                                       : Tr::tr("Every rank must hold the same parameters after every step. "
                                                "Check what one rank changes or "
                                                "skips outside the reduction.");
    }
}

RanksEqualityModel::RanksEqualityModel(QObject* parent) : QAbstractTableModel(parent)
{
    connect(&loader_, &SeriesLoader::rowsArrived, this,
            [this](const QString& id, const std::vector<SeriesRows>& rows, bool restart) {
                if (id == runId_)
                    scan(rows, restart, false);
            });
    // Only once everything is read, so that no rank is taken for missing whose rows are still under way.
    connect(&loader_, &SeriesLoader::idle, this, [this] {
        if (!live_ && !runId_.isEmpty())
            scan({}, false, true);
    });
    connect(&loader_, &SeriesLoader::problem, this,
            [this](const QString&, const QString& sentence) { Q_EMIT problem(sentence); });
}

void RanksEqualityModel::setRun(const RunEntry* run)
{
    const QString id = run ? run->id() : QString();
    const QString folder = run ? qs(run->info.folder) : QString();
    const bool live = run && run->running();
    if (id == runId_ && folder == folder_ && live == live_)
        return;
    if (id != runId_ || folder != folder_) {
        jobs_.cancel();
        scan_ = std::make_shared<RanksEqualityScan>();
        setRows({});
    }
    runId_ = id;
    folder_ = folder;
    live_ = live;
    ranks_ = run ? run->config.world : 0;
    sharded_ = run && run->config.mode == "fsdp";
    if (!run) {
        loader_.setRequests({});
        return;
    }
    const auto wanted = RanksEqualityScan::quantities();
    loader_.setRequests({{id, folder, live, {wanted.begin(), wanted.end()}}});
}

void RanksEqualityModel::scan(std::vector<SeriesRows> rows, bool restart, bool ended)
{
    if (restart)
        scan_ = std::make_shared<RanksEqualityScan>();
    jobs_.startNext(
        [scan = scan_, rows = std::move(rows), ranks = ranks_, ended, sharded = sharded_](const JobToken&) {
            for (const SeriesRows& one : rows)
                scan->append(one.key, one.rows->steps, one.rows->bits);
            scan->compare(ranks, ended);
            return scan->result(sharded);
        },
        [this, scan = scan_](std::vector<RankEquality> result) {
            if (scan == scan_)
                setRows(std::move(result));
        });
}

void RanksEqualityModel::setRows(std::vector<RankEquality> rows)
{
    if (rows.size() == rows_.size() && !rows_.empty()) {
        rows_ = std::move(rows);
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    } else if (!rows.empty() || !rows_.empty()) {
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
    }
    Q_EMIT changed();
}

std::optional<RankEquality> RanksEqualityModel::firstBroken() const
{
    std::optional<RankEquality> first;
    for (const RankEquality& row : rows_)
        if (row.broken() && (!first || row.step() < first->step()))
            first = row;
    return first;
}

int RanksEqualityModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(rows_.size());
}

int RanksEqualityModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString RanksEqualityModel::text(const RankEquality& row, int column) const
{
    if (column == What)
        return nameOf(row.quantity);
    const QString steps = tr("%n step(s)", nullptr, int(row.steps));
    if (row.steps == 0)
        return column == Verdict ? tr("cannot compare")
               : row.ranks < 2   ? tr("recorded by %n rank(s)", nullptr, row.ranks)
                                 : tr("no common step yet");
    if (row.broken()) {
        if (column == Verdict)
            return row.rule == RankEquality::Rule::Equal ? tr("differ") : tr("repeat");
        return row.rule == RankEquality::Rule::Equal
                   ? (row.differentRanks > 1
                          ? tr("%1 ranks, step %2").arg(row.differentRanks).arg(row.firstDifferent)
                          : tr("rank %1, step %2").arg(row.differentRank).arg(row.firstDifferent))
                   : tr("rank %1 as %2, step %3")
                         .arg(row.repeatedRank)
                         .arg(row.repeatedOf)
                         .arg(row.firstRepeated);
    }
    if (row.firstDifferent < 0)
        return column == Verdict ? tr("equal") : steps;
    if (row.firstRepeated < 0)
        return column == Verdict ? tr("%1 distinct").arg(row.ranks) : steps;
    return column == Verdict ? tr("not all equal") : tr("from step %1").arg(row.firstDifferent);
}

QVariant RanksEqualityModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const RankEquality& row = rows_[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return text(row, index.column());
    case Qt::ToolTipRole:
        if (row.broken())
            return equalitySentence(row);
        if (row.quantity == Quantity::BufferFingerprint && row.firstDifferent >= 0)
            return tr("Running values of BatchNorm are each rank's own between two steps.");
        return {};
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (index.column() == Detail ? Qt::AlignRight : Qt::AlignLeft));
    case StateRole:
        return index.column() == Verdict ? QVariant(int(stateOf(row))) : QVariant();
    case EmphasisRole:
        return row.broken() && index.column() == Verdict;
    case ToneRole:
        return int(row.broken() && index.column() == Detail ? Tone::Red
                   : index.column() == Detail               ? Tone::Secondary
                                                            : Tone::Normal);
    case SortRole:
        return qlonglong(row.broken() ? row.step() : -1);
    default:
        return {};
    }
}

QVariant RanksEqualityModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case What:
        return tr("what");
    case Verdict:
        return tr("on all ranks");
    case Detail:
        return tr("where");
    default:
        return {};
    }
}

} // namespace lockstep
