// What lockstep-worker says before a run: its catalogue, its environment, and whether it would take a configuration.
// Each call starts the program and waits for its answer (about 0.3 s); needs a QCoreApplication.
#pragma once

#include "core/config/json.h"
#include "core/config/run_config.h"

#include <string>

namespace lockstep {

// Workloads with their options, faults, and the faults left out: the JSON of lockstep-worker --catalogue.
Result<rapidjson::Document> workerCatalogue();

// The JSON of the Hello frame a rank of this configuration would send.
Result<std::string> workerEnvironment(const RunConfig& config);

// The refusal every rank would answer with, before a run exists in the store.
Status checkWithWorker(const RunConfig& config);

// Error (Usage) with the known names, if the engine has no such workload.
Status checkWorkloadName(const std::string& workload);

} // namespace lockstep
