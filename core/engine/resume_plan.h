// What a checkpoint of this engine says about the run that wrote it, and how another run goes on from there. Plain
// values; the tensors stay in the file (restore.h).
#pragma once

#include "core/base/status.h"
#include "core/ckpt/checkpoint.h"
#include "core/config/run_config.h"
#include "core/engine/data_order.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct SavedRun {
    RunConfig config;
    std::int64_t step = 0; // finished optimizer steps
    std::int64_t optimizerSteps = 0;
    std::int64_t samplesSeen = 0;
    std::int64_t tokensSeen = 0;
    DataPosition position;
    std::uint64_t orderSeed = 0;
    std::vector<std::uint64_t> baseSeeds; // by rank of the data; never empty
    std::int64_t schedulerEpoch = 0;
    std::int64_t schedulerPeriod = 0;
    double rate = 0; // of the next step
};

// Errors: a file that is not a checkpoint of this engine, or lacks a part; the sentence names the first missing key.
Result<SavedRun> readSavedRun(const Checkpoint& checkpoint);

struct ResumePlan {
    // The wanted configuration with what the checkpoint decides: how the global batch is dealt, the options of the
    // optimizer, the period of the schedule.
    RunConfig config;
    DataPosition position;
    bool sameRanks = false; // as many processes as wrote it, each with the data it had
};

// How a run of this configuration goes on from the saved one, with the same global batch and every sample of the epoch
// once:
//  - The same ranks: as it was.
//  - Fewer processes whose number divides the saved ranks: samples stay dealt to the saved ranks, each process
//    accumulates the micro-batches of several (dataWorld).
//  - Otherwise, where the number of processes divides the global batch: dealt anew; micro-batches get as large as the
//    saved ones at most, and accumulation makes up for the rest.
// Errors (Usage): another workload, optimizer or schedule; a global batch that cannot be divided; in the middle of an
// epoch also another order of the samples.
Result<ResumePlan> planResume(const RunConfig& wanted, const SavedRun& saved, std::int64_t datasetSize);

} // namespace lockstep
