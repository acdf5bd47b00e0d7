#include "core/config/run_config.h"

#include "core/config/json.h"
#include "core/config/step_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace lockstep {

namespace {

// Every field once, in the order of the struct. `Config` is RunConfig or const RunConfig.
template<typename Config, typename Visit>
void eachField(Config& c, Visit&& visit)
{
    visit("name", c.name);
    visit("mode", c.mode);
    visit("workload", c.workload);
    visit("world", c.world);
    visit("align_world", c.alignWorld);
    visit("join_from", c.joinFrom);
    visit("data_world", c.dataWorld);
    visit("batch", c.batch);
    visit("steps", c.steps);
    visit("epochs", c.epochs);
    visit("order", c.order);
    visit("shuffle", c.shuffle);
    visit("drop_last", c.dropLast);
    visit("seed", c.seed);
    visit("sampler_seed", c.samplerSeed);
    visit("optimizer", c.optimizer);
    visit("lr", c.lr);
    visit("momentum", c.momentum);
    visit("weight_decay", c.weightDecay);
    visit("scheduler", c.scheduler);
    visit("scheduler_period", c.schedulerPeriod);
    visit("clip_norm", c.clipNorm);
    visit("clip_value", c.clipValue);
    visit("accumulate", c.accumulate);
    visit("amp", c.amp);
    visit("scaler_scale", c.scalerScale);
    visit("scaler_growth_interval", c.scalerGrowthInterval);
    visit("backend", c.backend);
    visit("device", c.device);
    visit("reduction", c.reduction);
    visit("find_unused", c.findUnused);
    visit("static_graph", c.staticGraph);
    visit("bucket_view", c.bucketView);
    visit("bucket_mb", c.bucketMb);
    visit("broadcast_buffers", c.broadcastBuffers);
    visit("dropout", c.dropout);
    visit("freeze", c.freeze);
    visit("freeze_until", c.freezeUntil);
    visit("threads", c.threads);
    visit("record", c.record);
    visit("keep_steps", c.keepSteps);
    visit("checkpoint_every", c.checkpointEvery);
    visit("log_every", c.logEvery);
    visit("eval_every", c.evalEvery);
    visit("collective_timeout_seconds", c.collectiveTimeoutSeconds);
    visit("resume", c.resume);
    visit("faults", c.faults);
    visit("workload_options", c.workloadOptions);
}

void writeStringMap(JsonWriter& writer, const std::map<std::string, std::string>& map)
{
    writer.StartObject();
    for (const auto& [key, value] : map) {
        writer.Key(key.data(), rapidjson::SizeType(key.size()));
        writer.String(value);
    }
    writer.EndObject();
}

struct FieldWriter {
    JsonWriter& writer;

    void operator()(const char* key, const std::string& v) { writer.Key(key), writer.String(v); }
    void operator()(const char* key, bool v) { writer.Key(key), writer.Bool(v); }
    void operator()(const char* key, double v) { writer.Key(key), writer.Double(v); }
    void operator()(const char* key, int v) { writer.Key(key), writer.Int(v); }
    void operator()(const char* key, std::int64_t v) { writer.Key(key), writer.Int64(v); }
    void operator()(const char* key, std::uint64_t v) { writer.Key(key), writer.Uint64(v); }
    void operator()(const char* key, const std::map<std::string, std::string>& v)
    {
        writer.Key(key);
        writeStringMap(writer, v);
    }
    void operator()(const char* key, const std::vector<FaultSpec>& v)
    {
        writer.Key(key);
        writer.StartArray();
        for (const FaultSpec& fault : v) {
            writer.StartObject();
            writer.Key("id"), writer.String(fault.id);
            writer.Key("parameters"), writeStringMap(writer, fault.parameters);
            writer.EndObject();
        }
        writer.EndArray();
    }
};

bool readStringMap(const rapidjson::Value& json, std::map<std::string, std::string>& map)
{
    if (!json.IsObject())
        return false;
    for (const auto& member : json.GetObject()) {
        if (!member.value.IsString())
            return false;
        map[member.name.GetString()] = member.value.GetString();
    }
    return true;
}

struct FieldReader {
    const rapidjson::Value& json;
    std::string wrong; // name of the first field of the wrong type

    template<typename T>
    void operator()(const char* key, T& field)
    {
        const auto it = json.FindMember(key);
        if (it == json.MemberEnd() || read(it->value, field) || !wrong.empty())
            return;
        wrong = key;
    }

