// Single process against DDP, key by key: what must agree, what may differ and why. Only keys with an effect on the
// mathematics are judged; differing keys without one are listed as such.
#pragma once

#include "core/config/run_config.h"
#include "core/gates/sample_agreement.h"
#include "core/store/project_store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// A single run that trains on the global batches of `ddp`, as `run --mode single --order aligned --align-world W` does.
RunConfig alignedSingle(const RunConfig& ddp);

struct ConfigDiffRow {
    std::string key;
    std::string single;
    std::string ddp;
    std::string effect; // "changes the maths", "declared", "no effect"
    std::string check;  // id of the check that judges this key; empty: none does
};

// Keys whose values differ.
std::vector<ConfigDiffRow> differingKeys(const RunConfig& single, const RunConfig& ddp);

// How a script is called and deals its samples: between two scripts the recorded samples decide over that, not the key.
bool isDealingOfScript(const std::string& key);

// One check per judged key: global batch, learning rate (with the scaling rule), accumulation, dtype, sampler order,
// shuffle, drop_last, seeds, dataset, model, optimizer and scheduler arguments, clipping. `samples`: what the two runs
// recorded, where they did; it decides over the order of scripts, whose samplers no setting describes.
std::vector<GateCheck> configChecks(const RunConfig& single, const RunConfig& ddp,
                                    const SampleAgreement* samples = nullptr);

} // namespace lockstep
