#include "core/gates/precision_checkpoint.h"

#include "core/gates/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace lockstep {

namespace {

GateCheck& add(std::vector<GateCheck>& checks, const char* id, bool holds, std::string value,
               std::string limit, std::string sentence)
{
    GateCheck check;
    check.id = id;
    check.verdict = holds ? "pass" : "fail";
    check.value = std::move(value);
    check.limit = std::move(limit);
    check.sentence = std::move(sentence);
    checks.push_back(std::move(check));
    return checks.back();
}

void cannotJudge(std::vector<GateCheck>& checks, const char* id, std::string why)
{
    add(checks, id, false, "not judged", "", std::move(why)).verdict = "cannot_judge";
}

void saved(const CheckpointFacts& checkpoint, std::vector<GateCheck>& checks)
{
    if (checkpoint.path.empty())
        return cannotJudge(checks, "precision.saved", "The run of all ranks saved no checkpoint half-way.");
    add(checks, "precision.saved", checkpoint.fault.empty(),
        checkpoint.fault.empty() ? fmt::format("{} keys", grouped(checkpoint.keys)) : "not usable",
        "every byte",
        checkpoint.fault.empty()
            ? "The checkpoint of the ranks opens in our own reader; every byte was checked."
            : checkpoint.fault);
    GateCheck& prefix = add(checks, "precision.prefix", checkpoint.prefixed.empty(),
                            grouped(std::int64_t(checkpoint.prefixed.size())), "0",
                            "Keys that DDP left its prefix on do not load in one process.");
    if (!checkpoint.prefixed.empty()) {
        prefix.parameter = checkpoint.prefixed.front();
        prefix.fix = "Save model.module.state_dict(), or strip the prefix with lockstep-cli ckpt convert";
    }
    GateCheck& parts =
        add(checks, "precision.parts", checkpoint.missing.empty(),
            checkpoint.missing.empty() ? fmt::format("{} parts", checkpoint.present.size())
                                       : fmt::format("missing: {}", fmt::join(checkpoint.missing, ", ")),
            "model, optimizer, scheduler, scaler with fp16, random numbers",
            fmt::format("The checkpoint has {}.", fmt::join(checkpoint.present, ", ")));
    if (!checkpoint.missing.empty())
        parts.fix = "Save these parts too: without them a resumed run is another run";
}

void python(const CheckpointFacts& checkpoint, std::vector<GateCheck>& checks)
{
    if (checkpoint.path.empty() || !checkpoint.pythonAsked)
        return cannotJudge(checks, "precision.python",
                           checkpoint.python.empty() ? std::string("There is no Python with torch here.")
                                                     : checkpoint.python);
    GateCheck& check =
        add(checks, "precision.python", checkpoint.pythonLoads,
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
