// What the engine can do, for people and programs that ask before they start a run. No torch types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct WorkloadInfo {
    std::string name;
    std::string sentence;
    std::int64_t defaultEpochs = 1; // where a run names neither steps nor epochs
    std::vector<std::string>
        options; // names accepted in RunConfig::workloadOptions, each with its meaning after a colon
};

// One entry of the fault catalogue that the engine can play.
struct FaultInfo {
    std::string id; // as in the catalogue: "B6"
    std::string sentence;
    std::vector<std::string> parameters; // "name: meaning"
    bool ranksDiverge = false;           // parameters differ between ranks afterwards
};

std::vector<WorkloadInfo> knownWorkloads();
std::vector<FaultInfo> knownFaults();

} // namespace lockstep
