// Preflight: environment and configuration, before anything is trained.
#pragma once

#include "core/gates/config_diff.h"
#include "core/gates/environment_checks.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct PreflightInput {
    RunConfig single;
    RunConfig ddp;
    std::string singleName = "planned"; // which run the configuration comes from
    std::string ddpName = "planned";
    EnvironmentReport singleEnvironment;
    EnvironmentReport ddpEnvironment;
    MachineFacts machine;
    // First recorded learning rates, where runs exist: a rate that was scaled in code does not show in a configuration.
    std::optional<double> singleRate;
    std::optional<double> ddpRate;
    // Whether both trained on the same samples, where both recorded them.
    std::optional<SampleAgreement> samples;
};

GateInfo judgePreflight(const PreflightInput& input);

// The two configurations in GateInfo::configJson of a preflight gate.
struct JudgedConfigs {
    RunConfig single, ddp;
    std::string singleName, ddpName;
};
Result<JudgedConfigs> judgedConfigs(const std::string& configJson);

} // namespace lockstep
