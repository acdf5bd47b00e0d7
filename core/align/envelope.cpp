#include "core/align/envelope.h"

#include "core/align/plan.h"
#include "core/align/student.h"
#include "core/base/hexfloat.h"
#include "core/config/json.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {

using namespace align;

namespace {

// How far ahead of a step the band looks: early steps have few measurements behind them.
std::int64_t lookAhead(std::int64_t step)
{
    return step + std::max<std::int64_t>(8, step / 8);
}

// One quantity of all repeats at the steps they share, cut where one of them stops being finite.
struct Table {
    std::vector<std::int64_t> steps;
    std::vector<std::vector<double>> values; // [repeat][step]
};

Result<Table> tableOf(const std::vector<std::unique_ptr<Source>>& sources, std::int64_t from, std::int64_t to)
{
    std::vector<Track> tracks;
    for (const auto& source : sources) {
        Result<Track> track = source->load(from, to + 1);
        if (!track.ok())
            return track.error();
        tracks.push_back(std::move(*track));
    }
    Table table;
    table.steps = tracks.front().steps;
    for (const Track& track : tracks) {
        std::vector<std::int64_t> common;
        std::set_intersection(table.steps.begin(), table.steps.end(), track.steps.begin(), track.steps.end(),
                              std::back_inserter(common));
        table.steps = std::move(common);
    }
    for (const Track& track : tracks) {
        std::vector<double>& row = table.values.emplace_back();
        for (std::size_t i = 0, j = 0; i < table.steps.size(); ++i) {
            while (track.steps[j] < table.steps[i])
                ++j;
            row.push_back(doubleOf(track.bits[j]));
        }
    }
    std::size_t finite = table.steps.size();
    for (const std::vector<double>& row : table.values) {
        const auto bad = std::find_if(row.begin(), row.end(), [](double v) { return !std::isfinite(v); });
        finite = std::min(finite, std::size_t(bad - row.begin()));
    }
    table.steps.resize(finite);
    return table;
}

// Largest distance between any two repeats, without one of them (-1: with all), at each step.
std::vector<double> spread(const Table& table, int without)
{
    std::vector<double> spread(table.steps.size());
    for (std::size_t t = 0; t < spread.size(); ++t) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        for (std::size_t i = 0; i < table.values.size(); ++i) {
            if (int(i) == without)
                continue;
            low = std::min(low, table.values[i][t]);
            high = std::max(high, table.values[i][t]);
        }
        spread[t] = high - low;
    }
    return spread;
}

// Running maximum that looks ahead.
std::vector<double> bandOf(const Table& table, const std::vector<double>& spread)
{
    std::vector<double> band(spread.size());
    double highest = 0;
    std::size_t seen = 0;
    for (std::size_t t = 0; t < band.size(); ++t) {
        for (; seen < spread.size() && table.steps[seen] <= lookAhead(table.steps[t]); ++seen)
            highest = std::max(highest, spread[seen]);
        band[t] = highest;
    }
    return band;
}

double sizeAt(const Table& table, std::size_t t)
{
    double size = 0;
    for (const std::vector<double>& row : table.values)
        size = std::max(size, std::fabs(row[t]));
    return size;
}

double granularityOf(const Table& table, const std::vector<double>& spread)
{
    double smallest = 0;
    for (std::size_t t = 0; t < spread.size(); ++t) {
        for (std::size_t i = 0; i < table.values.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const double relative = std::fabs(table.values[i][t] - table.values[j][t]) / sizeAt(table, t);
                if (relative > 0 && (smallest == 0 || relative < smallest))
                    smallest = relative;
            }
        }
    }
    return smallest;
}

// How far repeat i leaves the band of the others: the largest ratio over all steps; 0 where it never differs.
double excessOf(const Table& table, int i, double granularity)
{
    const std::vector<double> others = bandOf(table, spread(table, i));
    double excess = 0;
    for (std::size_t t = 0; t < others.size(); ++t) {
        double worst = 0;
        for (const std::vector<double>& row : table.values)
            worst = std::max(worst, std::fabs(row[t] - table.values[std::size_t(i)][t]));
        if (worst > 0)
            excess = std::max(excess, worst / std::max(others[t], granularity * sizeAt(table, t)));
    }
    return excess;
}

