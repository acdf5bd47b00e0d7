#include "core/gates/gradients_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

namespace {

constexpr std::int64_t kPublishedBatches = 10;
constexpr int kRepeats =
    7; // with the baseline 8 runs: an envelope wants 5, and fewer make it wide (envelope.h)

RunConfig common(const GradientsRequest& request)
{
    RunConfig config = request.base;
    config.steps = std::max(request.steps, kPublishedBatches);
    config.epochs = 0;
    config.order = "aligned";
    config.amp = "off";
    config.clipNorm = 0;
    config.clipValue = 0;
    config.resume.clear();
    config.checkpointEvery = 0;
    return config;
}

RunConfig onOneProcess(const GradientsRequest& request, const char* mode, const std::string& name)
{
    RunConfig config = common(request);
    config.mode = mode;
    config.world = 1;
    config.alignWorld = request.world;
    config.dropout = 0;
    config.name = name;
    config.faults.clear(); // a fault belongs to the DDP side; the baseline is the reference
    return config;
}

RunConfig onAllRanks(const GradientsRequest& request, const char* mode, const std::string& name)
{
    RunConfig config = common(request);
    config.mode = mode;
    config.world = request.world;
    config.alignWorld = 1;
    config.name = name;
    return config;
}

} // namespace

std::vector<GradientsRun> gradientsPlan(const GradientsRequest& request)
{
    using Role = GradientsRun::Role;
    std::vector<GradientsRun> plan;
    plan.push_back({Role::Baseline, onOneProcess(request, "single", "gate-single")});

    RunConfig ddpOne = onOneProcess(request, "ddp", "gate-ddp-w1");
    ddpOne.faults = request.base.faults;
    plan.push_back({Role::DdpOne, ddpOne});

    RunConfig ddp = onAllRanks(request, "ddp", fmt::format("gate-ddp-w{}", request.world));
    ddp.dropout = 0;
    ddp.record = "tensor"; // names the parameter that differs first, and those without a gradient
    plan.push_back({Role::Ddp, ddp});

    // Allowed perturbations: the ranks' shares summed in another order, then other numbers of threads.
    const int rotations = std::min(request.world - 1, kRepeats - 2);
    for (int i = 1; i <= kRepeats; ++i) {
        RunConfig repeat = onOneProcess(request, "single", fmt::format("gate-repeat-{}", i));
        repeat.joinFrom = i <= rotations ? i : 0;
        repeat.threads = i <= rotations ? request.base.threads : request.base.threads + (i - rotations);
        plan.push_back({Role::Repeat, repeat});
    }

    plan.push_back({Role::Random, onAllRanks(request, "ddp", fmt::format("gate-random-w{}", request.world))});
    RunConfig twin = onAllRanks(request, "twin", fmt::format("gate-twin-w{}", request.world));
    twin.faults.clear();
    plan.push_back({Role::Twin, twin});
    return plan;
}

std::vector<std::string> forcedOff(const RunConfig& base)
{
    std::vector<std::string> off;
    if (base.amp != "off")
        off.push_back(fmt::format("mixed precision ({})", base.amp));
    if (base.clipNorm > 0)
        off.push_back(fmt::format("clipping by norm ({})", base.clipNorm));
    if (base.clipValue > 0)
        off.push_back(fmt::format("clipping by value ({})", base.clipValue));
    return off;
}

} // namespace lockstep