    static bool read(const rapidjson::Value& v, std::string& field)
    {
        if (v.IsString())
            field = v.GetString();
        return v.IsString();
    }
    static bool read(const rapidjson::Value& v, bool& field)
    {
        if (v.IsBool())
            field = v.GetBool();
        return v.IsBool();
    }
    static bool read(const rapidjson::Value& v, double& field)
    {
        if (v.IsNumber())
            field = v.GetDouble();
        return v.IsNumber();
    }
    static bool read(const rapidjson::Value& v, int& field)
    {
        if (v.IsInt())
            field = v.GetInt();
        return v.IsInt();
    }
    static bool read(const rapidjson::Value& v, std::int64_t& field)
    {
        if (v.IsInt64())
            field = v.GetInt64();
        return v.IsInt64();
    }
    static bool read(const rapidjson::Value& v, std::uint64_t& field)
    {
        if (v.IsUint64())
            field = v.GetUint64();
        return v.IsUint64();
    }
    static bool read(const rapidjson::Value& v, std::map<std::string, std::string>& field)
    {
        return readStringMap(v, field);
    }
    static bool read(const rapidjson::Value& v, std::vector<FaultSpec>& field)
    {
        if (!v.IsArray())
            return false;
        for (const auto& item : v.GetArray()) {
            FaultSpec fault;
            if (!item.IsObject() || !item.HasMember("id") || !item["id"].IsString())
                return false;
            fault.id = item["id"].GetString();
            if (item.HasMember("parameters") && !readStringMap(item["parameters"], fault.parameters))
                return false;
            field.push_back(std::move(fault));
        }
        return true;
    }
};

struct FieldPrinter {
    std::vector<std::pair<std::string, std::string>>& out;

    void operator()(const char* key, const std::string& v) { out.emplace_back(key, v); }
    void operator()(const char* key, bool v) { out.emplace_back(key, v ? "true" : "false"); }
    void operator()(const char* key, const std::map<std::string, std::string>& v)
    {
        for (const auto& [name, value] : v)
            out.emplace_back(fmt::format("{}.{}", key, name), value);
    }
    void operator()(const char* key, const std::vector<FaultSpec>& v)
    {
        std::string text;
        for (const FaultSpec& fault : v) {
            text += text.empty() ? fault.id : ";" + fault.id;
            for (const auto& [name, value] : fault.parameters)
                text += fmt::format(",{}={}", name, value);
        }
        out.emplace_back(key, text);
    }
    template<typename T>
    requires std::is_arithmetic_v<T>
    void operator()(const char* key, T v) { out.emplace_back(key, fmt::format("{}", v)); }
};

Error badOption(const char* option, const std::string& given, const std::string& allowed)
{
    return Error{ErrorKind::Usage, fmt::format("--{} {} is not possible", option, given),
                 fmt::format("allowed: {}", allowed), fmt::format("Choose another value for --{}", option)};
}

Status oneOf(const char* option, const std::string& given, std::initializer_list<std::string_view> allowed)
{
    if (std::find(allowed.begin(), allowed.end(), given) != allowed.end())
        return {};
    return badOption(option, given, fmt::format("{}", fmt::join(allowed, ", ")));
}

// Upper bounds: far above what a run needs, and low enough that no product of them overflows (samplesPerStep) and
// that every one is finite as float32.
constexpr int kMaxWorld = 1024;
constexpr int kMaxThreads = 1024;
constexpr std::int64_t kMaxSamples = 1'000'000; // of a micro-batch; also micro-batches of a step
constexpr std::int64_t kMaxSteps = 1'000'000'000'000;
constexpr std::int64_t kMaxInt = 2'147'483'647; // what torch counts the scaler's steps with
constexpr double kMaxRate = 1e6;
constexpr double kMaxFloat = 1e30;
constexpr double kMaxBucketMb = 65536;
constexpr double kMinTimeout = 0.001; // seconds; the engine counts milliseconds
constexpr double kMaxTimeout = 1e6;

template<typename T>
Status within(const char* option, T given, T least, T most)
{
    if (given >= least && given <= most) // false for NaN, as it must be
        return {};
    return badOption(option, fmt::format("{}", given), fmt::format("{} to {}", least, most));
}

} // namespace

std::string toJson(const RunConfig& config)
{
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    eachField(config, FieldWriter{writer});
    writer.EndObject();
    return {buffer.GetString(), buffer.GetSize()};
}

Result<RunConfig> runConfigFromJson(const std::string& text)
{
    Result<rapidjson::Document> json = parseJson(text, "The run configuration");
    if (!json)
        return json.error();
    if (!json->IsObject())
        return Error{ErrorKind::Input, "The run configuration cannot be used", "it is not a JSON object",
                     "Pass the file that lockstep-cli wrote"};
    RunConfig config;
    FieldReader reader{*json, {}};
    eachField(config, reader);
    if (!reader.wrong.empty())
        return Error{ErrorKind::Input, "The run configuration cannot be used",
                     fmt::format("field \"{}\" has the wrong type", reader.wrong), "Correct this field"};
    return config;
}

