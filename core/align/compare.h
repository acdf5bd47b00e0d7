// Compares two recorded runs, quantity by quantity in causal order, and names the first divergent step of
// each.
//
// How ranks are matched
// - Both runs recorded the same ranks (DDP against DDP or its twin, single against single): rank by rank.
// - Otherwise (single against DDP or twin, two worlds): as wholes. Every run gives one value per step:
//     loss, loss_micro            mean over its ranks, weighted by tokens where both runs record them, else
//                                 by samples
//     samples, tokens, eval_samples_local   sum over its ranks
//     grad_proj_local             mean over its ranks, weighted like the loss (projections are linear)
//     sample_ids, sample_content  fingerprint of all ids (hashes) of the step: micro-batch by micro-batch,
//                                 ranks in order, from the samples records; in every mode but Exact in any
//                                 order within the step, as ranks may deal every world-th sample
//     loss_logged                 rank 0: what people see
//     everything replicated       the first rank of the smaller run against every rank of the larger (lr,
//                                 grad_norm, clipping, update_norm, parameters, optimizer, scaler, position, eval_*)
//   Not compared, with a note, because they belong to one rank: grad_norm_local, RNG, buffers, collectives.
// - Wall times are never compared. Collectives are compared only between runs that reduce in the same way.
//
// A whole-run comparison adds up in another order, so its last bits differ rightly. Without an explicit mode
// it uses the project's measured envelope; without an envelope it judges exactly and says how far apart the
// runs are (`distance`). In every mode but Exact, fingerprints of floating-point state (parameters, buffers,
// optimizer) and eval_accuracy are left out with a note: they cannot say how far.
//
// Runs that were imported from logs of other tools
// - Series that are no quantity of ours are paired by their tag, in rank-by-rank comparisons only. Times and what
//   the machine did are not compared unless they are asked for.
// - NaN equals NaN in every mode: a log holds the word, not the bits.
// - Where a compared series comes from text, runs without a difference are EqualAsPrinted, never Equal.
//
// A quantity recorded by one run only is a note, not a difference. A step that one run lacks inside the
// stretch both cover is a difference. No common point, or a rank that recorded nothing, is CannotCompare,
// never Equal.
#pragma once

#include "core/align/envelope.h"
#include "core/align/pair.h"
#include "core/align/tolerance.h"
#include "core/base/printed_digits.h"
#include "core/base/quantity.h"
#include "core/base/status.h"
#include "core/config/run_config.h"
#include "core/store/run_reader.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

enum class Verdict {
    Equal,
    EqualAsPrinted, // as far as the digits of a text log tell
    Differ,
    CannotCompare,
};
const char* verdictName(Verdict verdict); // "equal", "equal_to_printed_digits", "differ", "cannot_compare"

enum class RankMatch { RankByRank, Whole };

struct CompareOptions {
    Tolerance tolerance;
    PairBy by = PairBy::Step;
    const Envelope* envelope = nullptr; // must outlive the call; needed for mode Envelope
    std::vector<Quantity> only;         // with `tags` both empty: all that can be compared
    std::vector<std::string> tags;      // of imported runs
    std::int64_t from = 0;              // steps of A, from <= step < to
    std::int64_t to = std::numeric_limits<std::int64_t>::max();
    bool distances = false; // fill QuantityResult::distance; reads every value that is not in an equal chunk
};

// The first point at which a quantity differs.
struct FirstDifference {
    Quantity quantity = Quantity::Loss;
    std::uint16_t index = 0;
    std::string tag;        // of an imported series, as in A
    std::int64_t step = 0;  // of A
    std::int64_t stepB = 0; // the step of B it was paired with
    int rank = -1;          // -1: all ranks together
    std::string parameter;  // first parameter or buffer that differs there, where both runs recorded tensors
    std::uint64_t a = 0;    // bits, see quantityInfo(quantity)->type
    std::uint64_t b = 0;
    bool missingA = false; // this run has no value at this step
    bool missingB = false;
    double limit = 0; // what |a - b| was held against; 0 in exact mode
};

struct Distance { // over all compared points; only of F64 quantities
    double maxAbsolute = 0;
    double maxRelative = 0;
    std::uint64_t maxUlp = 0;
    std::int64_t maxStep = -1; // step of A with the largest absolute distance
    std::int64_t unequal = 0;  // points whose bits differ
};

struct QuantityResult { // of Quantity::Metric one for each tag
    Quantity quantity = Quantity::Loss;
    std::string tag;                      // of an imported series, as in A
    std::optional<PrintedDigits> printed; // of a text log: what the coarser of the two shows
    std::int64_t points = 0; // compared pairs, over all ranks and indices. After the first difference of a
                             // series the rest of it counts as compared only with CompareOptions::distances
    std::optional<FirstDifference> first; // smallest step, then rank, then index
    std::optional<Distance> distance;
};

struct NotCompared {
    Quantity quantity = Quantity::Loss;
    std::string reason;
};

struct ConfigDifference {
    std::string key, a, b;
};

struct Comparison {
    Verdict verdict = Verdict::CannotCompare;
    std::string reason; // of CannotCompare
    RankMatch match = RankMatch::RankByRank;
    Tolerance tolerance; // as applied, never Automatic
    PairBy by = PairBy::Step;
    std::int64_t firstStep = -1; // stretch of A's steps both runs cover; -1: none
    std::int64_t lastStep = -1;
    std::vector<QuantityResult> quantities; // compared, in causal order
    std::vector<NotCompared> notCompared;
    std::vector<ConfigDifference> config; // differing keys but the name; no part of the verdict

    // Those that differ, in causal order.
    std::vector<FirstDifference> first() const;
    // Where the runs part: the earliest step, and of that step the earliest link. nullptr: nowhere.
    const FirstDifference* origin() const;
};

// `ca` and `cb` are the runs' configurations. Both readers are in use until the call returns, each by one
// thread at a time. Errors are
// errors of reading or of the options; everything about the runs themselves is in the Comparison.
Result<Comparison> compareRuns(RunReader& a, const RunConfig& ca, RunReader& b, const RunConfig& cb,
                               const CompareOptions& options);

} // namespace lockstep
