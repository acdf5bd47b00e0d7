#include "core/align/diagnose/inputs.h"

#include "core/align/diagnose/rules.h"

#include <algorithm>
#include <set>

namespace lockstep::align {

namespace {

std::int64_t firstStep(const RunTrace& run)
{
    return std::max<std::int64_t>(1, run.view().firstStep);
}

std::vector<std::uint64_t> hashesOf(const RunTrace& run, int rank, std::int64_t from, std::int64_t to)
{
    std::vector<std::uint64_t> hashes;
    for (const RunTrace::StepSamples& step : run.samples(rank, from, to))
        hashes.insert(hashes.end(), step.hashes.begin(), step.hashes.end());
    return hashes;
}

// Over all ranks; nullopt where one is not known.
template<typename Of>
std::optional<double> sum(const RunTrace& run, const Of& of)
{
    double all = 0;
    for (const int rank : run.ranks()) {
        const std::optional<double> own = of(rank);
        if (!own)
            return {};
        all += *own;
    }
    return all;
}

// What the losses of all ranks are taken over, where that is counted apart from the samples.
std::optional<double> targetsAt(const RunTrace& run, std::int64_t step)
{
    if (!run.has(Quantity::Tokens) && !run.leavesTargetsOut())
        return {};
    return sum(run, [&](int rank) { return run.targets(rank, step); });
}

} // namespace

bool inputsSharedByRanks(const RunTrace& reference, const RunTrace& run)
{
    if (run.world() < 2 || run.has(Quantity::SampleIds))
        return false;
    const std::int64_t step = firstStep(run);
    const std::optional<double> own = targetsAt(run, step), theirs = targetsAt(reference, step);
    if (own && theirs && *own != *theirs)
        return false;
    const int leader = run.ranks().front();
    const std::vector<std::uint64_t> first = hashesOf(run, leader, step, step + 1);
    if ((drawsEachStep(run) || batchStatistics(run)) && hashesOf(run, leader, step + 1, step + 2) != first)
        return false;
    const bool same = std::all_of(run.ranks().begin(), run.ranks().end(),
                                  [&](int rank) { return hashesOf(run, rank, step, step + 1) == first; });
    return same && !first.empty() && run.sameOnRanks(Quantity::ParamFingerprint, 0).value_or(false) &&
           !run.sameOnRanks(Quantity::Loss, step).value_or(true);
}

bool rowsAreNoSamples(const RunTrace& reference, const RunTrace& suspect)
{
    if (reference.has(Quantity::SampleIds) || suspect.has(Quantity::SampleIds))
        return false;
    const std::int64_t step = std::max(firstStep(reference), firstStep(suspect));
    const auto rows = [step](const RunTrace& run) {
        return sum(run, [&](int rank) { return run.total(rank, Quantity::Samples, step); });
    };
    const std::optional<double> own = targetsAt(suspect, step), theirs = targetsAt(reference, step);
    return own && theirs && *own == *theirs && rows(suspect) != rows(reference);
}

bool inputsMadeByModel(const RunTrace& reference, const RunTrace& suspect, std::int64_t step)
{
    constexpr std::int64_t kAround = 256; // steps of the reference that are looked through
    if (reference.has(Quantity::SampleIds) || suspect.has(Quantity::SampleIds) || step <= firstStep(suspect))
        return false;
    std::set<std::uint64_t> now, around;
    for (const int rank : reference.ranks()) {
        const std::vector<std::uint64_t> here = hashesOf(reference, rank, step, step + 1);
        now.insert(here.begin(), here.end());
        const std::vector<std::uint64_t> near = hashesOf(reference, rank, step - kAround, step + kAround);
        around.insert(near.begin(), near.end());
    }
    std::size_t kept = 0, fresh = 0;
    for (const int rank : suspect.ranks())
        for (const std::uint64_t hash : hashesOf(suspect, rank, step, step + 1)) {
            if (!now.contains(hash) && around.contains(hash))
                return false; // another step's
            ++(now.contains(hash) ? kept : fresh);
        }
    return kept > 0 && fresh > 0;
}

} // namespace lockstep::align
