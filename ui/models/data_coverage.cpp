#include "ui/models/data_coverage.h"

#include "core/gates/id_list.h"
#include "core/gates/recorded_orders.h"
#include "core/sampling/samplers.h"
#include "core/store/run_reader.h"
#include "ui/models/format.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace lockstep {

namespace {

Result<std::unique_ptr<DataSource>> sourceOf(const std::string& folder, const DataPlan& plan)
{
    if (plan.source.starts_with("run:")) {
        const std::string id = plan.source.substr(4);
        Result<RunReader> reader = RunReader::open(folder + "/runs/" + id);
        if (!reader)
            return reader.error();
        return recordedOrders(*reader, "run " + id, plan);
    }
    if (plan.source.starts_with("ids:"))
        return importIdLists({plan.source.substr(4)}, {plan.datasetSize, true});
    if (Status valid = validate(plan); !valid)
        return valid.error();
    return std::unique_ptr<DataSource>(std::make_unique<PlanSource>(plan));
}

// Place of an id in dealing order as a fraction, for the ids in `places` (id -> index into `points`).
void placeIds(const EpochOrder& order, const std::unordered_map<std::uint32_t, std::size_t>& wanted,
              std::vector<float>& places)
{
    for (std::size_t r = 0; r < order.ranks.size(); ++r) {
        const RankIds& rank = order.ranks[r];
        for (std::size_t p = 0; p < rank.count; ++p)
            if (const auto it = wanted.find(rank[p]); it != wanted.end() && places[it->second] < 0)
                places[it->second] =
                    float((double(p) + double(r) / double(order.ranks.size())) / double(rank.count));
    }
}

std::vector<std::pair<float, float>> againstFirst(const EpochOrder& first, const EpochOrder& order)
{
    constexpr std::size_t points = 300;
    std::unordered_map<std::uint32_t, std::size_t> wanted;
    const std::size_t rows = first.rows();
    const std::size_t world = first.ranks.size();
    for (std::size_t i = 0; i < std::min(points, rows); ++i) {
        const std::size_t place = i * rows / std::min(points, rows);
        const RankIds& rank = first.ranks[place % world];
        if (place / world < rank.count)
            wanted.try_emplace(rank[place / world], wanted.size());
    }
    std::vector<float> x(wanted.size(), -1), y(wanted.size(), -1);
    placeIds(first, wanted, x);
    placeIds(order, wanted, y);
    std::vector<std::pair<float, float>> pairs;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i] >= 0 && y[i] >= 0)
            pairs.emplace_back(x[i], y[i]);
    return pairs;
}

void loadShown(CoverageData& data, DataSource& source)
{
    for (std::size_t e = 0; e < std::min(CoverageData::kShownEpochs, data.epochs.size()); ++e) {
        Result<EpochOrder> order = source.load(std::int64_t(e));
        if (!order) {
            data.error = qs(order.error().sentence());
            return;
        }
        const EpochCoverage coverage = coverEpoch(*order, data.datasetSize);
        std::vector<std::uint32_t> padding, overlaps;
        for (const RepeatedId& r : coverage.paddings)
            padding.push_back(r.id);
        for (const RepeatedId& r : coverage.repeats)
            overlaps.push_back(r.id);
        data.padding.push_back(std::move(padding));
        data.overlaps.push_back(std::move(overlaps));
        data.omissions.push_back(coverage.omissions);
        data.againstFirst.push_back(e == 0 ? std::vector<std::pair<float, float>>()
                                           : againstFirst(data.orders.front(), *order));
        data.orders.push_back(std::move(*order));
    }
}

