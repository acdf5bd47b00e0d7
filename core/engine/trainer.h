// The training loops: one replica with or without DDP, and the twin. Throw what torch throws; worker.cpp
// turns that into a sentence.
#pragma once

#include "core/engine/communicator.h"
#include "core/engine/recorder.h"
#include "core/engine/replica.h"

#include <string>
#include <vector>

namespace lockstep {

struct TrainingSetup {
    RunConfig config;
    const Workload* workload = nullptr;
    const FaultSet* faults = nullptr;
    int rank = 0;
    int world = 1;
    std::string runFolder;                         // empty: no checkpoints
    Recorder* recorder = nullptr;                  // null: nothing is recorded
    Communicator* communicator = nullptr;          // null: single and twin
    std::vector<std::int64_t>* stepEnds = nullptr; // monotonic ns after every step, for measurements
};

struct TrainingEnd {
    std::int64_t step = 0;
    bool stopped = false; // by a signal, before the last step
};

// Modes single and ddp.
TrainingEnd trainRank(const TrainingSetup& setup);
// Mode twin: all ranks of `world` in this process.
TrainingEnd trainTwin(const TrainingSetup& setup);

// Steps that are due for a checkpoint: every config.checkpointEvery, the last one, and the one stopped at.
bool checkpointDue(const TrainingSetup& setup, const Replica& replica, bool stopping);
// Writes it and reports the event; a checkpoint that cannot be written ends the run with a sentence (thrown
// as Failure).
void saveCheckpoint(const TrainingSetup& setup, Replica& replica, const std::vector<at::Tensor>& generators);
// Events at the boundaries of accumulation windows and epochs.
void reportBoundaries(const TrainingSetup& setup, Replica& replica);

// An Error on its way to the edge of the engine.
struct Failure {
    Error error;
};

} // namespace lockstep
