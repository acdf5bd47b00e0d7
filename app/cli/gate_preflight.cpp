#include "app/cli/gate_request.h"
#include "core/gates/preflight.h"
#include "core/store/run_reader.h"

#include <algorithm>

namespace lockstep {

namespace {

// The rate of the first optimizer step on rank 0.
Result<std::optional<double>> firstRate(const std::optional<RunInfo>& run)
{
    if (!run)
        return std::optional<double>();
    Result<RunReader> reader = RunReader::open(run->folder);
    if (!reader)
        return reader.error();
    const Result<SeriesData> rates = reader->read({0, Quantity::LearningRate, 0}, 1, 2);
    if (!rates)
        return rates.error().kind == ErrorKind::NotFound ? Result(std::optional<double>()) : rates.error();
    return rates->size() == 0 ? std::optional<double>() : std::optional(rates->value(0));
}

Result<std::optional<SampleAgreement>> recordedSamples(const std::optional<RunInfo>& single,
                                                       const std::optional<RunInfo>& ddp, int world)
{
    if (!single || !ddp)
        return std::optional<SampleAgreement>();
    Result<RunReader> a = RunReader::open(single->folder);
    if (!a)
        return a.error();
    Result<RunReader> b = RunReader::open(ddp->folder);
    if (!b)
        return b.error();
    return compareSamples(*a, *b, world, std::min(single->lastStep, ddp->lastStep));
}

// What the run's ranks reported, else what a worker reports now.
Result<EnvironmentReport> environmentOf(const std::optional<RunInfo>& run, const RunConfig& config)
{
    if (run && run->environmentJson.size() > 2)
        return EnvironmentReport::fromJson(run->environmentJson);
    return askWorker(config);
}

} // namespace

Result<GateInfo> judgePreflightPhase(ProjectStore& project, const GateRequest& request)
{
    Result<std::optional<RunInfo>> ddpRun = newestSeveral(project, request);
    if (!ddpRun)
        return ddpRun.error();
    Result<std::optional<RunInfo>> singleRun = newestSingle(project, request.single, *ddpRun);
    if (!singleRun)
        return singleRun.error();
    if (request.configGiven)
        ddpRun->reset(); // another configuration than the one that ran is meant
    Result<RunConfig> ddp = intendedDdp(project, request, *ddpRun);
    if (!ddp)
        return ddp.error();

    PreflightInput input;
    input.ddp = *ddp;
    input.single = alignedSingle(*ddp);
    if (*ddpRun)
        input.ddpName = (*ddpRun)->id;
    if (*singleRun) {
        Result<RunConfig> single = runConfigFromJson((*singleRun)->configJson);
        if (!single)
            return single.error();
        input.single = *single;
        input.singleName = (*singleRun)->id;
    }
    Result<EnvironmentReport> ddpEnvironment = environmentOf(*ddpRun, input.ddp);
    if (!ddpEnvironment)
        return ddpEnvironment.error();
    Result<EnvironmentReport> singleEnvironment =
        *singleRun ? environmentOf(*singleRun, input.single) : Result(*ddpEnvironment);
    if (!singleEnvironment)
        return singleEnvironment.error();
    input.ddpEnvironment = *ddpEnvironment;
    input.singleEnvironment = *singleEnvironment;
    Result<std::optional<double>> singleRate = firstRate(*singleRun);
    if (!singleRate)
        return singleRate.error();
    Result<std::optional<double>> ddpRate = firstRate(*ddpRun);
    if (!ddpRate)
        return ddpRate.error();
    input.singleRate = *singleRate;
    input.ddpRate = *ddpRate;
    Result<std::optional<SampleAgreement>> samples = recordedSamples(*singleRun, *ddpRun, input.ddp.world);
    if (!samples)
        return samples.error();
    input.samples = std::move(samples).value();
    input.machine = readMachine();
    return judgePreflight(input);
}

} // namespace lockstep
