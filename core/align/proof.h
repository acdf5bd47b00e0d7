// Proof by replay: a twin with the suspected cause planted is held against the observed run, bit for bit. This is the pure
// part; who runs the twin is app/cli/diagnose_proof.
//
// A cause is proven if its replay equals the observed run in every value both recorded up to a few steps after the first
// difference, and a replay without any cause does not. All causes whose replays are equal are one class: in this setting
// they are the same bits, and no comparison can tell them apart.
#pragma once

#include "core/align/diagnose.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

inline constexpr int kMaxReplays = 5;            // per diagnosis
inline constexpr std::int64_t kReplayBeyond = 3; // steps after the first difference

struct ReplayVerdict {
    bool equal = false;
    std::int64_t points = 0; // compared
    std::int64_t step = -1;  // first difference
    std::string quantity;    // name, or "event"
};

// All series both runs recorded, ranks as they are, steps from..to; and the events that tell of random seeds and of
// the dataset. Wall times and collectives, which a twin has none of, are left out. Errors: reading.
Result<ReplayVerdict> compareReplay(RunReader& replay, RunReader& observed, std::int64_t from,
                                    std::int64_t to);

struct ReplayOutcome {
    FaultSpec fault;
    enum State { Equal, Differs, Failed } state = Failed;
    ReplayVerdict verdict;
    std::string failure; // a sentence
};

// What to replay, best first, at most `limit`.
std::vector<FaultSpec> replayCandidates(const Diagnosis& diagnosis, int limit = kMaxReplays);
// The last step a replay has to reach so that everything the findings rest on is in it.
std::int64_t replayUntil(const Diagnosis& diagnosis, std::int64_t lastStep);
// A replay without a cause equals the observed run: every finding a replay could have shown is refuted.
void dropRefuted(Diagnosis& diagnosis);
// Enters the outcomes: equal ones become one proven finding, the first; differing ones go behind those not tried.
void applyReplays(Diagnosis& diagnosis, const std::vector<ReplayOutcome>& outcomes, const RunTraits& suspect);

} // namespace lockstep
