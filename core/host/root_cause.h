// Which rank broke a run, and why. A pure function over what the host saw of every rank, so that it can be
// tested without processes.
//
// Rules (facts behind them: a lost peer shows up on the survivors within milliseconds as a connection error, a hanging peer as a
// timeout):
//  - A rank whose error only echoes a peer's end (Goodbye::secondary, or one of gloo's connection and timeout texts) never wins
//    over a rank with a cause of its own. Nor does a rank that the host itself ended.
//  - Among causes of their own the earliest wins; times are CLOCK_MONOTONIC nanoseconds of this machine.
//  - A rank that lost its connection to the host stops by itself (exit code of a stop, no Goodbye): the run failed, and the lost
//    connection is the cause. If all ranks lost it at once, no rank is to blame.
//  - If there are only echoes, a rank that stayed silent until the host ended it is the one the others waited for.
#pragma once

#include "core/base/status.h"
#include "core/store/run_info.h"
#include "core/wire/codec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

enum class EndKind { NotStarted, Exited, Signalled };

// The file a worker leaves at TORCHELASTIC_ERROR_FILE, in torch elastic's form.
struct ErrorFile {
    std::string message;
};

// What the host knows of one rank after its process has ended and its stream has been read to the end.
struct RankEnd {
    int rank = 0;
    EndKind how = EndKind::Exited;
    int code = 0;                 // exit code, or the number of the signal
    std::int64_t endedNs = 0;     // when the host saw the end
    bool mustReport = true;       // a Goodbye belongs to a good end (not with --record off)
    bool endedByHost = false;     // the host had sent it a signal because the run was over
    std::int64_t stepAtEnd = -1;  // the step it was working on; -1: training had not begun
    std::int64_t lastHeardNs = 0; // when the host last got anything from it
    bool connectionLost = false;  // its stream ended before a Goodbye
    std::string reason; // NotStarted: why; otherwise a defect of its stream that the host found, or empty
    std::string lastLogLine;
    std::optional<wire::Goodbye> goodbye;
    std::optional<ErrorFile> errorFile;
};

struct StopFacts {
    bool requested = false;
    double waitedSeconds = 0; // before the host killed ranks that did not stop; 0: it did not
};

struct RunVerdict {
    RunState state = RunState::Finished;
    std::vector<int> exitCodes; // by rank; 128 + n for signal n, 127 for a rank that could not be started
    FirstFailure firstFailure;
    ErrorKind kind = ErrorKind::RunFailed; // of a failed run; Environment when it could not begin
};

// `ranks` in rank order, one entry per rank.
RunVerdict judgeRun(std::span<const RankEnd> ranks, const StopFacts& stop);

// How many ranks of a failed run are not there any more: the first cause, and what broke with it. Ranks that only noticed
// could go on.
int lostRanks(std::span<const RankEnd> ranks);

// True for the texts by which gloo and the TCP store report that a peer vanished or did not answer in time.
bool isEchoOfPeer(std::string_view message);
// Those of them that say that a peer did not answer in time, rather than that it vanished.
bool isTimeoutOfPeer(std::string_view message);

} // namespace lockstep
