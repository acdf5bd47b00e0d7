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

// What a run must have for a fault to show in it.
enum class FaultNeed {
    Accumulation,     // --accumulate 2 or more
    Clipping,         // --clip-norm
    Decay,            // --weight-decay
    Schedule,         // --scheduler other than none
    Tokens,           // a workload that weighs by tokens (char-gpt)
    Buffers,          // a workload with buffers (digits-cnn)
    FindUnused,       // --find-unused
    Scaler,           // --amp fp16
    Resume,           // --resume
    Log,              // --log-every
    Freeze,           // --freeze
    Several,          // two ranks or more
    Evaluation,       // --eval-every
    UnevenEvaluation, // an evaluation set that the ranks do not divide evenly
};

// One entry of the fault catalogue that the engine can play.
struct FaultInfo {
    std::string id;       // as in the catalogue: "B6"
    std::string sentence; // the mechanism
    std::vector<std::string> parameters =
        {};                    // "name: meaning"; numbers, but "param" names parameters of the model
    bool ranksDiverge = false; // parameters differ between ranks afterwards
    std::string title = {};
    std::string signs = {};   // what the records show
    std::string sources = {}; // where it happened to people
    std::vector<FaultNeed> needs = {};
};

// An entry of the catalogue without a switch.
struct LeftOutFault {
    std::string id;
    std::string title;
    std::string reason;
};

std::vector<WorkloadInfo> knownWorkloads();
// Ordered by family and number: A2 before A10.
std::vector<FaultInfo> knownFaults();
std::vector<LeftOutFault> leftOutFaults();
// The title of the family an id belongs to: "A" is "data"; empty for ids outside the catalogue (drills).
std::string faultFamily(const std::string& id);
// As the option that provides it, or what else does: "--accumulate 2 or more".
std::string faultNeedText(FaultNeed need);

} // namespace lockstep
