#include "core/gates/data_plan.h"

#include "core/config/json.h"
#include "core/gates/sample_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>

namespace lockstep {

namespace {

template<typename Plan, typename Visit>
void eachField(Plan& p, Visit&& visit)
{
    visit("dataset_size", p.datasetSize);
    visit("world", p.world);
    visit("batch", p.batch);
    visit("accumulate", p.accumulate);
    visit("epochs", p.epochs);
    visit("shuffle", p.shuffle);
    visit("drop_last", p.dropLast);
    visit("sampler_seed", p.samplerSeed);
    visit("sampler_seed_known", p.samplerSeedKnown);
    visit("seed", p.seed);
    visit("workers", p.workers);
    visit("reference_batch", p.referenceBatch);
    visit("script", p.script);
    visit("evaluation", p.evaluation);
}

struct FieldWriter {
    JsonWriter& writer;
    void operator()(const char* key, bool v) { writer.Key(key), writer.Bool(v); }
    void operator()(const char* key, int v) { writer.Key(key), writer.Int(v); }
    void operator()(const char* key, std::int64_t v) { writer.Key(key), writer.Int64(v); }
    void operator()(const char* key, std::uint64_t v) { writer.Key(key), writer.Uint64(v); }
};

struct FieldReader {
    const rapidjson::Value& json;
    std::string wrong;

    template<typename T>
    void operator()(const char* key, T& field)
    {
        const auto it = json.FindMember(key);
        if (it == json.MemberEnd())
            return;
        if (it->value.Is<T>())
            field = it->value.Get<T>();
        else if (wrong.empty())
            wrong = key;
    }
};

Status outside(const char* what, std::int64_t given, const char* allowed)
{
    return Error{ErrorKind::Usage, fmt::format("The data plan cannot be simulated: {} is {}", what, given),
                 fmt::format("allowed is {}", allowed), "Change this value"};
}

} // namespace

const FaultSpec* DataPlan::fault(const std::string& id) const
{
    const auto it =
        std::find_if(faults.begin(), faults.end(), [&id](const FaultSpec& f) { return f.id == id; });
    return it == faults.end() ? nullptr : &*it;
}

std::string toJson(const DataPlan& plan)
{
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    eachField(plan, FieldWriter{writer});
    writer.Key("source"), writer.String(plan.source);
    writer.Key("faults");
    writer.StartArray();
    for (const FaultSpec& fault : plan.faults) {
        std::string text = fault.id;
        for (const auto& [key, value] : fault.parameters)
            text += fmt::format(",{}={}", key, value);
        writer.String(text);
    }
    writer.EndArray();
    writer.EndObject();
    return buffer.GetString();
}

Result<DataPlan> dataPlanFromJson(const std::string& text)
{
    auto json = parseJson(text, "The data plan");
    if (!json)
        return json.error();
    const Error wrongType{ErrorKind::Input, "The data plan cannot be read", "", "Judge the data gate again"};
    if (!json->IsObject()) {
        Error error = wrongType;
        error.why = "it is not a JSON object";
        return error;
    }
    DataPlan plan;
    FieldReader reader{*json, {}};
    eachField(plan, reader);
    if (const auto it = json->FindMember("source"); it != json->MemberEnd() && it->value.IsString())
        plan.source = it->value.GetString();
    if (const auto it = json->FindMember("faults"); it != json->MemberEnd()) {
        if (!it->value.IsArray())
            reader.wrong = "faults";
        else
            for (const rapidjson::Value& item : it->value.GetArray()) {
                if (!item.IsString()) {
                    reader.wrong = "faults";
                    break;
                }
                auto fault = parseFault(item.GetString());
                if (!fault)
                    return fault.error();
                plan.faults.push_back(*std::move(fault));
            }
    }
    if (!reader.wrong.empty()) {
        Error error = wrongType;
        error.why = fmt::format("\"{}\" has the wrong type", reader.wrong);
        return error;
    }
    return plan;
}

Status validate(const DataPlan& plan)
{
    if (plan.world < 1 || plan.world > 1024)
        return outside("world", plan.world, "1 to 1024");
    if (plan.datasetSize < 0 || plan.datasetSize > 0xfffffffell)
        return outside("the dataset size", plan.datasetSize, "0 to 4,294,967,294");
    if (plan.batch < 1 || plan.batch > 1'000'000)
        return outside("the batch", plan.batch, "1 to 1,000,000");
    if (plan.accumulate < 1 || plan.accumulate > 1'000'000)
        return outside("accumulate", plan.accumulate, "1 to 1,000,000");
    if (plan.epochs < 1 || plan.epochs > 1'000'000)
        return outside("the number of epochs", plan.epochs, "1 to 1,000,000");
    if (plan.workers < 0 || plan.workers > 4096)
        return outside("the number of loader workers", plan.workers, "0 to 4096");
    return {};
}

std::int64_t recordedLength(const RunConfig& config)
{
    const auto length = config.workloadOptions.find("dataset_length");
    if (length == config.workloadOptions.end())
        return -1;
    std::int64_t size = -1;
    const char* end = length->second.data() + length->second.size();
    return std::from_chars(length->second.data(), end, size).ptr == end ? size : -1;
}

DataPlan planOf(const RunConfig& config, std::int64_t datasetSize)
{
    DataPlan plan;
    plan.datasetSize = datasetSize;
    plan.world = config.mode == "single" ? std::max(1, config.alignWorld) : config.world;
    plan.batch = config.batch;
    plan.accumulate = config.accumulate;
    plan.epochs = config.epochs > 0 ? std::max<std::int64_t>(config.epochs, 2) : 3;
    plan.shuffle = config.shuffle;
    plan.dropLast = config.dropLast;
    plan.samplerSeed = config.samplerSeed;
    plan.seed = config.seed;
    plan.faults = config.faults;
    plan.script = isScript(config);
    if (plan.script) {
        const auto workers = config.workloadOptions.find("loader_workers");
        plan.workers = workers == config.workloadOptions.end() ? 0 : std::atoi(workers->second.c_str());
        // Nobody knows the order of a sampler that the script wrote itself.
        plan.samplerSeedKnown = usesDistributedSampler(config);
    }
    return plan;
}

} // namespace lockstep
