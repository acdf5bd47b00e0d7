#include "core/align/diagnose/rules.h"

#include "core/align/diagnose/script_acts.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

double roundedFactor(double factor)
{
    for (int denominator = 1; denominator <= 4096; ++denominator) {
        const double numerator = std::round(factor * denominator);
        if (numerator > 0 && (denominator == 1 || numerator <= 4096) &&
            near(factor, numerator / denominator, 1e-5))
            return numerator / denominator;
    }
    return factor;
}

bool bothScripts(const Case& c)
{
    return isUsersScript(c.ref().traits()) && isUsersScript(c.sus().traits());
}

bool sameInputs(const Case& c, std::int64_t step)
{
    if (step < 1 || step != c.start())
        return false;
    return c.link() >= CausalLink::Rng && !c.differsAt(Quantity::SampleIds, step) &&
           !c.differsAt(Quantity::SampleContent, step);
}

Suspicion suspect(const char* cause, int fit, std::int64_t step, const std::string& label, std::string fact,
                  std::optional<Quantity> quantity)
{
    Suspicion s;
    s.cause = cause;
    s.fit = fit;
    s.step = step;
    s.fact = std::move(fact);
    s.evidence.push_back({label, s.fact, quantity, step, -1, {}});
    return s;
}

std::string factorText(double factor)
{
    return fmt::format("{:.12g}", roundedFactor(factor));
}

void solveStep(Suspicion& suspicion, std::int64_t step)
{
    suspicion.solved["step"] = std::to_string(std::max<std::int64_t>(1, step));
}

std::string rankList(const std::vector<int>& ranks, int world)
{
    if (int(ranks.size()) == world)
        return "all ranks";
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size(); ++i)
        text += fmt::format("{}{}", i ? ", " : "", ranks[i]);
    return text;
}

bool torchDrawsEachStep(const RunTrace& run)
{
    const int rank = run.ranks().front();
    const std::int64_t first = std::max<std::int64_t>(1, run.view().firstStep);
    int changes = 0, seen = 0;
    for (std::int64_t step = first + 1; step <= std::min(run.lastStep(), first + 4); ++step, ++seen)
        changes += run.bits(rank, Quantity::RngCpu, step) != run.bits(rank, Quantity::RngCpu, step - 1);
    return seen > 0 && changes == seen;
}

bool drawsEachStep(const RunTrace& run)
{
    return torchDrawsEachStep(run) || drawsBesideTorch(run);
}

bool batchStatistics(const RunTrace& run)
{
    const int rank = run.ranks().front();
    const std::int64_t first = std::max<std::int64_t>(1, run.view().firstStep);
    // The probe saw them move as a queue, a position or a counter does.
    if (settingOf(run.traits(), "workload_options.batch_statistics") == "no")
        return false;
    return run.has(Quantity::BufferFingerprint) && run.bits(rank, Quantity::BufferFingerprint, first) !=
                                                       run.bits(rank, Quantity::BufferFingerprint, first + 1);
}

TensorCount tensorsOff(const Case& c, std::int64_t step, std::uint64_t TensorRecord::*field)
{
    TensorCount count;
    const int rank = c.sus().ranks().back();
    const std::vector<TensorRecord>& theirs = c.ref().tensors(c.refRank(rank), step);
    for (const TensorRecord& record : c.sus().tensors(rank, step)) {
        const auto other = std::find_if(theirs.begin(), theirs.end(),
                                        [&](const TensorRecord& t) { return t.name == record.name; });
        if (record.buffer || other == theirs.end())
            continue;
        ++count.all;
        if (record.*field != (*other).*field || record.has != other->has)
            count.names.push_back(record.name);
    }
    return count;
}

} // namespace lockstep::align