CoverageEpoch aggregateEpoch(const EpochOrder& order, std::int64_t datasetSize, const CoverageRange& range)
{
    CoverageEpoch epoch;
    const int world = int(order.ranks.size());
    epoch.ranksPerRow = (world + CoverageEpoch::kMaxRows - 1) / CoverageEpoch::kMaxRows;
    epoch.rows = (world + epoch.ranksPerRow - 1) / epoch.ranksPerRow;
    epoch.cells.resize(std::size_t(epoch.rows) * std::size_t(range.columns));
    std::vector<std::uint32_t> used(std::size_t(range.columns));
    const auto first = std::uint32_t(std::max(0.0, range.first));
    const auto last = std::uint32_t(std::clamp<double>(range.last, 0, double(datasetSize)));
    const double scale = range.columns / (range.last - range.first);
    const auto take = [&](std::size_t r, std::size_t p, std::uint32_t id) {
        if (id < first || id >= last)
            return;
        const int column = std::min(range.columns - 1, int((double(id) - range.first) * scale));
        if (column < 0)
            return;
        ++used[std::size_t(column)];
        CoverageCell& cell =
            epoch
                .cells[r / std::size_t(epoch.ranksPerRow) * std::size_t(range.columns) + std::size_t(column)];
        if (id < cell.id)
            cell = {id, std::uint32_t(p), std::uint16_t(r)};
    };
    for (const RankIds& rank : order.ranks)
        epoch.longest = std::max(epoch.longest, std::uint32_t(rank.count));
    if (order.dealt) {
        // In memory order; ranks lie beside each other.
        const std::uint32_t* ids = order.ranks.front().ids;
        for (std::size_t p = 0; p < order.ranks.front().count; ++p)
            for (std::size_t r = 0; r < order.ranks.size(); ++r)
                take(r, p, ids[p * order.ranks.size() + r]);
    } else {
        for (std::size_t r = 0; r < order.ranks.size(); ++r)
            for (std::size_t p = 0; p < order.ranks[r].count; ++p)
                take(r, p, order.ranks[r][p]);
    }
    epoch.seen.resize(used.size());
    for (int c = 0; c < range.columns; ++c) {
        // Ids of this column: those with columnOf(id) == c.
        const double from = std::ceil(range.first + c / scale), to = std::ceil(range.first + (c + 1) / scale);
        const auto there = std::int64_t(std::min(to, double(last)) - std::max(from, double(first)));
        epoch.seen[std::size_t(c)] = there <= 0                      ? 2
                                     : used[std::size_t(c)] == 0     ? 0
                                     : used[std::size_t(c)] >= there ? 2
                                                                     : 1;
    }
    return epoch;
}

} // namespace

CoverageDataPtr loadCoverage(const std::string& folder, const std::string& configJson)
{
    auto data = std::make_shared<CoverageData>();
    const Result<DataPlan> plan = dataPlanFromJson(configJson);
    if (!plan) {
        data->error = qs(plan.error().sentence());
        return data;
    }
    data->plan = *plan;
    Result<std::unique_ptr<DataSource>> source = sourceOf(folder, *plan);
    if (!source) {
        data->error = qs(source.error().sentence());
        return data;
    }
    const DataFacts& facts = (*source)->facts();
    data->datasetSize = facts.datasetSize;
    data->world = facts.world;
    const Result<DataVerdict> verdict = judgeData(**source, *plan);
    if (!verdict) {
        data->error = qs(verdict.error().sentence());
        return data;
    }
    data->epochs = verdict->epochs;
    loadShown(*data, **source);
    return data;
}

CoverageImage aggregateCoverage(const CoverageData& data, const CoverageRange& range)
{
    CoverageImage image;
    image.range = range;
    if (range.columns < 1 || !(range.last > range.first))
        return image;
    for (const EpochOrder& order : data.orders)
        image.epochs.push_back(aggregateEpoch(order, data.datasetSize, range));
    return image;
}

WhatIf whatIf(const DataPlan& plan)
{
    WhatIf result;
    const DistributedOrder order{
        .datasetSize = plan.datasetSize, .world = plan.world, .dropLast = plan.dropLast};
    const std::int64_t perRank = samplesPerRank(order);
    const std::int64_t perStep = plan.batch * plan.accumulate;
    result.steps = (perRank + perStep - 1) / perStep;
    result.globalBatch = plan.globalBatch();
    result.padding = expectedPadding(plan.datasetSize, plan.world, plan.dropLast);
    result.omitted = plan.dropLast ? plan.datasetSize % plan.world : 0;
    result.lastBatch = perRank == 0 ? 0 : (perRank - 1) % perStep + 1;
    return result;
}

} // namespace lockstep
