#include "core/host/recorder.h"

#include <cmath>
#include <limits>
#include <utility>

namespace lockstep {

namespace {
constexpr int kCommitIntervalMs = 100;
}

Recorder::Recorder(RunWriter writer, int world, std::string reason, QObject* parent)
    : QObject(parent),
      writer_(std::move(writer)),
      world_(world),
      reason_(std::move(reason)),
      ranks_(std::size_t(world)),
      lastLoss_(std::numeric_limits<double>::quiet_NaN()),
      committedLoss_(lastLoss_)
{
    timer_.setSingleShot(true);
    timer_.setInterval(kCommitIntervalMs);
    connect(&timer_, &QTimer::timeout, this, &Recorder::commit);
}

void Recorder::wake()
{
    if (!paused_ && !timer_.isActive())
        timer_.start();
}

void Recorder::beginSegment(int world, std::string reason, std::int64_t resumedStep)
{
    world_ = world;
    resumedStep_ = resumedStep;
    reason_ = std::move(reason);
    ranks_.assign(std::size_t(world), {});
    segmentBegun_ = false;
}

Status Recorder::begin(std::int64_t step)
{
    if (segmentBegun_)
        return {};
    segmentBegun_ = true;
    return writer_.beginSegment(step, world_, reason_);
}

template<typename Record>
Status Recorder::appendOfStep(const Record& record)
{
    if (Status begun = begin(record.step); !begun)
        return begun;
    wake();
    return writer_.append(record);
}

Status Recorder::append(const StepRecord& record)
{
    if (isKnown(record.step))
        return {};
    if (Status status = appendOfStep(record); !status)
        return status;
    ranks_[std::size_t(record.rank)].step = record.step;
    if (record.rank == 0)
        for (const StepValue& value : record.values)
            if (value.quantity == Quantity::Loss && value.index == 0)
                lastLoss_ = doubleOf(value.bits);
    return {};
}

Status Recorder::append(const SamplesRecord& record)
{
    return isKnown(record.step) ? Status() : appendOfStep(record);
}

Status Recorder::append(const TensorRecord& record)
{
    return isKnown(record.step) ? Status() : appendOfStep(record);
}

Status Recorder::append(const EventRecord& record)
{
    wake();
    return writer_.append(record);
}

Status Recorder::setProperty(const std::string& key, const std::string& value)
{
    wake();
    return writer_.setProperty(key, value);
}

void Recorder::heartbeat(const wire::Heartbeat& beat)
{
    RankTail& rank = ranks_[std::size_t(beat.rank)];
    rank.beat = beat;
    rank.beatIsNew = true;
    wake();
}

std::int64_t Recorder::lastStep(int rank) const
{
    return ranks_[std::size_t(rank)].step;
}

Status Recorder::writeHeartbeats()
{
    for (RankTail& rank : ranks_) {
        if (!rank.beatIsNew)
            continue;
        if (Status status = writer_.heartbeat(rank.beat.rank, rank.beat.step, rank.beat.monotonicNs); !status)
            return status;
        rank.beatIsNew = false;
    }
    return {};
}

void Recorder::noteCommitted()
{
    if (lastStep(0) >= 0) // a new segment has none yet
        committedStep_ = lastStep(0);
    committedLoss_ = lastLoss_;
}

void Recorder::commit()
{
    Status status = writeHeartbeats();
    if (status)
        status = writer_.commit();
    if (!status) {
        paused_ = true;
        Q_EMIT failed(status.error());
        return;
    }
    noteCommitted();
    Q_EMIT committed();
}

Status Recorder::finish()
{
    timer_.stop();
    paused_ = true;
    if (Status status = writeHeartbeats(); !status)
        return status;
    if (Status status = writer_.finish(); !status)
        return status;
    noteCommitted();
    return {};
}

} // namespace lockstep
