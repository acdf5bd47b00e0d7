#include "core/config/run_extras.h"

#include "core/config/json.h"

namespace lockstep {

namespace {

constexpr const char* kCommand = "command";
constexpr const char* kOnLoss = "on_loss";

// The document with this member added or replaced.
std::string with(rapidjson::Document& json, const char* name, rapidjson::Value& value)
{
    json.RemoveMember(name);
    json.AddMember(rapidjson::StringRef(name), value, json.GetAllocator());
    return jsonText(json);
}

int numberOf(const rapidjson::Value& object, const char* name, int otherwise)
{
    const auto at = object.FindMember(name);
    return at != object.MemberEnd() && at->value.IsInt() ? at->value.GetInt() : otherwise;
}

} // namespace

std::string withScriptCommand(const std::string& configJson, const ScriptCommand& command)
{
    Result<rapidjson::Document> json = parseJson(configJson, "the configuration");
    if (!json || !json->IsObject())
        return configJson;
    auto& memory = json->GetAllocator();
    rapidjson::Value object(rapidjson::kObjectType), words(rapidjson::kArrayType);
    const auto text = [&](const std::string& value) {
        return rapidjson::Value(value.data(), rapidjson::SizeType(value.size()), memory);
    };
    for (const std::string& word : command.words)
        words.PushBack(text(word), memory);
    object.AddMember("words", words, memory);
    object.AddMember("program", text(command.program), memory);
    object.AddMember("folder", text(command.folder), memory);
    object.AddMember("world", command.world, memory);
    object.AddMember("ddp", command.ddp, memory);
    object.AddMember("threads", command.threads, memory);
    object.AddMember("record", text(command.record), memory);
    object.AddMember("metric", text(command.metric), memory);
    return with(json.value(), kCommand, object);
}

std::optional<ScriptCommand> scriptCommandOf(const std::string& configJson)
{
    const Result<rapidjson::Document> json = parseJson(configJson, "the configuration");
    if (!json || !json->IsObject())
        return std::nullopt;
    const auto at = json->FindMember(kCommand);
    if (at == json->MemberEnd() || !at->value.IsObject())
        return std::nullopt;
    const rapidjson::Value& object = at->value;
    ScriptCommand command;
    const auto words = object.FindMember("words");
    if (words != object.MemberEnd() && words->value.IsArray())
        for (const rapidjson::Value& word : words->value.GetArray())
            if (word.IsString())
                command.words.emplace_back(word.GetString(), word.GetStringLength());
    if (command.words.empty())
        return std::nullopt;
    command.program = memberText(object, "program");
    command.folder = memberText(object, "folder");
    command.world = numberOf(object, "world", 1);
    const auto ddp = object.FindMember("ddp");
    command.ddp = ddp != object.MemberEnd() && ddp->value.IsTrue();
    command.threads = numberOf(object, "threads", 1);
    if (const std::string record = memberText(object, "record"); !record.empty())
        command.record = record;
    command.metric = memberText(object, "metric");
    return command;
}

std::string withOnLoss(const std::string& configJson, const std::string& word)
{
    Result<rapidjson::Document> json = parseJson(configJson, "the configuration");
    if (!json || !json->IsObject())
        return configJson;
    rapidjson::Value value(word.data(), rapidjson::SizeType(word.size()), json->GetAllocator());
    return with(json.value(), kOnLoss, value);
}

std::string onLossOf(const std::string& configJson)
{
    const Result<rapidjson::Document> json = parseJson(configJson, "the configuration");
    const std::string word = json && json->IsObject() ? memberText(json.value(), kOnLoss) : std::string();
    return word.empty() ? "stop" : word;
}

} // namespace lockstep
