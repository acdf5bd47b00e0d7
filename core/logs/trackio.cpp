// Trackio databases: one row of JSON metrics per step and run, NaN and infinities as strings.
#include "core/store/trackio_database.h"

#include "core/config/json.h"
#include "core/logs/readers.h"

#include <fmt/format.h>

#include <limits>

namespace lockstep::logs {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<double> scalarOf(const rapidjson::Value& value)
{
    if (value.IsNumber())
        return value.GetDouble();
    if (!value.IsString())
        return std::nullopt;
    const std::string_view text(value.GetString(), value.GetStringLength());
    if (text == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity")
        return kInfinity;
    if (text == "-Infinity")
        return -kInfinity;
    return std::nullopt;
}

// Nested keys joined with a point. Recursion is bounded: parseJson refuses deep documents.
void addAll(const rapidjson::Value& object, const std::string& prefix, std::int64_t step,
            std::optional<int> rank, SeriesSet& out)
{
    for (const auto& member : object.GetObject()) {
        const std::string tag = prefix + std::string(member.name.GetString(), member.name.GetStringLength());
        if (member.value.IsObject() && !member.value.HasMember("_type"))
            addAll(member.value, tag + ".", step, rank, out);
        else if (const std::optional<double> value = scalarOf(member.value))
            out.add(rank, tag, step, {*value, LogStorage::Float64, std::nullopt});
    }
}

struct Run {
    SeriesSet* set = nullptr;
    std::optional<int> rank;
};

// Runs by their id; of two with one name the second is called "name (id)".
class Runs
{
public:
    Runs(const Origin& origin, Collector& out) : origin_(origin), out_(out) {}

    Run& of(const std::string& id, const std::string& name)
    {
        const auto [run, added] = runs_.try_emplace(id);
        if (!added)
            return run->second;
        const auto [owner, first] = owners_.try_emplace(name, id);
        run->second.set = &out_.run("trackio", first ? name : fmt::format("{} ({})", name, id));
        run->second.rank = origin_.rank;
        return run->second;
    }

    void configure(const TrackioConfigRow& row)
    {
        const Result<rapidjson::Document> json = parseJson(row.configJson, "the configuration");
        if (!json || !json->IsObject())
            return;
        const auto text = [&](const char* key) {
            const auto found = json->FindMember(key);
            return found != json->MemberEnd() && found->value.IsString()
                       ? std::string(found->value.GetString())
                       : std::string();
        };
        Run& run = of(row.runId, row.runName);
        if (const auto rank = json->FindMember("rank");
            rank != json->MemberEnd() && rank->value.IsInt() && rank->value.GetInt() >= 0)
            run.rank = rank->value.GetInt();
        run.set->about().group = text("_Group");
    }

private:
    const Origin& origin_;
    Collector& out_;
    std::map<std::string, Run> runs_;
    std::map<std::string, std::string> owners_; // by name, the id
};

} // namespace

void readTrackio(const std::string& path, const Origin& origin, Collector& out)
{
    Runs runs(origin, out);
    std::int64_t broken = 0;
    const Status read = readTrackioDatabase(
        path, [&](const TrackioConfigRow& row) { runs.configure(row); },
        [&](const TrackioRow& row) {
            const Result<rapidjson::Document> json = parseJson(row.metricsJson, "a row");
            if (!json || !json->IsObject()) {
                ++broken;
                return;
            }
            const Run& run = runs.of(row.runId, row.runName);
            addAll(*json, {}, row.step, run.rank, *run.set);
        });
    if (!read)
        out.problem(origin.file, std::nullopt, read.error().sentence());
    if (broken > 0)
        out.problem(origin.file, std::nullopt,
                    fmt::format("{} rows of metrics are no JSON objects and were left out", broken));
}

} // namespace lockstep::logs
