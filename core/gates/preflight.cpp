#include "core/gates/preflight.h"

#include "core/base/hexfloat.h"
#include "core/config/json.h"
#include "core/gates/gate_check.h"
#include "core/gates/text.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace lockstep {

namespace {

std::string configsJson(const PreflightInput& input)
{
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    const auto config = [&writer](const char* key, const RunConfig& c) {
        const std::string json = toJson(c);
        writer.Key(key);
        writer.RawValue(json.data(), json.size(), rapidjson::kObjectType);
    };
    writer.StartObject();
    config("single", input.single);
    config("ddp", input.ddp);
    writer.Key("single_name"), writer.String(input.singleName);
    writer.Key("ddp_name"), writer.String(input.ddpName);
    writer.EndObject();
    return buffer.GetString();
}

// D1 as the runs really trained: the rate of the first step.
void addUsedRate(const PreflightInput& input, std::vector<GateCheck>& checks)
{
    if (!input.singleRate || !input.ddpRate)
        return;
    GateCheck check;
    check.id = "preflight.lr_used";
    const bool equal = *input.singleRate == *input.ddpRate;
    check.verdict = equal ? "pass" : "fail";
    check.value = fmt::format("{:.9g}", *input.ddpRate);
    check.limit = fmt::format("{:.9g}", *input.singleRate);
    check.step = 1;
    if (equal) {
        check.sentence = "Both runs use the same learning rate in their first step.";
    } else {
        const double ratio = *input.ddpRate / *input.singleRate;
        check.cause = "D1";
        check.sentence =
            fmt::format("DDP uses {:.6g} times the learning rate of the single run in step 1{}.", ratio,
                        std::abs(ratio - input.ddp.world) < 1e-6 * input.ddp.world
                            ? ", the number of ranks: it is scaled in code, not in the configuration"
                            : "");
        check.fix = "Remove the scaling, or use it together with the larger global batch it belongs to";
        check.evidenceJson = evidenceJson(
            {{input.singleName, hexFloat(*input.singleRate)}, {input.ddpName, hexFloat(*input.ddpRate)}});
    }
    checks.push_back(std::move(check));
}

} // namespace

GateInfo judgePreflight(const PreflightInput& input)
{
    GateInfo gate;
    gate.phase = "preflight";
    gate.judgedUnixMs = std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
    gate.configJson = configsJson(input);
    gate.checks =
        environmentChecks(input.singleEnvironment, input.ddpEnvironment, input.machine,
                          {input.ddp.backend, input.ddp.device, input.ddp.world, input.ddp.threads});
    for (GateCheck& check : configChecks(input.single, input.ddp, input.samples ? &*input.samples : nullptr))
        gate.checks.push_back(std::move(check));
    addUsedRate(input, gate.checks);
    gate.verdict = verdictOf(gate.checks);
    return gate;
}

Result<JudgedConfigs> judgedConfigs(const std::string& configJson)
{
    auto json = parseJson(configJson, "The configuration of the preflight gate");
    if (!json)
        return json.error();
    const auto unusable = [](const std::string& why) {
        return Error{ErrorKind::Input, "The preflight gate's configuration cannot be read", why,
                     "Judge preflight again"};
    };
    if (!json->IsObject())
        return unusable("it is not a JSON object");
    JudgedConfigs configs;
    for (const auto& [key, config] : {std::pair("single", &configs.single), std::pair("ddp", &configs.ddp)}) {
        const auto it = json->FindMember(key);
        if (it == json->MemberEnd() || !it->value.IsObject())
            return unusable(fmt::format("it lacks \"{}\"", key));
        Result<RunConfig> parsed = runConfigFromJson(jsonText(it->value));
        if (!parsed)
            return unusable(fmt::format("\"{}\": {}", key, parsed.error().sentence()));
        *config = std::move(parsed).value();
    }
    configs.singleName = memberText(*json, "single_name");
    configs.ddpName = memberText(*json, "ddp_name");
    return configs;
}

} // namespace lockstep
