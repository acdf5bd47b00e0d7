#include "core/gates/precision_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

namespace {

constexpr std::int64_t kLeastSteps = 10;
constexpr int kRepeats = 7; // with the single run 8; see gradients_plan.cpp
constexpr int kMostRotations = 3;
constexpr const char* kDefaultAmp = "bf16";
constexpr double kDefaultClip = 1.0;

RunConfig common(const PrecisionRequest& request, const char* mode, const std::string& name)
{
    RunConfig config = request.base;
    config.mode = mode;
    config.steps = std::max(request.steps, kLeastSteps);
    config.epochs = 0;
    config.order = "aligned";
    if (config.amp == "off")
        config.amp = kDefaultAmp;
    if (config.clipNorm == 0 && config.clipValue == 0)
        config.clipNorm = kDefaultClip;
    config.dropout = 0; // one process draws other masks than several do
    config.resume.clear();
    config.checkpointEvery = 0;
    config.name = name;
    const bool single = std::string_view(mode) == "single";
    config.world = single ? 1 : request.world;
    config.alignWorld = single ? request.world : 1;
    if (single)
        config.faults.clear(); // a fault belongs to the DDP side; the single run is the reference
    return config;
}

} // namespace

std::int64_t halfOf(const PrecisionRequest& request)
{
    return std::max(request.steps, kLeastSteps) / 2;
}

std::vector<PrecisionRun> precisionPlan(const PrecisionRequest& request)
{
    using Role = PrecisionRun::Role;
    const auto several = [&request](const char* name) { return fmt::format("{}-w{}", name, request.world); };
    std::vector<PrecisionRun> plan;
    plan.push_back({Role::Single, common(request, "single", "gate-amp-single"), {}});
    plan.push_back({Role::Ddp, common(request, "ddp", several("gate-amp-ddp")), {}});
    for (PrecisionRun& run : plan)
        run.config.checkpointEvery = halfOf(request);
    plan.push_back({Role::Resumed, common(request, "ddp", several("gate-amp-resumed")), Role::Ddp});
    RunConfig down = common(request, "single", "gate-amp-ddp-to-single");
    down.alignWorld = 1; // how the batch is dealt, the checkpoint decides
    plan.push_back({Role::DdpToSingle, down, Role::Ddp});
    plan.push_back(
        {Role::SingleToDdp, common(request, "ddp", several("gate-amp-single-to-ddp")), Role::Single});
    // Allowed perturbations: other orders of summation, and the ranks' micro-batches one after the other instead of joined,
    // since a short format rounds, and overflows, by the size of what it adds up.
    const int rotations = std::min(request.world - 1, kMostRotations);
    for (int i = 1; i <= kRepeats; ++i) {
        RunConfig repeat = common(request, "single", fmt::format("gate-amp-repeat-{}", i));
        const int more = i - rotations;
        if (more <= 0) {
            repeat.joinFrom = i;
        } else {
            repeat.threads += more / 2;
            if (more % 2 == 1) {
                repeat.dataWorld = request.world;
                repeat.alignWorld = 1;
            }
        }
        plan.push_back({Role::Repeat, repeat, {}});
    }
    return plan;
}

std::vector<std::string> switchedOn(const RunConfig& base)
{
    std::vector<std::string> on;
    if (base.amp == "off")
        on.push_back(fmt::format("mixed precision ({})", kDefaultAmp));
    if (base.clipNorm == 0 && base.clipValue == 0)
        on.push_back(fmt::format("clipping by norm ({})", kDefaultClip));
    return on;
}

} // namespace lockstep
