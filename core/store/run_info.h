// What the project knows of a run without opening its run.db.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

enum class RunState {
    Running,
    Finished,    // every rank ended with exit code 0
    Failed,      // a rank ended with an error; firstFailure says which and why
    Stopped,     // on request (SIGTERM, Stop button); a checkpoint was saved
    Interrupted, // the writer vanished (killed, power loss); found out by whoever looked next
};

// "running", "finished", "failed", "stopped", "interrupted".
const char* runStateName(RunState state);

struct FirstFailure {
    int rank = -1; // -1: none, or the launcher itself
    std::int64_t step = -1;
    std::string sentence;
};

struct RunInfo {
    std::string id;         // folder name below runs/, unique in the project
    std::string name;       // as given, or made from mode and world
    std::string configJson; // RunConfig
    std::string environmentJson;
    RunState state = RunState::Running;
    std::int64_t startedUnixMs = 0;
    std::int64_t endedUnixMs = 0; // 0 while running
    std::int64_t lastStep = -1;   // last committed step of rank 0; -1: none
    double lastLoss = 0;          // NaN while there is none
    std::vector<int> exitCodes;   // per rank; 128 + n for a signal n
    FirstFailure firstFailure;
    std::string folder; // absolute path of runs/<id>, filled when read

    // Made by a gate, a drill or a proof for a purpose of its own: it does not speak for the project, and nothing takes it
    // for the training that people run. Told by the name they give it.
    bool auxiliary() const;
};

} // namespace lockstep
