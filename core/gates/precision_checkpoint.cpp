#include "core/gates/precision_checkpoint.h"

#include "core/gates/gate_check.h"
#include "core/gates/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace lockstep {

namespace {

void saved(const CheckpointFacts& checkpoint, std::vector<GateCheck>& checks)
{
    if (checkpoint.path.empty()) {
        addUnjudged(checks, "precision.saved", "The run of all ranks saved no checkpoint half-way.");
        return;
    }
    addCheck(checks, "precision.saved", checkpoint.fault.empty(),
             checkpoint.fault.empty() ? fmt::format("{} keys", grouped(checkpoint.keys)) : "not usable",
             "every byte",
             checkpoint.fault.empty()
                 ? "The checkpoint of the ranks opens in our own reader; every byte was checked."
                 : checkpoint.fault);
    GateCheck& prefix = addCheck(checks, "precision.prefix", checkpoint.prefixed.empty(),
                                 grouped(std::int64_t(checkpoint.prefixed.size())), "0",
                                 "Keys that DDP left its prefix on do not load in one process.");
    if (!checkpoint.prefixed.empty()) {
        prefix.parameter = checkpoint.prefixed.front();
        prefix.fix = "Save model.module.state_dict(), or strip the prefix with lockstep-cli ckpt convert";
    }
    GateCheck& parts =
        addCheck(checks, "precision.parts", checkpoint.missing.empty(),
                 checkpoint.missing.empty() ? fmt::format("{} parts", checkpoint.present.size())
                                            : fmt::format("missing: {}", fmt::join(checkpoint.missing, ", ")),
                 "model, optimizer, scheduler, scaler with fp16, random numbers",
                 fmt::format("The checkpoint has {}.", fmt::join(checkpoint.present, ", ")));
    if (!checkpoint.missing.empty())
        parts.fix = "Save these parts too: without them a resumed run is another run";
}

void python(const CheckpointFacts& checkpoint, std::vector<GateCheck>& checks)
{
    if (checkpoint.path.empty() || !checkpoint.pythonAsked) {
        addUnjudged(checks, "precision.python",
                    checkpoint.python.empty() ? std::string("There is no Python with torch here.")
                                              : checkpoint.python);
        return;
    }
    GateCheck& check =
        addCheck(checks, "precision.python", checkpoint.pythonLoads,
                 checkpoint.pythonLoads ? fmt::format("{} tensors", grouped(checkpoint.pythonTensors))
                                        : std::string("does not load"),
                 "loads", checkpoint.python);
    if (!checkpoint.pythonLoads)
        check.fix = "Run lockstep-cli ckpt verify on the file; it names the part torch stumbles over";
}

} // namespace

std::vector<GateCheck> judgeCheckpoint(const CheckpointFacts& checkpoint)
{
    std::vector<GateCheck> checks;
    saved(checkpoint, checks);
    python(checkpoint, checks);
    return checks;
}

} // namespace lockstep
