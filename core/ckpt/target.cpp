#include "core/ckpt/target.h"

#include "core/ckpt/open.h"
#include "core/ckpt/parts.h"
#include "core/config/json.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace lockstep {
namespace {

using Json = rapidjson::Value;

Target::Shape readShape(const Json& json)
{
    Target::Shape shape;
    if (json.IsArray())
        for (const Json& size : json.GetArray())
            shape.push_back(size.IsInt64() ? size.GetInt64() : -1);
    return shape;
}

void readOptimizer(const Json& json, Target& target)
{
    target.hasOptimizer = true;
    if (json.HasMember("groups"))
        target.optimizerGroups = readShape(json["groups"]);
    if (json.HasMember("params") && json["params"].IsArray())
        for (const Json& shape : json["params"].GetArray())
            target.optimizerParams.push_back(readShape(shape));
    if (json.HasMember("names") && json["names"].IsArray())
        for (const Json& name : json["names"].GetArray())
            target.optimizerNames.emplace_back(name.IsString() ? name.GetString() : "");
}

Target fromJson(const Json& json)
{
    Target target;
    if (json.HasMember("model") && json["model"].IsObject())
        for (const auto& member : json["model"].GetObject())
            target.model.emplace_back(std::string(member.name.GetString(), member.name.GetStringLength()),
                                      readShape(member.value));
    if (json.HasMember("optimizer") && json["optimizer"].IsObject())
        readOptimizer(json["optimizer"], target);
    if (json.HasMember("world_size") && json["world_size"].IsInt64())
        target.worldSize = json["world_size"].GetInt64();
    if (json.HasMember("tied") && json["tied"].IsArray()) {
        for (const Json& group : json["tied"].GetArray()) {
            std::vector<std::string> names;
            if (group.IsArray())
                for (const Json& name : group.GetArray())
                    names.emplace_back(name.IsString() ? name.GetString() : "");
            target.tied.push_back(std::move(names));
        }
    }
    if (json.HasMember("devices") && json["devices"].IsObject()) {
        target.devicesGiven = true;
        for (const auto& member : json["devices"].GetObject())
            target.devices[member.name.GetString()] = member.value.IsInt64() ? member.value.GetInt64() : 0;
    }
    target.torchVersion = memberText(json, "torch");
    target.numpyVersion = memberText(json, "numpy");
    target.modelIs = memberText(json, "model_is");
    target.amp = memberText(json, "amp");
    target.resume = json.HasMember("resume") && json["resume"].IsBool() && json["resume"].GetBool();
    return target;
}

Result<Target> fromCheckpoint(const std::string& path)
{
    Result<Checkpoint> checkpoint = openCheckpoint(path);
    if (!checkpoint)
        return checkpoint.error();
    if (const CkptProblem* problem = checkpoint->fatal())
        return problem->toError();
    const Parts parts = findParts(*checkpoint);
    if (!parts.model())
        return Error{ErrorKind::Input, path + " cannot be compared against", "it holds no state dict",
                     "Give a JSON file with the model's keys and shapes, or a checkpoint of the model"};
    Target target;
    for (const ModelKey& key : parts.model()->keys) {
        const auto shape = checkpoint->shape(checkpoint->tensors[key.tensor]);
        target.model.emplace_back(key.name, Target::Shape(shape.begin(), shape.end()));
    }
    return target;
}

} // namespace

const Target::Shape* Target::find(const std::string& key) const
{
    for (const auto& [name, shape] : model)
        if (name == key)
            return &shape;
    return nullptr;
}

Result<Target> readTarget(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    char first = 0;
    while (file.get(first) && (first == ' ' || first == '\n' || first == '\r' || first == '\t')) {
    }
    if (!file || first != '{')
        return fromCheckpoint(path);
    std::ostringstream text;
    text << first << file.rdbuf();
    const Result<rapidjson::Document> json = parseJson(text.str(), path);
    if (!json)
        return json.error();
    return fromJson(*json);
}

std::vector<int> parseVersion(const std::string& text)
{
    std::vector<int> version;
    const char* p = text.c_str();
    while (version.size() < 3) {
        char* end = nullptr;
        version.push_back(static_cast<int>(std::strtol(p, &end, 10)));
        if (end == p || *end != '.')
            break;
        p = end + 1;
    }
    version.resize(3);
    return version;
}

} // namespace lockstep
