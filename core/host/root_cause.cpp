#include "core/host/root_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <tuple>

namespace lockstep {

namespace {

constexpr int kWorkerUnusable = 3;  // the worker's exit code for configuration or environment
constexpr int kWorkerStopped = 143; // after SIGTERM: step finished, checkpoint saved
constexpr int kLoaderFailed = 127;  // the dynamic loader's exit code, also a shell's "not found"

// Worse evidence has a larger number.
enum class Standing { OwnCause = 0, Silent = 1, Echo = 2 };

bool endedWell(const RankEnd& end)
{
    if (end.how != EndKind::Exited || end.code != 0 || !end.reason.empty())
        return false;
    return end.goodbye ? end.goodbye->exitCode == 0 : !end.mustReport;
}

// Stopped on request, or by somebody's SIGTERM to this very rank.
bool endedByStop(const RankEnd& end, const StopFacts& stop)
{
    if (end.endedByHost && !stop.requested)
        return false; // the host brought it down after another rank's failure
    return (end.how == EndKind::Exited && end.code == kWorkerStopped) ||
           (end.how == EndKind::Signalled && end.code == SIGTERM) ||
           (end.goodbye && end.goodbye->kind == "stopped");
}

bool saidError(const RankEnd& end)
{
    return end.goodbye && end.goodbye->kind == "error";
}

Standing standing(const RankEnd& end)
{
    if (saidError(end))
        return end.goodbye->secondary || isEchoOfPeer(end.goodbye->sentence) ? Standing::Echo
                                                                             : Standing::OwnCause;
    if (end.errorFile)
        return isEchoOfPeer(end.errorFile->message) ? Standing::Echo : Standing::OwnCause;
    return end.endedByHost ? Standing::Silent : Standing::OwnCause;
}

std::int64_t failureTime(const RankEnd& end)
{
    return saidError(end) && end.goodbye->monotonicNs > 0 ? std::min(end.goodbye->monotonicNs, end.endedNs)
                                                          : end.endedNs;
}

std::int64_t failureStep(const RankEnd& end)
{
    return end.goodbye && end.goodbye->step >= 0 ? end.goodbye->step : end.stepAtEnd;
}

std::string place(const RankEnd& end)
{
    const std::int64_t step = failureStep(end);
    return step < 0 ? "before its first step" : fmt::format("in step {}", step);
}

std::string logHint(const RankEnd& end)
{
    return fmt::format("Read rank{}.log in the run's folder", end.rank);
}

std::string lastLine(const RankEnd& end)
{
    return end.lastLogLine.empty() ? std::string("its log is empty")
                                   : fmt::format("the last line of its log is \"{}\"", end.lastLogLine);
}

std::string signalSentence(const RankEnd& end)
{
    const char* abbreviation = sigabbrev_np(end.code);
    const std::string name =
        abbreviation ? fmt::format("SIG{}", abbreviation) : fmt::format("signal {}", end.code);
    switch (end.code) {
    case SIGSEGV:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGSYS:
        return Error{ErrorKind::RunFailed,
                     fmt::format("Rank {} crashed with {} {}", end.rank, name, place(end)), lastLine(end),
                     logHint(end)}
            .sentence();
    case SIGKILL:
        return Error{ErrorKind::RunFailed,
                     fmt::format("Rank {} was killed with {} {}", end.rank, name, place(end)),
                     "Another process did this, or the kernel because memory ran out",
                     "Look for memory lines in the kernel log (dmesg), then start the run again"}
            .sentence();
    default:
        return Error{ErrorKind::RunFailed,
                     fmt::format("Rank {} was ended with {} {}", end.rank, name, place(end)),
                     "Another process sent this signal", "Start the run again"}
            .sentence();
    }
}

std::string exitSentence(const RankEnd& end)
{
    if (end.code == 0)
        return Error{ErrorKind::RunFailed,
                     fmt::format("Rank {} ended {} without its last report", end.rank, place(end)),
                     "Its exit code is 0, but records of its last steps may be missing", logHint(end)}
            .sentence();
    if (end.code == kLoaderFailed && end.lastLogLine.find("shared librar") != std::string::npos)
        return Error{ErrorKind::Environment, "The training engine cannot start", end.lastLogLine,
                     "Run ./dev setup, which installs torch 2.15.0, and start the run again"}
            .sentence();
    return Error{ErrorKind::RunFailed,
                 fmt::format("Rank {} ended with exit code {} {}", end.rank, end.code, place(end)),
                 fmt::format("It gave no reason; {}", lastLine(end)), logHint(end)}
        .sentence();
}

std::string sentence(const RankEnd& end)
{
    if (end.how == EndKind::NotStarted)
        return Error{ErrorKind::Environment, fmt::format("Rank {} cannot be started", end.rank), end.reason,
                     "Build lockstep-worker, or set LOCKSTEP_WORKER to its path"}
            .sentence();
    if (!end.reason.empty())
        return end.reason;
    if (saidError(end) && !end.goodbye->sentence.empty())
        return end.goodbye->sentence;
    if (end.errorFile && !end.errorFile->message.empty())
        return Error{ErrorKind::RunFailed, fmt::format("Rank {} failed {}", end.rank, place(end)),
                     end.errorFile->message, logHint(end)}
            .sentence();
    return end.how == EndKind::Signalled ? signalSentence(end) : exitSentence(end);
}

std::string silentSentence(const RankEnd& silent, const RankEnd& witness)
{
    return Error{ErrorKind::RunFailed,
                 fmt::format("Rank {} stopped answering {}", silent.rank, place(silent)),
                 fmt::format("rank {} waited for it in vain: {}", witness.rank, sentence(witness)),
                 fmt::format("Look at what rank {} does in that step; its log is rank{}.log", silent.rank,
                             silent.rank)}
        .sentence();
}

int exitCode(const RankEnd& end)
{
    if (end.how == EndKind::NotStarted)
        return kLoaderFailed;
    // A rank that had announced its exit code and was only cut short in its waiting counts as announced.
    if (end.endedByHost && end.goodbye)
        return end.goodbye->exitCode;
    return end.how == EndKind::Signalled ? 128 + end.code : end.code;
}

bool couldNotBegin(const RankEnd& end)
{
    return end.how == EndKind::NotStarted ||
           (end.how == EndKind::Exited && (end.code == kWorkerUnusable || end.code == kLoaderFailed));
}

bool containsAny(std::string_view message, std::span<const std::string_view> texts)
{
    return std::any_of(texts.begin(), texts.end(),
                       [&](std::string_view text) { return message.find(text) != std::string_view::npos; });
}

// Stopped by itself because nobody listened any more.
bool lostItsHost(const RankEnd& end)
{
    return end.connectionLost && end.mustReport && !end.goodbye && end.how == EndKind::Exited &&
           end.code == kWorkerStopped;
}

FirstFailure lostConnection(std::span<const RankEnd> ranks, const RankEnd& first)
{
    const auto count = std::count_if(ranks.begin(), ranks.end(), lostItsHost);
    const bool all = std::size_t(count) == ranks.size() && count > 1;
    const std::string who = all ? fmt::format("All {} ranks", count) : fmt::format("Rank {}", first.rank);
    return {all ? -1 : first.rank, failureStep(first),
            Error{ErrorKind::RunFailed,
                  fmt::format("{} lost the connection to the recording host {}", who, place(first)),
                  "Ranks stop by themselves when nobody records them, and save first",
                  "Look at the network between the ranks and the host, then resume from the last checkpoint"}
                .sentence()};
}

RunVerdict stoppedVerdict(std::span<const RankEnd> ranks, const StopFacts& stop, RunVerdict verdict)
{
    verdict.state = RunState::Stopped;
    for (const RankEnd& end : ranks)
        if (end.endedByHost && end.how == EndKind::Signalled && end.code == SIGKILL && !end.goodbye) {
            verdict.firstFailure = {
                end.rank, failureStep(end),
                Error{ErrorKind::RunFailed,
                      fmt::format("Rank {} did not stop {} and was killed", end.rank, place(end)),
                      fmt::format("It had {:.0f} s to finish the step and save", stop.waitedSeconds),
                      "The last checkpoint before it is the one to resume from"}
                    .sentence()};
            break;
        }
    return verdict;
}

} // namespace

int lostRanks(std::span<const RankEnd> ranks)
{
    int own = 0, silent = 0;
    for (const RankEnd& end : ranks) {
        const bool stopped = end.goodbye && end.goodbye->kind == "stopped";
        if (endedWell(end) || lostItsHost(end) || stopped)
            continue;
        own += standing(end) == Standing::OwnCause;
        silent += standing(end) == Standing::Silent;
    }
    // With a cause at hand, who was silent had only no time to say that it noticed.
    return own > 0 ? own : silent;
}

bool isEchoOfPeer(std::string_view message)
{
    static constexpr std::array<std::string_view, 4> kTexts = {"Connection closed by peer",
                                                               "Connection reset by peer", "Broken pipe",
                                                               "Gloo connectFullMesh failed"};
    return containsAny(message, kTexts) || isTimeoutOfPeer(message);
}

bool isTimeoutOfPeer(std::string_view message)
{
    static constexpr std::array<std::string_view, 5> kTexts = {
        "Application timeout caused pair closure", "Timed out waiting", "failed to pass monitoredBarrier",
        "wait timeout after", "Socket Timeout"};
    return containsAny(message, kTexts);
}

RunVerdict judgeRun(std::span<const RankEnd> ranks, const StopFacts& stop)
{
    RunVerdict verdict;
    std::vector<const RankEnd*> bad;
    bool stopped = stop.requested;
    for (const RankEnd& end : ranks) {
        verdict.exitCodes.push_back(exitCode(end));
        if (endedByStop(end, stop))
            stopped = true;
        else if (!endedWell(end))
            bad.push_back(&end);
    }
    if (const auto lost = std::find_if(ranks.begin(), ranks.end(), lostItsHost);
        lost != ranks.end() && !stop.requested) {
        verdict.state = RunState::Failed;
        verdict.firstFailure = lostConnection(ranks, *lost);
        return verdict;
    }
    const auto ownCause = [](const RankEnd* end) { return standing(*end) == Standing::OwnCause; };
    if (stopped && std::none_of(bad.begin(), bad.end(), ownCause))
        return bad.empty() && std::all_of(ranks.begin(), ranks.end(), endedWell)
                   ? verdict // the request came after the last step
                   : stoppedVerdict(ranks, stop, std::move(verdict));
    if (bad.empty())
        return verdict;

    verdict.state = RunState::Failed;
    const RankEnd& first = **std::min_element(bad.begin(), bad.end(), [](const RankEnd* a, const RankEnd* b) {
        const Standing standingA = standing(*a), standingB = standing(*b);
        if (standingA != standingB)
            return standingA < standingB;
        // Of several silent ranks the one that got least far held up the others.
        const std::int64_t orderA = standingA == Standing::Silent ? failureStep(*a) : failureTime(*a);
        const std::int64_t orderB = standingB == Standing::Silent ? failureStep(*b) : failureTime(*b);
        // Ranks that wait for each other are in the same step: then the one that was silent for longest.
        return std::tie(orderA, a->lastHeardNs, a->rank) < std::tie(orderB, b->lastHeardNs, b->rank);
    });
    verdict.firstFailure = {first.rank, failureStep(first), sentence(first)};
    verdict.kind = couldNotBegin(first) ? ErrorKind::Environment : ErrorKind::RunFailed;
    if (standing(first) == Standing::Silent) {
        const auto witness = std::find_if(
            bad.begin(), bad.end(), [](const RankEnd* end) { return standing(*end) == Standing::Echo; });
        if (witness != bad.end())
            verdict.firstFailure.sentence = silentSentence(first, **witness);
    }
    return verdict;
}

} // namespace lockstep
