#include "app/cli/import_run.h"

#include "core/config/json.h"
#include "core/config/run_config.h"
#include "core/logs/known_tags.h"
#include "core/store/run_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace lockstep {

namespace {

constexpr std::int64_t kLastStep = std::int64_t(1) << 62; // chunk boundaries beyond it would overflow
constexpr std::size_t kPointsPerCommit = 1 << 20;
constexpr std::size_t kMostNotes = 100;

std::int64_t nowMs()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

const char* storageName(LogStorage storage)
{
    switch (storage) {
    case LogStorage::Float32:
        return "float32";
    case LogStorage::Float64:
        return "float64";
    case LogStorage::Decimal:
        break;
    }
    return "decimal";
}

// The points of one series by the segment they go to: those that were replaced, oldest first, and at last the current ones.
using Generations = std::vector<std::vector<std::size_t>>;

Generations generationsOf(const LogSeries& series, std::int64_t& outside)
{
    std::vector<std::size_t> current;
    Generations generations;
    const auto replaced = [&](std::size_t point) {
        if (generations.empty() || series.steps[generations.back().back()] >= series.steps[point])
            generations.emplace_back();
        generations.back().push_back(point);
    };
    auto range = series.superseded.begin();
    for (std::size_t i = 0; i < series.steps.size(); ++i) {
        while (range != series.superseded.end() && range->second < i)
            ++range;
        if (series.steps[i] < 0 || series.steps[i] > kLastStep) {
            ++outside;
        } else if (range != series.superseded.end() && range->first <= i) {
            replaced(i);
        } else if (!current.empty() && series.steps[current.back()] == series.steps[i]) {
            replaced(current.back());
            current.back() = i;
        } else {
            current.push_back(i);
        }
    }
    generations.push_back(std::move(current));
    return generations;
}

struct Placed { // a series and where it goes
    const LogSeries* series;
    SeriesKey key;
    Generations generations;
};

// Spread over the index by the tag, so that one tag has the same number in nearly every run; the table says it for certain.
std::uint16_t indexOf(const std::string& tag, std::set<std::uint16_t>& taken)
{
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const unsigned char c : tag)
        hash = (hash ^ c) * 0x100000001b3;
    auto index = std::uint16_t(hash ^ (hash >> 16) ^ (hash >> 32) ^ (hash >> 48));
    while (!taken.insert(index).second)
        ++index;
    return index;
}

std::vector<ImportedSeries> tableOf(const LogGroup& group)
{
    std::vector<std::string> tags;
    std::map<std::string, std::size_t> placeOf;
    for (const LogSeries* series : group.series)
        if (placeOf.try_emplace(series->tag, tags.size()).second)
            tags.push_back(series->tag);
    const std::vector<Quantity> quantities = knownQuantities(tags);
    std::vector<ImportedSeries> table;
    std::set<std::uint16_t> taken;
    for (std::size_t i = 0; i < tags.size(); ++i)
        table.push_back({quantities[i],
                         quantities[i] == Quantity::Metric ? indexOf(tags[i], taken) : std::uint16_t(0),
                         tags[i],
                         {},
                         std::nullopt,
                         0,
                         saysWhatTheMachineDid(tags[i])});
    for (const LogSeries* series : group.series) {
        ImportedSeries& row = table[placeOf[series->tag]];
        row.storage = storageName(series->storage);
        if (series->printed && (!row.printed || series->printed->digits < row.printed->digits))
            row.printed = series->printed;
        for (const auto& [first, last] : series->superseded)
            row.superseded += std::int64_t(last - first + 1);
    }
    return table;
}

// The ranks as they are stored: a single one is number 0, for it stands for the whole run.
std::map<int, int> ranksOf(const LogGroup& group)
{
    std::map<int, int> stored;
    for (const LogSeries* series : group.series)
        stored.try_emplace(series->rank.value_or(0), series->rank.value_or(0));
    if (stored.size() == 1)
        stored.begin()->second = 0;
    return stored;
}

std::string configOf(const std::string& name, const std::string& format, int world)
{
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    for (const auto& [key, value] :
         {std::pair<const char*, std::string>{"name", name}, {"mode", kImportedMode}, {"workload", format}}) {
        json.Key(key);
        json.String(value.data(), rapidjson::SizeType(value.size()));
    }
    json.Key("world");
    json.Int(world);
    json.EndObject();
    return {buffer.GetString(), buffer.GetSize()};
}

std::uint64_t storedBits(double value)
{
    return std::isnan(value) ? 0x7ff8000000000000
                             : bitsOf(value); // every NaN alike: logs hold the word, not its bits
}

class Import
{
public:
    Import(RunWriter& writer, std::vector<Placed> placed, int world)
        : writer_(writer), placed_(std::move(placed)), world_(world)
    {
    }

    Status writeSeries()
    {
        std::size_t most = 1;
        for (const Placed& one : placed_)
            most = std::max(most, one.generations.size());
        for (std::size_t segment = 0; segment < most; ++segment) {
            const bool last = segment + 1 == most;
            // All begin where the run begins: the last one supersedes everything in those before it.
            if (Status begun = writer_.beginSegment(firstStep(), world_, last ? "import" : "superseded");
                !begun)
                return begun;
            for (const Placed& one : placed_) {
                const std::size_t replaced = one.generations.size() - 1;
                if (last || segment < replaced)
                    if (Status written = write(one, one.generations[last ? replaced : segment]); !written)
                        return written;
            }
        }
        return {};
    }