double scaleOf(const Table& table, double granularity)
{
    std::vector<double> logs;
    for (std::size_t i = 0; i < table.values.size(); ++i) {
        const double excess = excessOf(table, int(i), granularity);
        if (excess > 0)
            logs.push_back(std::log(excess));
    }
    const auto n = double(logs.size());
    if (logs.size() < 2)
        return 2;
    double mean = 0;
    for (const double value : logs)
        mean += value / n;
    double squares = 0;
    for (const double value : logs)
        squares += (value - mean) * (value - mean);
    const double deviation = std::sqrt(squares / (n - 1));
    const double quantile = studentQuantile(1 - kEnvelopeFalseAlarm, int(logs.size()) - 1);
    return 2 * std::max(1.0, std::exp(mean + quantile * deviation * std::sqrt(1 + 1 / n)));
}

EnvelopeBand measure(const Table& table)
{
    EnvelopeBand band;
    const std::vector<double> all = spread(table, -1);
    band.granularity = granularityOf(table, all);
    band.scale = scaleOf(table, band.granularity);
    band.lastStep = table.steps.back();
    const std::vector<double> limits = bandOf(table, all);
    for (std::size_t t = 0; t < limits.size(); ++t) {
        if (band.limits.empty() || band.limits.back() != limits[t]) {
            band.steps.push_back(table.steps[t]);
            band.limits.push_back(limits[t]);
        }
    }
    return band;
}

} // namespace

std::optional<double> EnvelopeBand::limit(std::int64_t step, double value) const
{
    if (steps.empty() || step < steps.front() || step > lastStep)
        return std::nullopt;
    const auto after = std::upper_bound(steps.begin(), steps.end(), step);
    return scale * std::max(limits[std::size_t(after - steps.begin()) - 1], granularity * std::fabs(value));
}

const EnvelopeBand* Envelope::band(Quantity quantity, std::uint16_t index) const
{
    const auto it = bands.find({quantity, index});
    return it == bands.end() ? nullptr : &it->second;
}

bool Envelope::hasBand(Quantity quantity) const
{
    const auto it = bands.lower_bound({quantity, std::uint16_t(0)});
    return it != bands.end() && it->first.first == quantity;
}

Result<Envelope> measureEnvelope(const std::vector<RunReader*>& repeats)
{
    if (repeats.size() < kMinRepeats)
        return Error{ErrorKind::Input, "Cannot measure an envelope",
                     "it takes " + std::to_string(kMinRepeats) + " repeats or more, there are " +
                         std::to_string(repeats.size()),
                     "Repeat the single run; 8 repeats make a narrow envelope"};
    std::vector<RunView> views;
    std::int64_t from = 0;
    std::int64_t to = std::numeric_limits<std::int64_t>::max() - 1;
    for (RunReader* reader : repeats) {
        Result<RunView> view = viewRun(*reader);
        if (!view.ok())
            return view.error();
        from = std::max(from, view->firstStep);
        to = std::min(to, view->lastStep);
        views.push_back(std::move(*view));
    }
    Envelope envelope;
    envelope.repeats = int(repeats.size());
    for (const QuantityInfo* info : causalOrder()) {
        if (info->type != ValueType::F64 || info->link == CausalLink::None)
            continue;
        const auto lacks = [info](const RunView& view) { return view.ranks.empty() || !view.has(info->id); };
        if (std::any_of(views.begin(), views.end(), lacks))
            continue;
        for (const std::uint16_t index : views.front().indices(views.front().ranks.front(), info->id)) {
            std::vector<std::unique_ptr<Source>> sources;
            for (const RunView& view : views) {
                std::unique_ptr<Source> source = wholeRun(view, info->id, index);
                if (source)
                    sources.push_back(std::move(source));
            }
            if (sources.size() < repeats.size())
                continue;
            const Result<Table> table = tableOf(sources, from, to);
            if (!table.ok())
                return table.error();
            if (!table->steps.empty())
                envelope.bands[{info->id, index}] = measure(*table);
        }
    }
    if (envelope.bands.empty())
        return Error{ErrorKind::Input, "Cannot measure an envelope",
                     "the repeats have no quantity and step in common",
                     "Repeat the same run with recording on"};
    return envelope;
}

