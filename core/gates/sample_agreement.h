// Whether two runs trained on the same samples, step by step, as their ranks recorded them: the only thing that counts where
// a script deals its samples itself and no sampler's name or seed can say it.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"
#include "core/store/run_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct SampleAgreement {
    bool byContent = false;     // ids were not recorded: compared by content hashes
    std::int64_t steps = 0;     // compared
    std::int64_t differing = 0; // of them
    std::int64_t padded = 0; // equal, except for samples that DDP repeats so that all ranks get equally many
    std::int64_t firstStep = -1;
    std::vector<std::int64_t> onlySingle, onlyDdp; // ids of the first differing step, at most 8 each

    bool equal() const { return steps > 0 && differing == 0; }
};

// Samples of all ranks and micro-batches of a step together; their order within the step is no difference. Steps after
// `lastStep` and those that only one run made are left out. nullopt: one of the runs recorded neither ids nor hashes, or they have
// no step in common.
Result<std::optional<SampleAgreement>> compareSamples(RunReader& single, RunReader& ddp, int world,
                                                      std::int64_t lastStep);

// A script that was run under the probe, not a workload of the engine: engine options say nothing to it.
bool isScript(const RunConfig& config);
// Its order is that of torch's DistributedSampler, whose seed is recorded; false: a sampler or batch sampler of its own.
bool usesDistributedSampler(const RunConfig& config);

} // namespace lockstep
