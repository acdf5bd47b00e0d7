#include "core/gates/sample_agreement.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace lockstep {

namespace {

constexpr std::int64_t kSteps = 512; // in memory at once
constexpr std::size_t kExamples = 8;

struct StepSamples {
    std::vector<std::int64_t> ids;
    std::vector<std::int64_t> contents; // hashes, as signed numbers
    bool idsKnown = true, contentsKnown = true;
};
using Samples = std::map<std::int64_t, StepSamples>; // by step

Result<Samples> readSteps(RunReader& run, int world, std::int64_t from)
{
    Samples steps;
    for (int rank = 0; rank < world; ++rank) {
        Result<std::vector<SamplesRecord>> records = run.samples(rank, from, from + kSteps);
        if (!records)
            return records.error();
        for (const SamplesRecord& record : *records) {
            StepSamples& step = steps[record.step];
            step.idsKnown = step.idsKnown && !record.ids.empty();
            step.contentsKnown = step.contentsKnown && !record.hashes.empty();
            step.ids.insert(step.ids.end(), record.ids.begin(), record.ids.end());
            for (const std::uint64_t hash : record.hashes)
                step.contents.push_back(std::int64_t(hash));
        }
    }
    return steps;
}

std::vector<std::int64_t> missingIn(const std::vector<std::int64_t>& has,
                                    const std::vector<std::int64_t>& lacks)
{
    std::vector<std::int64_t> only;
    std::set_difference(has.begin(), has.end(), lacks.begin(), lacks.end(), std::back_inserter(only));
    only.resize(std::min(only.size(), kExamples));
    return only;
}

void compareStep(std::int64_t number, StepSamples& single, StepSamples& ddp, int world, SampleAgreement& sum)
{
    const bool ids = single.idsKnown && ddp.idsKnown;
    if (!ids && (!single.contentsKnown || !ddp.contentsKnown))
        return;
    std::vector<std::int64_t>& a = ids ? single.ids : single.contents;
    std::vector<std::int64_t>& b = ids ? ddp.ids : ddp.contents;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    ++sum.steps;
    sum.byContent = sum.byContent || !ids;
    if (a == b)
        return;
    if (b.size() > a.size() && b.size() - a.size() < std::size_t(world) &&
        std::includes(b.begin(), b.end(), a.begin(), a.end())) {
        ++sum.padded;
        return;
    }
    if (sum.differing++ > 0)
        return;
    sum.firstStep = number;
    if (ids) {
        sum.onlySingle = missingIn(a, b);
        sum.onlyDdp = missingIn(b, a);
    }
}

std::string option(const RunConfig& config, const char* name)
{
    const auto it = config.workloadOptions.find(name);
    return it == config.workloadOptions.end() ? std::string() : it->second;
}

} // namespace

Result<std::optional<SampleAgreement>> compareSamples(RunReader& single, RunReader& ddp, int world,
                                                      std::int64_t lastStep)
{
    SampleAgreement sum;
    for (std::int64_t from = 1; from <= lastStep; from += kSteps) {
        Result<Samples> a = readSteps(single, 1, from);
        if (!a)
            return a.error();
        Result<Samples> b = readSteps(ddp, world, from);
        if (!b)
            return b.error();
        for (auto& [step, samples] : *a)
            if (const auto it = b->find(step); it != b->end())
                compareStep(step, samples, it->second, world, sum);
    }
    return sum.steps > 0 ? std::optional(std::move(sum)) : std::optional<SampleAgreement>();
}

bool isScript(const RunConfig& config)
{
    return config.workloadOptions.contains("script");
}

bool usesDistributedSampler(const RunConfig& config)
{
    return option(config, "sampler") == "DistributedSampler" && option(config, "batch_sampler").empty();
}

} // namespace lockstep
