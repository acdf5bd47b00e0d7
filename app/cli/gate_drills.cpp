#include "app/cli/gate_drills.h"

#include "app/cli/degrade_runs.h"
#include "core/host/launch_environment.h"

#include <QCoreApplication>
#include <QDateTime>

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace lockstep {

namespace {

constexpr std::int64_t kDegradeSteps = 500;

std::string line(const GateCheck& check)
{
    return fmt::format("{}  {}  {} (limit {})", check.verdict == "pass" ? "holds" : "fails", check.id,
                       check.value, check.limit);
}

} // namespace

Result<GateInfo> runDrillsGate(CliContext& context, const std::string& folder, const RunConfig& base,
                               const std::function<void(const std::string&)>& progress)
{
    QCoreApplication app(context.argc, context.argv);
    StopSignals signals;
    const Result<std::string> worker = findWorker();
    if (!worker)
        return worker.error();
    const DrillSession session{folder, *worker, signals};
    DrillSetup setup;
    setup.base = base;
    setup.timeout = base.collectiveTimeoutSeconds;
    if (base.checkpointEvery > 0)
        setup.checkpointEvery = base.checkpointEvery;

    GateInfo gate;
    gate.phase = "drills";
    gate.configJson = toJson(base);
    const auto keep = [&](GateCheck check) {
        progress(line(check));
        gate.checks.push_back(std::move(check));
    };
    const Result<TimeoutAdvice> advice = measureTimeout(session, setup);
    if (!advice)
        return advice.error();
    keep(gateCheck(*advice));
    setup.timeout = advice->timeout;
    std::mt19937_64 draw(std::random_device{}());
    for (const DrillInfo& info : allDrills()) {
        const Result<DrillOutcome> outcome = playDrill(session, planDrill(info.kind, setup, -1, 0, draw()));
        if (!outcome)
            return outcome.error();
        keep(gateCheck(*outcome));
    }
    DegradeSetup degrade;
    degrade.drill = setup;
    degrade.drill.timeout = base.collectiveTimeoutSeconds;
    degrade.steps = kDegradeSteps;
    degrade.toOneProcess = true;
    Result<DegradeReference> reference = DegradeReference::measure(session, degrade);
    if (!reference)
        return reference.error();
    const Result<DegradeOutcome> outcome = playDegrade(session, degrade, *reference, draw());
    if (!outcome)
        return outcome.error();
    keep(gateCheck(*outcome));

    gate.verdict = std::all_of(gate.checks.begin(), gate.checks.end(),
                               [](const GateCheck& check) { return check.verdict == "pass"; })
                       ? "pass"
                       : "fail";
    gate.judgedUnixMs = QDateTime::currentMSecsSinceEpoch();
    return gate;
}

} // namespace lockstep
