// What the data pipeline of a run is meant to do, and its simulation for any world without training. Planted
// faults (facts of the catalogue's family A, E6, F7, F9) change the simulation the way they change a real
// loader.
#pragma once

#include "core/config/run_config.h"
#include "core/gates/epoch_order.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct DataPlan {
    std::int64_t datasetSize = 0;
    int world = 1;
    std::int64_t batch = 32; // per rank and micro-batch
    int accumulate = 1;
    std::int64_t epochs = 3;
    bool shuffle = true;
    bool dropLast = false;
    std::uint64_t samplerSeed = 0;
    bool samplerSeedKnown = true; // false: a list of somebody else's sampler, order not comparable
    std::uint64_t seed = 42;      // rank r seeds its own generator with seed + r
    int workers = 2;              // loader workers per rank
    std::int64_t referenceBatch =
        0;                   // samples per optimizer step of the single-process run; 0: none to compare with
    bool script = false;     // a script under the probe: it has seeded its ranks itself
    bool evaluation = false; // an evaluation pass: every sample counts once
    std::string source = "plan"; // what was judged: "plan", "run:ID", "ids:PATH"
    std::vector<FaultSpec> faults;

    bool operator==(const DataPlan&) const = default;

    std::int64_t globalBatch() const { return batch * world * accumulate; }
    const FaultSpec* fault(const std::string& id) const;
};

std::string toJson(const DataPlan& plan);
Result<DataPlan> dataPlanFromJson(const std::string& text);
// Values that cannot be simulated: world outside 1..1024, sizes below 0, a batch of 0, more than 2^32 - 2
// samples.
Status validate(const DataPlan& plan);
// The size that the script's dataset told the probe; -1: none.
std::int64_t recordedLength(const RunConfig& config);
// Sampler, batch and seeds of a run's configuration. The dataset's size is not part of a configuration.
DataPlan planOf(const RunConfig& config, std::int64_t datasetSize);

// A number that ought to differ between ranks (worker -1: the rank's own generator) or between loader
// workers.
struct StreamDraw {
    int rank = 0;
    int worker = -1;
    std::uint64_t value = 0;
};

// One epoch of every rank. `withContents`: a stand-in content hash per sample, a function of the id alone
// (fault A7 gives every rank its own table). Throws std::bad_alloc only.
EpochOrder simulateEpoch(const DataPlan& plan, std::int64_t epoch, bool withContents = false);
// First draw of each rank's generator and of each of its loader workers in the first epoch.
std::vector<StreamDraw> simulateDraws(const DataPlan& plan);
// The batch after faults: A9 keeps the single-process batch on every rank.
std::int64_t effectiveBatch(const DataPlan& plan);

} // namespace lockstep
