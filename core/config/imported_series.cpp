#include "core/config/imported_series.h"

#include "core/config/json.h"

#include <algorithm>

namespace lockstep {

namespace {

void writeText(JsonWriter& json, const char* key, const std::string& text)
{
    json.Key(key);
    json.String(text.data(), rapidjson::SizeType(text.size()));
}

std::string textOf(const rapidjson::Value& object, const char* key)
{
    const auto found = object.FindMember(key);
    return found != object.MemberEnd() && found->value.IsString()
               ? std::string(found->value.GetString(), found->value.GetStringLength())
               : std::string();
}

std::int64_t numberOf(const rapidjson::Value& object, const char* key)
{
    const auto found = object.FindMember(key);
    return found != object.MemberEnd() && found->value.IsInt64() ? found->value.GetInt64() : 0;
}

std::optional<ImportedSeries> seriesOf(const rapidjson::Value& row)
{
    if (!row.IsObject())
        return std::nullopt;
    const QuantityInfo* info = quantityByName(textOf(row, "quantity"));
    if (!info)
        return std::nullopt; // of a newer version
    ImportedSeries series{info->id,           std::uint16_t(numberOf(row, "index")),
                          textOf(row, "tag"), textOf(row, "storage"),
                          std::nullopt,       numberOf(row, "superseded")};
    if (const auto printed = row.FindMember("decimals");
        printed != row.MemberEnd() && printed->value.IsObject())
        series.printed = PrintedDigits{textOf(printed->value, "notation") == "scientific",
                                       int(numberOf(printed->value, "digits"))};
    const auto machine = row.FindMember("machine");
    series.machine = machine != row.MemberEnd() && machine->value.IsBool() && machine->value.GetBool();
    return series;
}

} // namespace

const ImportedSeries* ImportedRun::find(Quantity quantity, std::uint16_t index) const
{
    const auto found = std::find_if(series.begin(), series.end(), [&](const ImportedSeries& one) {
        return one.quantity == quantity && one.index == index;
    });
    return found == series.end() ? nullptr : &*found;
}

const ImportedSeries* ImportedRun::byTag(const std::string& tag) const
{
    const auto found =
        std::find_if(series.begin(), series.end(), [&](const ImportedSeries& one) { return one.tag == tag; });
    return found == series.end() ? nullptr : &*found;
}

std::string toJson(const ImportedRun& run)
{
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    writeText(json, "format", run.format);
    writeText(json, "source", run.source);
    writeText(json, "run", run.run);
    json.Key("series");
    json.StartArray();
    for (const ImportedSeries& series : run.series) {
        json.StartObject();
        writeText(json, "quantity", std::string(quantityInfo(series.quantity)->name));
        json.Key("index");
        json.Uint(series.index);
        writeText(json, "tag", series.tag);
        writeText(json, "storage", series.storage);
        if (series.printed) {
            json.Key("decimals");
            json.StartObject();
            writeText(json, "notation", series.printed->scientific ? "scientific" : "fixed");
            json.Key("digits");
            json.Int(series.printed->digits);
            json.EndObject();
        }
        json.Key("superseded");
        json.Int64(series.superseded);
        json.Key("machine");
        json.Bool(series.machine);
        json.EndObject();
    }
    json.EndArray();
    json.Key("hidden_nan_steps");
    json.StartArray();
    for (const std::int64_t step : run.hiddenNanSteps)
        json.Int64(step);
    json.EndArray();
    json.EndObject();
    return {buffer.GetString(), buffer.GetSize()};
}

std::optional<ImportedRun> importedRunFromJson(const std::string& text)
{
    if (text.empty())
        return std::nullopt;
    const Result<rapidjson::Document> json = parseJson(text, "the table of imported series");
    if (!json || !json->IsObject())
        return std::nullopt;
    ImportedRun run{textOf(*json, "format"), textOf(*json, "source"), textOf(*json, "run"), {}, {}};
    if (const auto rows = json->FindMember("series"); rows != json->MemberEnd() && rows->value.IsArray())
        for (const rapidjson::Value& row : rows->value.GetArray())
            if (std::optional<ImportedSeries> series = seriesOf(row))
                run.series.push_back(std::move(*series));
    if (const auto steps = json->FindMember("hidden_nan_steps");
        steps != json->MemberEnd() && steps->value.IsArray())
        for (const rapidjson::Value& step : steps->value.GetArray())
            if (step.IsInt64())
                run.hiddenNanSteps.push_back(step.GetInt64());
    return run;
}

std::optional<PrintedDigits> coarser(const ImportedSeries* a, const ImportedSeries* b)
{
    const std::optional<PrintedDigits> x = a ? a->printed : std::nullopt;
    const std::optional<PrintedDigits> y = b ? b->printed : std::nullopt;
    if (!x || !y)
        return x ? x : y;
    return y->digits + y->scientific < x->digits + x->scientific ? y : x;
}

} // namespace lockstep
