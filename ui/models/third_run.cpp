#include "ui/models/third_run.h"

#include "core/gates/config_diff.h"

namespace lockstep {

namespace {

// What is trained, without how long, how it is recorded and what it is called.
RunConfig trained(RunConfig config)
{
    const RunConfig usual;
    config.name.clear();
    config.faults.clear();
    config.steps = config.epochs = 0;
    config.record = usual.record;
    config.keepSteps = usual.keepSteps;
    config.checkpointEvery = config.logEvery = config.evalEvery = 0;
    config.resume.clear();
    return config;
}

} // namespace

QString thirdRun(const ProjectSnapshot& snapshot, const QString& reference, const QString& run)
{
    const RunEntry *a = snapshot.run(reference), *b = snapshot.run(run);
    if (!a || !b || !b->configReadable || b->config.mode == "single" || b->config.mode == "twin")
        return {};
    RunConfig wanted;
    if (a->config.mode == "twin") {
        wanted = trained(alignedSingle(b->config));
    } else if (a->config.mode == "single") {
        wanted = trained(b->config);
        wanted.mode = "twin";
    } else {
        return {};
    }
    for (const RunEntry& other : snapshot.runs)
        if (other.configReadable && other.info.lastStep >= 1 && other.auxiliary() == b->auxiliary() &&
            other.config.faults.empty() && trained(other.config) == wanted)
            return other.id();
    return {};
}

} // namespace lockstep
