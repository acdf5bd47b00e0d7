#include "ui/models/live_ranks_model.h"

#include "core/store/run_reader.h"
#include "ui/models/format.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <optional>

namespace lockstep {

namespace {

constexpr int kLookMs = 500;
constexpr double kSilentSeconds = 3; // six signs of life in a row are missing

constexpr std::array kParts = {Quantity::TimeData, Quantity::TimeForward, Quantity::TimeBackward,
                               Quantity::TimeWait, Quantity::TimeOptimizer};
static_assert(kParts.size() == LiveRank::PartCount);

qint64 monotonicNow()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return qint64(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace

struct LiveRanksModel::Source {
    explicit Source(std::string runFolder) : folder(std::move(runFolder)) {}

    std::string folder;
    std::optional<RunReader> reader;

    Answer read();
    Status readRank(LiveRank& rank, qint64 commonStep);
    // The value of this step; NaN or 0 where there is none.
    Result<std::optional<std::uint64_t>> at(int rank, Quantity quantity, qint64 step);
};

struct LiveRanksModel::Answer {
    std::vector<LiveRank> ranks;
    qint64 nowNs = 0;
    QString error;
};

Result<std::optional<std::uint64_t>> LiveRanksModel::Source::at(int rank, Quantity quantity, qint64 step)
{
    const Result<SeriesData> data = reader->read({rank, quantity, 0}, step, step + 1);
    if (!data)
        return data.error();
    return data->size() > 0 ? std::optional(data->bits.front()) : std::nullopt;
}

Status LiveRanksModel::Source::readRank(LiveRank& rank, qint64 commonStep)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto number = [&](Quantity quantity, double& out, double otherwise) -> Status {
        const auto bits = at(rank.rank, quantity, rank.step);
        if (!bits)
            return bits.error();
        out = *bits ? doubleOf(**bits) : otherwise;
        return {};
    };
    for (const auto& [quantity, field] : {std::pair{Quantity::Loss, &rank.loss},
                                          {Quantity::GradNormLocal, &rank.gradNorm},
                                          {Quantity::TimeStep, &rank.seconds}})
        if (Status read = number(quantity, *field, nan); !read)
            return read;
    for (std::size_t part = 0; part < kParts.size(); ++part)
        if (Status read = number(kParts[part], rank.parts[part], 0); !read)
            return read;
    rank.parts[LiveRank::Backward] =
        std::max(rank.parts[LiveRank::Backward] - rank.parts[LiveRank::Wait], 0.0);
    if (commonStep <= 0) // step 0 is the state before DDP has made them equal
        return {};
    const auto fingerprint = at(rank.rank, Quantity::ParamFingerprint, commonStep);
    if (!fingerprint)
        return fingerprint.error();
    rank.parameters = fingerprint->value_or(0);
    return {};
}

LiveRanksModel::Answer LiveRanksModel::Source::read()
{
    Answer answer;
    const auto failed = [&](const Error& error) {
        answer.error = qs(error.sentence());
        return answer;
    };
    if (!reader) {
        Result<RunReader> opened = RunReader::open(folder);
        if (!opened)
            return failed(opened.error());
        reader.emplace(std::move(opened).value());
    }
    const Result<std::vector<SeriesInfo>> series = reader->series();
    if (!series)
        return failed(series.error());
    const Result<std::vector<HeartbeatInfo>> beats = reader->heartbeats();
    if (!beats)
        return failed(beats.error());
    std::map<int, LiveRank> ranks;
    for (const SeriesInfo& one : *series) {
        LiveRank& rank = ranks[one.key.rank];
        rank.step = std::max<qint64>(rank.step, one.lastStep);
    }
    for (const HeartbeatInfo& beat : *beats)
        ranks[beat.rank].heartbeatNs = beat.monotonicNs;
    answer.nowNs = monotonicNow();
    qint64 commonStep = std::numeric_limits<qint64>::max();
    for (const auto& [number, rank] : ranks)
        commonStep = std::min(commonStep, rank.step);
    for (auto& [number, rank] : ranks) {
        rank.rank = number;
        if (Status read = readRank(rank, commonStep); !read)
            return failed(read.error());
        answer.ranks.push_back(rank);
    }
    return answer;
}

LiveRanksModel::LiveRanksModel(QObject* parent) : QAbstractTableModel(parent)
{
    timer_.setInterval(kLookMs);
    connect(&timer_, &QTimer::timeout, this, &LiveRanksModel::look);
}

LiveRanksModel::~LiveRanksModel() = default;

void LiveRanksModel::setRun(const RunEntry* run)
{
    if (!run) {
        timer_.stop();
        jobs_.cancel();
        source_.reset();
        run_ = {};
        beginResetModel();
        ranks_.clear();
        endResetModel();
        return;
    }
    const bool another = run->info.folder != run_.folder;
    const bool ended = run_.state != run->info.state;
    run_ = run->info;
    steps_ = run->config.steps;
    replicas_ = run->config.mode == "ddp";
    if (another) {
        jobs_.cancel();
        source_ = std::make_shared<Source>(run_.folder);
        beginResetModel();
        ranks_.clear();
        endResetModel();
    }
    if (run->running())
        timer_.start();
    else
        timer_.stop();
    if (another || ended)
        look();
}

void LiveRanksModel::look()
{
    if (!source_ || (jobs_.busy() && timer_.isActive()))
        return;
    jobs_.start([source = source_](const JobToken&) { return source->read(); },
                [this](Answer answer) { take(std::move(answer)); });
}

void LiveRanksModel::take(Answer answer)
{
    Q_EMIT problem(answer.error);
    if (!answer.error.isEmpty())
        return;
    nowNs_ = answer.nowNs;
    const auto sameRank = [](const LiveRank& a, const LiveRank& b) { return a.rank == b.rank; };
    if (std::equal(ranks_.begin(), ranks_.end(), answer.ranks.begin(), answer.ranks.end(), sameRank)) {
        ranks_ = std::move(answer.ranks);
        if (!ranks_.empty())
            Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel(); // ranks came: only at the start of a run or of a segment
    ranks_ = std::move(answer.ranks);
    endResetModel();
}

bool LiveRanksModel::partsFromOthers(const LiveRank& rank) const
{
    return replicas_ && rank.parameters != 0 && ranks_.front().parameters != 0 &&
           rank.parameters != ranks_.front().parameters;
}

double LiveRanksModel::secondsSinceSeen(const LiveRank& rank) const
{
    const double seconds = double(nowNs_ - rank.heartbeatNs) / 1e9;
    // A clock that began after the sign of life is another machine's, or that of an earlier start of this one.
    return rank.heartbeatNs < 0 || seconds < 0 ? -1 : seconds;
}

State LiveRanksModel::stateOf(const LiveRank& rank) const
{
    switch (run_.state) {
    case RunState::Running:
        return secondsSinceSeen(rank) > kSilentSeconds ? State::CannotCompare : State::Running;
    case RunState::Finished:
        return State::Holds;
    case RunState::Failed:
        return run_.firstFailure.rank == rank.rank ? State::Failed : State::Off;
    case RunState::Interrupted:
        return State::CannotCompare;
    case RunState::Stopped:
        break;
    }
    return State::Off;
}

QString LiveRanksModel::stateText(const LiveRank& rank) const
{
    switch (run_.state) {
    case RunState::Running:
        if (stateOf(rank) == State::CannotCompare)
            return tr("silent");
        return rank.step < 0 ? tr("starting") : tr("training");
    case RunState::Finished:
        return tr("finished");
    case RunState::Failed:
        return stateOf(rank) == State::Failed ? tr("failed") : tr("ended");
    case RunState::Interrupted:
        return tr("interrupted");
    case RunState::Stopped:
        break;
    }
    return tr("stopped");
}

QString LiveRanksModel::partTitle(LiveRank::Part part)
{
    switch (part) {
    case LiveRank::Data:
        return tr("data");
    case LiveRank::Forward:
        return tr("forward");
    case LiveRank::Backward:
        return tr("backward");
    case LiveRank::Wait:
        return tr("wait");
    default:
        return tr("optimizer");
    }
}

QString LiveRanksModel::text(const LiveRank& rank, int column) const
{
    const QString none = QStringLiteral("-");
    switch (column) {
    case Rank:
        return tr("rank %1").arg(rank.rank);
    case StateColumn:
        return stateText(rank);
    case Step:
        if (rank.step < 0)
            return none;
        return steps_ > 0 ? tr("%1 of %2").arg(rank.step).arg(steps_) : QString::number(rank.step);
    case Loss:
        return formatLoss(rank.step < 0 ? std::nan("") : rank.loss);
    case GradNorm:
        return formatLoss(rank.step < 0 ? std::nan("") : rank.gradNorm);
    case Milliseconds:
        return rank.step < 0 || std::isnan(rank.seconds)
                   ? none
                   : QString::number(rank.seconds * 1e3, 'f', rank.seconds < 0.01 ? 2 : 0);
    case Parameters:
        return rank.parameters == 0 ? none : formatShortHash(rank.parameters);
    case LastSeen:
        return run_.state != RunState::Running || secondsSinceSeen(rank) < 0
                   ? none
                   : tr("%1 s").arg(secondsSinceSeen(rank), 0, 'f', 1);
    default:
        return {};
    }
}

int LiveRanksModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(ranks_.size());
}

int LiveRanksModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant LiveRanksModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const LiveRank& rank = ranks_[std::size_t(index.row())];
    const int column = index.column();
    if (column == Split &&
        (role == kSharesRole || role == Qt::ToolTipRole || role == Qt::AccessibleTextRole)) {
        QVariantList shares;
        QStringList words;
        for (int part = 0; part < LiveRank::PartCount; ++part) {
            const double share = rank.seconds > 0 ? rank.parts[std::size_t(part)] / rank.seconds : 0;
            shares << std::clamp(share, 0.0, 1.0);
            words << tr("%1 %2 %").arg(partTitle(LiveRank::Part(part))).arg(share * 100, 0, 'f', 0);
        }
        if (role == kSharesRole)
            return shares;
        return rank.step < 0 ? QString() : words.join(QStringLiteral(", "));
    }
    switch (role) {
    case Qt::DisplayRole:
        return text(rank, column);
    case Qt::ToolTipRole:
        return column == Loss       ? formatExact(rank.loss)
               : column == GradNorm ? formatExact(rank.gradNorm)
               : column == Parameters && partsFromOthers(rank)
                   ? tr("Other parameters than rank 0. DDP keeps them equal; the Ranks page has the first "
                        "step.")
                   : QVariant();
    case Qt::TextAlignmentRole:
        return int(
            (column == Rank || column == StateColumn || column == Split ? Qt::AlignLeft : Qt::AlignRight) |
            Qt::AlignVCenter);
    case StateRole:
        return column == StateColumn ? QVariant(int(stateOf(rank))) : QVariant();
    case ToneRole:
        return int(column == LastSeen                              ? Tone::Secondary
                   : column == Parameters && partsFromOthers(rank) ? Tone::Red
                                                                   : Tone::Normal);
    case MonoRole:
        return column == Parameters;
    case IdRole:
        return QString::number(rank.rank);
    default:
        return {};
    }
}

QVariant LiveRanksModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case Rank:
        return tr("rank");
    case StateColumn:
        return tr("state");
    case Step:
        return tr("step");
    case Loss:
        return tr("local loss");
    case GradNorm:
        return tr("grad norm, local");
    case Split:
        return tr("where the step goes");
    case Milliseconds:
        return tr("ms");
    case Parameters:
        return tr("parameters");
    case LastSeen:
        return tr("last seen");
    default:
        return {};
    }
}

} // namespace lockstep
