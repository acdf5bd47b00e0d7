// The part of RunController that lets a run go on with another number of ranks: the escape hatch, and the way back up.
#include "core/config/json.h"
#include "core/host/launch_environment.h"
#include "core/host/rank_files.h"
#include "core/host/run_control.h"
#include "core/host/run_controller_rank.h"
#include "core/host/switch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace lockstep {

namespace {

// The most ranks, `left` at most, that the run's ranks can be dealt to evenly: so every micro-batch keeps its samples.
int evenShare(int world, int left)
{
    for (int ranks = std::min(world, left); ranks > 1; --ranks)
        if (world % ranks == 0)
            return ranks;
    return 1;
}

// "step_00000200.pt" -> 200.
std::int64_t stepOf(const std::string& checkpoint)
{
    const std::size_t name = checkpoint.rfind("step_");
    return name == std::string::npos ? -1 : std::atoll(checkpoint.c_str() + name + 5);
}

} // namespace

Status RunController::requestSwitch(int world)
{
    if (Status possible = checkSwitch(options_.config, world); !possible)
        return possible;
    if (phase_ != Phase::Running)
        return Error{ErrorKind::Busy, "The run cannot be switched now", "its ranks are ending",
                     "Try again once it runs"};
    if (world == world_)
        return {};
    switchTo_ = world;
    event("switch", fmt::format("{{\"from\":{},\"to\":{}}}", world_, world));
    phase_ = Phase::Stopping;
    for (const auto& rank : ranks_)
        rank->process->requestStop();
    killTimer_.start(options_.stopGraceMs);
    return {};
}

void RunController::watchForSwitch()
{
    const int world = takeSwitchRequest(row_.info().folder);
    if (world == 0)
        return;
    if (Status asked = requestSwitch(world); !asked)
        Q_EMIT notice(QString::fromStdString(asked.error().sentence()));
}

bool RunController::goOn(const std::vector<RankEnd>& ends, const RunVerdict& verdict)
{
    const bool switched = switchTo_ > 0 && verdict.state == RunState::Stopped;
    const bool lost = options_.restart.armed && !stopRequested_ && verdict.state == RunState::Failed &&
                      verdict.kind == ErrorKind::RunFailed && options_.config.mode == "ddp" &&
                      segment_ <= options_.restart.most && recorderError_.empty();
    if (!switched && !lost)
        return false;
    const std::string checkpoint = newestCheckpoint(row_.info().folder);
    if (checkpoint.empty())
        return false; // nothing to go on from; the verdict stands
    const int left = std::max(1, world_ - lostRanks(ends));
    const int world = switched                        ? switchTo_
                      : options_.restart.toOneProcess ? 1
                                                      : evenShare(options_.config.world, left);
    const char* reason = world < world_ ? "degrade" : world > world_ ? "restore" : "restart";
    switchTo_ = 0;
    if (Status begun = beginSegment(world, reason, checkpoint); !begun) {
        RunVerdict impossible = verdict;
        impossible.state = RunState::Failed;
        impossible.kind = begun.error().kind;
        impossible.firstFailure = {-1, recorder_->committedStep(), begun.error().sentence()};
        conclude(impossible);
    }
    return true;
}

Status RunController::beginSegment(int world, const std::string& reason, const std::string& checkpoint)
{
    ++segment_;
    config_ = options_.config;
    config_.world = world;
    config_.mode = world > 1 ? options_.config.mode : "single";
    config_.resume = checkpoint;
    // What was planted to break the run has done so.
    std::erase_if(config_.faults, [](const FaultSpec& fault) { return fault.id.starts_with("drill-"); });
    world_ = world;
    endedByDeadline_ = false;
    peerTimedOut_ = false;
    if (Status written = writeConfig(); !written)
        return written;
    Result<ListenSocket> rendezvous = ListenSocket::open();
    if (!rendezvous)
        return rendezvous.error();
    rendezvous_ = std::make_unique<ListenSocket>(std::move(rendezvous).value());
    ingest_ = std::make_unique<IngestServer>(world_, static_cast<IngestSink&>(*this), replayed_);
    if (Status listening = ingest_->listen(); !listening)
        return listening;
    // Errors of the last segment are not those of this one.
    for (int rank = 0; rank < options_.config.world; ++rank)
        std::remove(rankErrorFile(row_.info().folder, rank).c_str());
    recorder_->beginSegment(world_, reason, stepOf(checkpoint));
    launch();
    event("segment", fmt::format("{{\"world\":{},\"reason\":\"{}\"}}", world_, reason));
    return {};
}

} // namespace lockstep
