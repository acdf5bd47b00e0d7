#include "core/gates/gradients_facts.h"

#include "core/align/track.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lockstep {

namespace {

// Series of one quantity, ordered by rank, then index.
Result<std::vector<SeriesData>> readAll(RunReader& run, Quantity quantity, std::int64_t from, std::int64_t to)
{
    Result<std::vector<SeriesInfo>> all = run.series();
    if (!all)
        return all.error();
    std::vector<SeriesData> out;
    for (const SeriesInfo& info : *all) {
        if (info.key.quantity != quantity)
            continue;
        Result<SeriesData> data = run.read(info.key, from, to);
        if (!data)
            return data.error();
        out.push_back(std::move(data).value());
    }
    std::sort(out.begin(), out.end(), [](const SeriesData& a, const SeriesData& b) { return a.key < b.key; });
    return out;
}

std::optional<double> valueAt(const SeriesData& data, std::int64_t step)
{
    const auto it = std::lower_bound(data.steps.begin(), data.steps.end(), step);
    if (it == data.steps.end() || *it != step)
        return std::nullopt;
    return data.value(std::size_t(it - data.steps.begin()));
}

} // namespace

Result<std::vector<double>> firstLosses(RunReader& run, int count)
{
    Result<align::RunView> view = align::viewRun(run);
    if (!view)
        return view.error();
    Result<align::Track> track =
        align::meanOverRanks(*view, Quantity::Loss, 0, Quantity::Samples)->load(1, count + 1);
    if (!track)
        return track.error();
    std::vector<double> losses;
    for (const std::uint64_t bits : track->bits)
        losses.push_back(doubleOf(bits));
    return losses;
}

Result<bool> hasBatchStatistics(RunReader& run)
{
    Result<SeriesData> buffers = run.read({0, Quantity::BufferFingerprint, 0});
    if (!buffers)
        return buffers.error();
    return std::adjacent_find(buffers->bits.begin(), buffers->bits.end(), std::not_equal_to<>()) !=
           buffers->bits.end();
}

Result<RankAgreement> agreement(RunReader& run, Quantity quantity)
{
    Result<std::vector<SeriesData>> series = readAll(run, quantity, INT64_MIN, INT64_MAX);
    if (!series)
        return series.error();
    RankAgreement out;
    out.ranks = int(series->size());
    if (series->empty())
        return out;
    const SeriesData& reference = series->front();
    out.steps = std::int64_t(reference.size());
    for (std::size_t i = 0; i < reference.size() && !out.first; ++i)
        for (const SeriesData& other : *series)
            if (i >= other.size() || other.steps[i] != reference.steps[i] ||
                other.bits[i] != reference.bits[i]) {
                out.first = RanksDiffer{reference.steps[i], other.key.rank};
                break;
            }
    return out;
}

Result<std::optional<CollectiveCount>> collectives(RunReader& run)
{
    Result<std::vector<SeriesData>> series = readAll(run, Quantity::CollectiveCount, 1, INT64_MAX);
    if (!series)
        return series.error();
    if (series->empty() || series->front().size() == 0)
        return std::optional<CollectiveCount>();
    CollectiveCount out;
    const SeriesData& first = series->front();
    // Step 1 has one bucket; from step 2 on the layout is settled.
    const std::size_t settled = std::min<std::size_t>(first.size() - 1, 2);
    out.steady = std::int64_t(first.bits[settled]);
    for (const SeriesData& rank : *series)
        for (std::size_t i = settled; i < rank.size(); ++i)
            if (std::int64_t(rank.bits[i]) != out.steady &&
                (!out.irregular || rank.steps[i] < out.irregular->step))
                out.irregular = RanksDiffer{rank.steps[i], rank.key.rank};
    return std::optional(out);
}

Result<std::optional<std::vector<std::string>>> unusedParameters(RunReader& run)
{
    Result<std::vector<TensorRecord>> records = run.tensors(0, 1, INT64_MAX);
    if (!records)
        return records.error();
    if (records->empty())
        return std::optional<std::vector<std::string>>();
    std::map<std::string, bool> used; // in order of names
    for (const TensorRecord& record : *records)
        if (!record.buffer)
            used[record.name] |= (record.has & (TensorRecord::Local | TensorRecord::Reduced)) != 0;
    std::vector<std::string> unused;
    for (const auto& [name, hasGradient] : used)
        if (!hasGradient)
            unused.push_back(name);
    return std::optional(unused);
}

Result<std::optional<GradientRelation>> relateGradients(RunReader& reference, RunReader& run,
                                                        std::int64_t step)
{
    Result<std::vector<SeriesData>> a = readAll(reference, Quantity::GradProj, step, step + 1);
    Result<std::vector<SeriesData>> b = readAll(run, Quantity::GradProj, step, step + 1);
    Result<SeriesData> normA = reference.read({0, Quantity::GradNorm, 0}, step, step + 1);
    Result<SeriesData> normB = run.read({0, Quantity::GradNorm, 0}, step, step + 1);
    if (!a)
        return a.error();
    if (!b)
        return b.error();
    if (!normA)
        return normA.error();
    if (!normB)
        return normB.error();
    if (normA->size() == 0 || normB->size() == 0)
        return std::optional<GradientRelation>();
    GradientRelation out;
    out.ratio = normB->value(0) / normA->value(0);
    double ab = 0, aa = 0, bb = 0;
    for (const SeriesData& x : *a)
        for (const SeriesData& y : *b) {
            if (x.key.rank != 0 || y.key.rank != 0 || x.key.index != y.key.index)
                continue;
            const std::optional<double> vx = valueAt(x, step), vy = valueAt(y, step);
            if (!vx || !vy)
                continue;
            ab += *vx * *vy, aa += *vx * *vx, bb += *vy * *vy;
            ++out.projections;
        }
    out.cosine = aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
    return std::optional(out);
}

} // namespace lockstep