Status validate(const RunConfig& c)
{
    const Status checks[] = {
        oneOf("mode", c.mode, {"single", "ddp", "fsdp", "twin"}),
        oneOf("order", c.order, {"aligned", "python"}),
        oneOf("optimizer", c.optimizer, {"sgd", "adam", "adamw"}),
        oneOf("scheduler", c.scheduler, {"none", "step", "cosine", "warmup"}),
        oneOf("amp", c.amp, {"off", "bf16", "fp16"}),
        oneOf("backend", c.backend, {"gloo", "nccl"}),
        oneOf("device", c.device, {"cpu", "cuda"}),
        oneOf("reduction", c.reduction, {"native", "ordered"}),
        oneOf("record", c.record, {"off", "step", "tensor", "full"}),
        within("world", c.world, 1, kMaxWorld),
        within("align-world", c.alignWorld, 1, kMaxWorld),
        within("join-from", c.joinFrom, 0, kMaxWorld),
        within("data-world", c.dataWorld, 0, kMaxWorld),
        within<std::int64_t>("batch", c.batch, 1, kMaxSamples),
        within<std::int64_t>("steps", c.steps, 0, kMaxSteps),
        within<std::int64_t>("epochs", c.epochs, 0, kMaxSteps),
        within("lr", c.lr, 0.0, kMaxRate),
        within<std::int64_t>("scheduler-period", c.schedulerPeriod, 0, kMaxSteps),
        within("momentum", c.momentum, 0.0, 1.0),
        within("weight-decay", c.weightDecay, 0.0, kMaxRate),
        within("clip-norm", c.clipNorm, 0.0, kMaxFloat),
        within("clip-value", c.clipValue, 0.0, kMaxFloat),
        within("accumulate", c.accumulate, 1, int(kMaxSamples)),
        within("bucket-mb", c.bucketMb, 0.0, kMaxBucketMb),
        within("threads", c.threads, 1, kMaxThreads),
        within("scaler-scale", c.scalerScale, 1.0, kMaxFloat),
        within<std::int64_t>("scaler-growth-interval", c.scalerGrowthInterval, 1, kMaxInt),
        within<std::int64_t>("checkpoint-every", c.checkpointEvery, 0, kMaxSteps),
        within<std::int64_t>("log-every", c.logEvery, 0, kMaxSteps),
        within<std::int64_t>("eval-every", c.evalEvery, 0, kMaxSteps),
        within<std::int64_t>("freeze-until", c.freezeUntil, 0, kMaxSteps),
        within("collective-timeout", c.collectiveTimeoutSeconds, kMinTimeout, kMaxTimeout),
        // -1 stands for the workload's own, which is had by leaving the option out.
        c.dropout == -1 ? Status() : within("dropout", c.dropout, 0.0, 1.0),
    };
    for (const Status& check : checks)
        if (!check)
            return check;
    if (c.mode == "single" && c.world != 1)
        return badOption("world", fmt::format("{}", c.world), "1 with --mode single (see --align-world)");
    if (const Result<StepChoice> steps = StepChoice::parse(c.keepSteps); !steps)
        return steps.error();
    if (c.dataWorld > 0 && (c.dataWorld % c.world != 0 || c.alignWorld > 1 || c.order == "python"))
        return badOption("data-world", fmt::format("{}", c.dataWorld),
                         "a multiple of --world, without --align-world and --order python");
    if (c.backend == "nccl" && c.device != "cuda")
        return badOption("backend", c.backend, "gloo with --device cpu; NCCL needs --device cuda");
    return {};
}

int dataRanks(const RunConfig& c)
{
    if (c.dataWorld > 0)
        return c.dataWorld;
    if (c.mode == "single" && c.order == "python")
        return 1;
    return c.mode == "single" || (c.mode == "ddp" && c.world == 1) ? c.alignWorld : c.world;
}

std::int64_t samplesPerStep(const RunConfig& config)
{
    return config.batch * config.accumulate * dataRanks(config);
}

Result<FaultSpec> parseFault(const std::string& text)
{
    FaultSpec fault;
    std::size_t begin = 0;
    for (bool first = true; begin <= text.size(); first = false) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string part = text.substr(begin, end - begin);
        const std::size_t equals = part.find('=');
        if (first && !part.empty() && equals == std::string::npos)
            fault.id = part;
        else if (!first && equals != std::string::npos && equals > 0)
            fault.parameters[part.substr(0, equals)] = part.substr(equals + 1);
        else
            return Error{ErrorKind::Usage, fmt::format("--fault {} cannot be read", text),
                         "the form is ID or ID,name=value,name=value", "Write for example --fault B6,k=2"};
        begin = end + 1;
    }
    return fault;
}

std::vector<std::pair<std::string, std::string>> flatten(const RunConfig& config)
{
    std::vector<std::pair<std::string, std::string>> out;
    eachField(config, FieldPrinter{out});
    return out;
}

} // namespace lockstep