std::string toJson(const Envelope& envelope)
{
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    writer.Key("repeats"), writer.Int(envelope.repeats);
    writer.Key("bands"), writer.StartArray();
    for (const auto& [key, band] : envelope.bands) {
        const std::string_view name = quantityInfo(key.first)->name;
        writer.StartObject();
        writer.Key("quantity"), writer.String(name.data(), rapidjson::SizeType(name.size()));
        writer.Key("index"), writer.Uint(key.second);
        writer.Key("last_step"), writer.Int64(band.lastStep);
        writer.Key("granularity"), writer.String(hexFloat(band.granularity));
        writer.Key("scale"), writer.String(hexFloat(band.scale));
        writer.Key("steps"), writer.StartArray();
        for (const std::int64_t step : band.steps)
            writer.Int64(step);
        writer.EndArray();
        writer.Key("limits"), writer.StartArray();
        for (const double limit : band.limits)
            writer.String(hexFloat(limit));
        writer.EndArray();
        writer.EndObject();
    }
    writer.EndArray();
    writer.EndObject();
    return buffer.GetString();
}

Result<Envelope> envelopeFromJson(const std::string& text)
{
    Result<rapidjson::Document> document = parseJson(text, "the envelope");
    if (!document.ok())
        return document.error();
    const Error unusable{ErrorKind::Input, "The stored envelope cannot be used",
                         "a field is missing or has the wrong type",
                         "Measure it again with: lockstep-cli gate DIR gradients"};
    const rapidjson::Document& root = *document;
    if (!root.IsObject() || !root.HasMember("repeats") || !root["repeats"].IsInt() ||
        !root.HasMember("bands") || !root["bands"].IsArray())
        return unusable;
    Envelope envelope;
    envelope.repeats = root["repeats"].GetInt();
    for (const rapidjson::Value& item : root["bands"].GetArray()) {
        for (const char* key :
             {"quantity", "index", "last_step", "granularity", "scale", "steps", "limits"}) {
            if (!item.IsObject() || !item.HasMember(key))
                return unusable;
        }
        if (!item["quantity"].IsString() || !item["index"].IsUint() || item["index"].GetUint() > 0xffff ||
            !item["last_step"].IsInt64() || !item["steps"].IsArray() || !item["limits"].IsArray() ||
            item["steps"].Size() != item["limits"].Size())
            return unusable;
        const auto number = [](const rapidjson::Value& value) {
            return value.IsString() ? parseHexFloat(value.GetString()) : std::nullopt;
        };
        EnvelopeBand band;
        band.lastStep = item["last_step"].GetInt64();
        const auto granularity = number(item["granularity"]);
        const auto scale = number(item["scale"]);
        if (!granularity || !scale)
            return unusable;
        band.granularity = *granularity;
        band.scale = *scale;
        for (rapidjson::SizeType i = 0; i < item["steps"].Size(); ++i) {
            const auto limit = number(item["limits"][i]);
            if (!item["steps"][i].IsInt64() || !limit)
                return unusable;
            band.steps.push_back(item["steps"][i].GetInt64());
            band.limits.push_back(*limit);
        }
        if (!std::is_sorted(band.steps.begin(), band.steps.end()))
            return unusable;
        // A quantity of a newer version is nothing this version compares.
        if (const QuantityInfo* info = quantityByName(item["quantity"].GetString()))
            envelope.bands[{info->id, std::uint16_t(item["index"].GetUint())}] = std::move(band);
    }
    return envelope;
}

} // namespace lockstep
