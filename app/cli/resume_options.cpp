#include "app/cli/resume_options.h"

#include "core/ckpt/open.h"
#include "core/config/json.h"

#include <algorithm>
#include <map>

namespace lockstep {

namespace {

// Options whose name is not that of the field.
const std::map<std::string, std::string> kOtherNames = {{"no_shuffle", "shuffle"},
                                                        {"no_broadcast_buffers", "broadcast_buffers"},
                                                        {"collective_timeout", "collective_timeout_seconds"},
                                                        {"fault", "faults"},
                                                        {"workload_option", "workload_options"}};
// Belong to a run, not to a training. The worker deals the data again (data_world).
constexpr const char* kOwn[] = {"name", "resume", "faults", "data_world"};

std::string fieldOf(const CLI::Option& option)
{
    std::string name = option.get_single_name();
    std::replace(name.begin(), name.end(), '-', '_');
    const auto other = kOtherNames.find(name);
    return other == kOtherNames.end() ? name : other->second;
}

Result<std::string> savedConfig(const std::string& path)
{
    const Result<Checkpoint> file = openCheckpoint(path);
    if (!file)
        return file.error();
    if (const CkptProblem* problem = file->fatal())
        return problem->toError();
    const Value root = file->rootValue();
    const Value config = root.is(ValueKind::Dict) ? root.get("config") : Value();
    if (!config.is(ValueKind::Str))
        return Error{ErrorKind::Input, "The run cannot go on from " + path,
                     "it is no checkpoint of a run of Lockstep",
                     "Choose one from the checkpoints folder of a run"};
    return std::string(config.text());
}

} // namespace

Result<RunConfig> configFromCheckpoint(const CLI::App& command, const RunConfig& given)
{
    const Result<std::string> text = savedConfig(given.resume);
    if (!text)
        return text.error();
    Result<rapidjson::Document> saved = parseJson(*text, "The configuration in the checkpoint");
    if (!saved)
        return saved.error();
    const Result<rapidjson::Document> mine = parseJson(toJson(given), "The configuration");
    if (!saved->IsObject() || !mine)
        return Error{ErrorKind::Corrupt, "The run cannot go on from " + given.resume,
                     "the configuration in it is not a JSON object", "Choose another checkpoint"};
    const auto take = [&](const std::string& field) {
        const auto it = mine->FindMember(field.c_str());
        if (it == mine->MemberEnd())
            return; // an option of the command, not of the configuration
        saved->RemoveMember(field.c_str());
        rapidjson::Value key(field.c_str(), saved->GetAllocator());
        saved->AddMember(key, rapidjson::Value(it->value, saved->GetAllocator()), saved->GetAllocator());
    };
    for (const CLI::Option* option : command.get_options())
        if (option->count() > 0)
            take(fieldOf(*option));
    for (const char* field : kOwn)
        take(field);
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    saved->Accept(writer);
    return runConfigFromJson(buffer.GetString());
}

} // namespace lockstep