    // Marks on the step axis: where training went on after a restart, and steps whose loss only looks like 0.
    Status writeEvents(const std::vector<std::int64_t>& hiddenNan)
    {
        const Placed* longest = nullptr;
        for (const Placed& one : placed_)
            if (!longest || one.series->steps.size() > longest->series->steps.size())
                longest = &one;
        for (const auto& [first, last] : longest->series->superseded)
            if (Status written = event(longest->series->steps[first], "segment",
                                       fmt::format(R"({{"world":{},"reason":"restart"}})", world_));
                !written)
                return written;
        for (std::size_t i = 0; i < hiddenNan.size() && i < kMostNotes; ++i)
            if (Status written = event(
                    hiddenNan[i], "note",
                    R"({"sentence":"The loss reads 0 although the step was not finite: the log hides a NaN"})");
                !written)
                return written;
        return {};
    }

private:
    std::int64_t firstStep() const
    {
        std::int64_t first = kLastStep;
        for (const Placed& one : placed_)
            for (const std::vector<std::size_t>& points : one.generations)
                if (!points.empty())
                    first = std::min(first, one.series->steps[points.front()]);
        return first == kLastStep ? 0 : first;
    }

    Status write(const Placed& placed, const std::vector<std::size_t>& points)
    {
        StepRecord record;
        record.rank = placed.key.rank;
        record.values = {{placed.key.quantity, placed.key.index, 0}};
        for (const std::size_t point : points) {
            record.step = placed.series->steps[point];
            record.values.front().bits = storedBits(placed.series->values[point]);
            if (Status appended = writer_.append(record); !appended)
                return appended;
            if (++sinceCommit_ == kPointsPerCommit) {
                sinceCommit_ = 0;
                if (Status committed = writer_.commit(); !committed)
                    return committed;
            }
        }
        return {};
    }

    Status event(std::int64_t step, const char* kind, std::string detail)
    {
        if (step < 0 || step > kLastStep)
            return {};
        return writer_.append(EventRecord{-1, step, kind, 0, std::move(detail)});
    }

    RunWriter& writer_;
    std::vector<Placed> placed_;
    int world_;
    std::size_t sinceCommit_ = 0;
};

Status writeRun(const LogGroup& group, const std::map<int, int>& ranks, StoredImport& stored)
{
    Result<RunWriter> writer = RunWriter::create(stored.info.folder);
    if (!writer)
        return writer.error();
    for (const auto& [key, value] : {std::pair<const char*, std::string>{"config", stored.info.configJson},
                                     {"name", stored.info.name},
                                     {"mode", kImportedMode},
                                     {kImportedProperty, toJson(stored.table)}})
        if (Status set = writer->setProperty(key, value); !set)
            return set;
    std::vector<Placed> placed;
    stored.info.lastLoss = std::numeric_limits<double>::quiet_NaN();
    for (const LogSeries* series : group.series) {
        const ImportedSeries& row = *stored.table.byTag(series->tag);
        Placed one{series,
                   {ranks.at(series->rank.value_or(0)), row.quantity, row.index},
                   generationsOf(*series, stored.outside)};
        const std::vector<std::size_t>& current = one.generations.back();
        stored.points += std::int64_t(current.size());
        if (!current.empty()) {
            stored.info.lastStep = std::max(stored.info.lastStep, series->steps[current.back()]);
            if (row.quantity == Quantity::Loss && one.key.rank == stored.ranks.front())
                stored.info.lastLoss = series->values[current.back()];
        }
        placed.push_back(std::move(one));
    }
    Import import(*writer, std::move(placed), int(stored.ranks.size()));
    if (Status written = import.writeSeries(); !written)
        return written;
    if (Status written = import.writeEvents(group.hiddenNanSteps); !written)
        return written;
    return writer->finish();
}

} // namespace

Result<StoredImport> storeImport(ProjectStore& project, const LogGroup& group, const std::string& name,
                                 const std::string& source)
{
    const std::map<int, int> ranks = ranksOf(group);
    StoredImport stored;
    for (const auto& [logged, rank] : ranks)
        stored.ranks.push_back(rank);
    stored.table = {group.about.format, source, group.about.run, tableOf(group), group.hiddenNanSteps};
    RunInfo wanted;
    wanted.name = name;
    wanted.startedUnixMs = nowMs();
    wanted.configJson = configOf(name, group.about.format, int(stored.ranks.size()));
    Result<RunInfo> added = project.addRun(wanted);
    if (!added)
        return added.error();
    stored.info = std::move(added).value();
    const Status written = writeRun(group, ranks, stored);
    stored.info.state = written ? RunState::Finished : RunState::Failed;
    if (!written)
        stored.info.firstFailure = {-1, -1, written.error().sentence()};
    stored.info.endedUnixMs = nowMs();
    const Status updated = project.updateRun(stored.info);
    if (!written)
        return written.error();
    if (!updated)
        return updated.error();
    return stored;
}

} // namespace lockstep
