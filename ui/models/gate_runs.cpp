#include "ui/models/gate_runs.h"

#include "core/gates/gradients_plan.h"
#include "core/gates/precision_plan.h"
#include "ui/models/format.h"
#include "ui/models/runs_model.h"

#include <QCoreApplication>

#include <algorithm>
#include <string>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::GateRuns)
};

// What stands in one cell: the planned names of its runs, and where the id of the last one is to be kept.
struct CellPlan {
    QString title;
    std::vector<std::string> names;
    QString GateRuns::*id = nullptr;
};

// One cell for all runs of a role; `found` holds null for those that were not started yet.
GateRunCell cellOf(const QString& title, const std::vector<const RunEntry*>& found)
{
    GateRunCell cell;
    cell.title = title;
    const RunEntry* newest = nullptr;
    int done = 0;
    std::int64_t elapsed = 0;
    double steps = 0;
    for (const RunEntry* run : found) {
        if (!run)
            continue;
        newest = run;
        elapsed +=
            run->running() ? 0 : std::max<std::int64_t>(run->info.endedUnixMs - run->info.startedUnixMs, 0);
        done += run->info.state == RunState::Finished;
        steps += run->config.steps > 0
                     ? double(std::max<std::int64_t>(run->info.lastStep, 0)) / double(run->config.steps)
                     : 0;
    }
    const int all = int(found.size());
    cell.progress = done == all ? 1 : std::clamp(steps / all, 0.0, 1.0);
    if (!newest) {
        cell.detail = Tr::tr("waiting");
    } else if (newest->running()) {
        cell.state = State::Running;
        cell.detail = all > 1 ? Tr::tr("%1 of %2").arg(done).arg(all)
                              : Tr::tr("%1 of %2")
                                    .arg(std::max<std::int64_t>(newest->info.lastStep, 0))
                                    .arg(newest->config.steps);
    } else if (newest->info.state == RunState::Finished) {
        cell.state = done == all ? State::Holds : State::Running;
        cell.detail = all > 1 ? Tr::tr("%1 of %2").arg(done).arg(all) : formatDuration(elapsed);
    } else {
        cell.state = State::Failed;
        cell.detail = runStateText(*newest, nullptr);
    }
    return cell;
}

const RunEntry* newestNamed(const ProjectSnapshot& snapshot, const std::string& name, std::int64_t sinceMs)
{
    for (const RunEntry& run : snapshot.runs) // newest first
        if (run.info.name == name && run.info.startedUnixMs >= sinceMs)
            return &run;
    return nullptr;
}

// The newest judgement begins with its baseline, the first name of the first cell.
GateRuns runsOf(const ProjectSnapshot& snapshot, const RunEntry& baseline, const std::vector<CellPlan>& plan)
{
    GateRuns out;
    for (const CellPlan& cell : plan) {
        std::vector<const RunEntry*> found;
        for (const std::string& name : cell.names)
            found.push_back(name == baseline.info.name
                                ? &baseline
                                : newestNamed(snapshot, name, baseline.info.startedUnixMs));
        for (const RunEntry* run : found)
            if (run && run->running())
                out.running = run->id();
        out.cells.push_back(cellOf(cell.title, found));
        if (cell.id && !found.empty() && found.back())
            out.*cell.id = found.back()->id();
    }
    return out;
}

template<typename Plan, typename Role>
std::vector<std::string> namesOf(const Plan& plan, Role role)
{
    std::vector<std::string> names;
    for (const auto& planned : plan)
        if (planned.role == role)
            names.push_back(planned.config.name);
    return names;
}

} // namespace

GateRuns gradientsGateRuns(const ProjectSnapshot& snapshot)
{
    const RunEntry* baseline = newestNamed(snapshot, "gate-single", 0);
    if (!baseline)
        return {};
    using Role = GradientsRun::Role;
    GradientsRequest request;
    request.world = std::max(baseline->config.alignWorld, 1);
    const std::vector<GradientsRun> plan = gradientsPlan(request);
    return runsOf(
        snapshot, *baseline,
        {{Tr::tr("one process"), namesOf(plan, Role::Baseline), &GateRuns::baseline},
         {Tr::tr("DDP, 1 rank"), namesOf(plan, Role::DdpOne)},
         {Tr::tr("DDP, %n rank(s)", nullptr, request.world), namesOf(plan, Role::Ddp), &GateRuns::ddp},
         {Tr::tr("repeats"), namesOf(plan, Role::Repeat)},
         {Tr::tr("DDP as trained"), namesOf(plan, Role::Random), &GateRuns::random},
         {Tr::tr("twin"), namesOf(plan, Role::Twin), &GateRuns::twin}});
}

GateRuns precisionGateRuns(const ProjectSnapshot& snapshot)
{
    const RunEntry* baseline = newestNamed(snapshot, "gate-amp-single", 0);
    if (!baseline)
        return {};
    using Role = PrecisionRun::Role;
    PrecisionRequest request;
    request.world = std::max(baseline->config.alignWorld, 1);
    const std::vector<PrecisionRun> plan = precisionPlan(request);
    return runsOf(
        snapshot, *baseline,
        {{Tr::tr("one process"), namesOf(plan, Role::Single), &GateRuns::baseline},
         {Tr::tr("DDP, %n rank(s)", nullptr, request.world), namesOf(plan, Role::Ddp), &GateRuns::ddp},
         {Tr::tr("resumed"), namesOf(plan, Role::Resumed)},
         {Tr::tr("DDP to one"), namesOf(plan, Role::DdpToSingle)},
         {Tr::tr("one to DDP"), namesOf(plan, Role::SingleToDdp)},
         {Tr::tr("repeats"), namesOf(plan, Role::Repeat)}});
}

} // namespace lockstep
