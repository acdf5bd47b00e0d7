// The part of RunController that takes what the ranks send: records go to the store, last words to the ranks' files.
#include "core/host/run_controller_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

constexpr int kSilentGraceMs = 500; // for the others to report, once one has waited in vain for a peer
constexpr int kLastSilentMs = 100;  // once all others have, for the one they waited for

} // namespace

void RunController::event(const std::string& kind, const std::string& detail)
{
    EventRecord record;
    record.step = std::max<std::int64_t>(0, recorder_->lastStep(0));
    record.kind = kind;
    record.monotonicNs = monotonicNs();
    record.detail = detail;
    keep(-1, recorder_->append(record));
}

// A record that cannot be stored makes the run incomplete, so it ends the run; nothing is dropped in silence.
void RunController::keep(int number, const Status& stored)
{
    if (stored)
        return;
    if (number < 0 || stored.error().kind != ErrorKind::Input) {
        onRecorderFailed(stored.error());
        return;
    }
    onBroken(number, stored.error());
}

// What follows a defect in a rank's stream is not stored: the records end at the last good one.
bool RunController::isSound(int rank) const
{
    return ranks_[std::size_t(processOf(rank))]->defect.empty();
}

void RunController::onHello(const wire::Hello& hello)
{
    timeline(hello.rank, "join", monotonicNs(), fmt::format("{{\"pid\":{}}}", hello.pid));
    if (hello.rank != 0)
        return;
    keep(-1, recorder_->setProperty("environment", hello.environmentJson));
    tell(row_.setEnvironment(hello.environmentJson));
}

void RunController::onStep(const StepRecord& record)
{
    if (!isSound(record.rank))
        return;
    keep(processOf(record.rank), recorder_->append(record));
    Rank& rank = *ranks_[std::size_t(processOf(record.rank))];
    rank.lastHeardNs = monotonicNs();
    if (record.step > 0 && !std::exchange(rank.stepped, true))
        timeline(processOf(record.rank), "first_step", rank.lastHeardNs, "{}");
    drillWhenDue(record);
}

void RunController::onSamples(const SamplesRecord& record)
{
    if (isSound(record.rank))
        keep(processOf(record.rank), recorder_->append(record));
}

void RunController::onTensor(const TensorRecord& record)
{
    if (isSound(record.rank))
        keep(processOf(record.rank), recorder_->append(record));
}

void RunController::onEvent(const EventRecord& record)
{
    if (!isSound(record.rank))
        return;
    keep(processOf(record.rank), recorder_->append(record));
    tell(row_.addCheckpoint(record));
}

void RunController::onHeartbeat(const wire::Heartbeat& heartbeat)
{
    if (!isSound(heartbeat.rank))
        return;
    ranks_[std::size_t(heartbeat.rank)]->lastHeardNs = monotonicNs();
    if (heartbeat.stage != wire::Stage::Start)
        ranks_[std::size_t(heartbeat.rank)]->heartbeatStep = heartbeat.step;
    recorder_->heartbeat(heartbeat);
}

void RunController::onGoodbye(const wire::Goodbye& goodbye)
{
    ranks_[std::size_t(goodbye.rank)]->goodbye = goodbye;
    if (goodbye.kind == "stopped" && phase_ == Phase::Running)
        requestStop(
            fmt::format("rank {}", goodbye.rank)); // somebody stopped one rank: the others cannot go on alone
    else if (goodbye.kind == "error") {
        noteGoodbye(goodbye);
        onRankFailed(goodbye.rank);
        // The peers of a rank that hangs have waited for all their patience: they report within moments of each other,
        // and who has not done so by then is the one they waited for.
        peerTimedOut_ = peerTimedOut_ || isTimeoutOfPeer(goodbye.sentence);
        if (peerTimedOut_ && phase_ == Phase::Failing) {
            graceTimer_.stop();
            const auto silent = std::count_if(ranks_.begin(), ranks_.end(),
                                              [](const auto& rank) { return !rank->end && !rank->goodbye; });
            killWithin(silent > 1 ? kSilentGraceMs : kLastSilentMs);
        }
    }
}

// Without a Goodbye the process is ending or has lost its way. Its end will tell; a process that goes on
// without its connection would train unrecorded.
void RunController::onClosed(int number)
{
    Rank& rank = *ranks_[std::size_t(number)];
    rank.connectionLost = !rank.goodbye;
    if (!rank.end && !rank.goodbye && phase_ == Phase::Running)
        onRankFailed(number);
}

void RunController::onBroken(int number, const Error& error)
{
    Rank& rank = *ranks_[std::size_t(number)];
    if (!rank.defect.empty())
        return;
    rank.defect = Error{ErrorKind::Corrupt, fmt::format("The records of rank {} cannot be used", number),
                        fmt::format("{}: {}", error.what, error.why), error.fix}
                      .sentence();
    if (!rank.end)
        rank.process->kill();
    onRankFailed(number);
}

} // namespace lockstep
