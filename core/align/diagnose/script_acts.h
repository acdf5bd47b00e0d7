// What a script of the user's own did beside its numbers, as the probe told it in events (resources/python/lockstep_probe/
// acts.py). Runs of the engine have none of these events.
#pragma once

#include "core/align/diagnose/run_trace.h"

#include <string>
#include <vector>

namespace lockstep::align {

// Whether the run is a script of the user's own.
bool isUsersScript(const RunTraits& traits);

// A setting by its name in RunConfig; "" where there is none.
std::string settingOf(const RunTraits& traits, const char* key);
// Whether the script calls the collective by itself ("all_gather").
bool callsCollective(const RunTraits& traits, const char* name);
// Whether more than one optimizer trains.
bool severalOptimizers(const RunTraits& traits);
// Whether gradients were summed in a narrower format than float32 at the step, as the run recorded.
bool sumsNarrow(const RunTrace& run, std::int64_t step);

// How a step's micro-batches went through DistributedDataParallel, one entry per backward pass.
struct ReductionActs {
    std::vector<std::string> forward;  // "sync", "no_sync", "bypassed": the wrapper was not called
    std::vector<std::string> backward; // "sync", "no_sync"
};
// nullopt: nothing is known, for instance because there is no wrapper.
std::optional<ReductionActs> reductionActs(const RunTrace& run, std::int64_t step);

// What the script multiplied the loss of each micro-batch of the step by, the last factor first, as last told. Empty: by nothing.
using LossFactors = std::vector<std::vector<double>>;
LossFactors lossFactors(const RunTrace& run, int rank, std::int64_t step);
double product(const std::vector<double>& factors);

// How the script scales its loss otherwise than the reference's script does; nullopt: alike, not by one factor, or not known
// at this step, because the factors change too often to be told.
struct LossScaling {
    double factor = 1;               // on the gradient of these backward passes, against the reference
    std::vector<std::size_t> micros; // counted from 0
    bool whole = false;              // they are all of the step
    bool summed = false;             // each run multiplies by the samples of its own micro-batch
    bool notDivided = false; // the reference divides by the number of its micro-batches, the run by nothing
};
std::optional<LossScaling> lossScaling(const RunTrace& reference, const RunTrace& suspect, std::int64_t step);

// How the schedules were made, and how often the suspect's stepped in one optimizer step at most; nullopt: not recorded.
struct ScheduleActs {
    std::string own, theirs;
    int calls = 0; // 0: never, as where it steps once an epoch and there was one
};
std::optional<ScheduleActs> scheduleActs(const RunTrace& reference, const RunTrace& suspect);

// Whether the backward passes saw a DistributedDataParallel wrapper, however often what they did with it changed.
bool hasWrapper(const RunTrace& run);
// The scaler's factor that was still on the gradients when they were clipped at the step; nullopt: none.
std::optional<double> clippedScaled(const RunTrace& run, int rank, std::int64_t step);

// The last step up to `step` after which state was loaded into a model or an optimizer; -1: none.
std::int64_t lastLoad(const RunTrace& run, std::int64_t step);

// Copies of the model that no optimizer trains, as averages of the weights are.
struct ModelCopies {
    std::string module;     // its class; empty: no copy was seen
    std::int64_t step = -1; // at which it was looked at last
    bool moved = false;
};
ModelCopies modelCopies(const RunTrace& run);
// Whether samples come in batches of varying shapes: a padded sample's content is that of its batch.
bool shapesVary(const RunTrace& run);
// Whether parameters that no optimizer has, as those of a momentum encoder, ever moved.
bool followersMove(const RunTrace& run);

// Ranks that reduce no gradients and average their parameters between the steps.
struct ParameterAveraging {
    std::int64_t first = -1;   // the first step after which they did; -1: never
    std::int64_t stopped = -1; // the step from which on they no longer do; -1: they go on
};
ParameterAveraging parameterAveraging(const RunTrace& run);

// Generators beside torch's that are drawn from between a batch and its backward pass.
struct OtherDraws {
    std::vector<std::string> generators;
    std::int64_t steps = 0; // of the first few: those with a draw
    bool alike = false;     // on all ranks from the same state
};
OtherDraws otherDraws(const RunTrace& run);
// Whether there are such draws in each of the steps that are watched for them.
bool drawsBesideTorch(const RunTrace& run);

// Whether the gradient scaler skips the step in one run and not in the other.
bool skippedInOne(const RunTrace& reference, const RunTrace& suspect, std::int64_t step);

// Parameters that were unfrozen, as the run said; step -1: none.
struct Unfreezing {
    std::int64_t step = -1;
    std::vector<std::string> names;
};
Unfreezing unfreezing(const RunTrace& run);

} // namespace lockstep::align
