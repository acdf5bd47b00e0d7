// The training loops: one replica with or without DDP, and the twin. Throw what torch throws; worker.cpp
// turns that into a sentence.
#pragma once

#include "core/engine/checkpoint.h"
#include "core/engine/communicator.h"
#include "core/engine/recorder.h"
#include "core/engine/replica.h"
#include "core/engine/restore.h"

#include <string>
#include <vector>

namespace lockstep {

class StepProbe;

// An Error on its way to the edge of the engine.
struct Failure {
    Error error;
};

struct TrainingSetup {
    RunConfig config;
    const Workload* workload = nullptr;
    const FaultSet* faults = nullptr;
    int rank = 0;
    int world = 1;
    std::string runFolder;                         // empty: no checkpoints
    const ResumePoint* resume = nullptr;           // null: from the start; its config() is `config`
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
void saveCheckpoint(const TrainingSetup& setup, Replica& replica, const RankStates& states);
// Puts back what all ranks share; does nothing without a resume. Throws Failure.
void restoreShared(const TrainingSetup& setup, Replica& replica);
// Puts back, or starts, this rank's random streams. Throws Failure.
void startStreams(const TrainingSetup& setup, Replica& replica);
// The state before the first step of this process: the record of step 0, or the event "resume". `generator` as in
// StepProbe::record.
void recordStart(const TrainingSetup& setup, const Replica& replica, StepProbe& probe,
                 const at::Tensor& generator = {});
// Path and size of a written file as the detail of its event.
std::string writtenDetail(const CheckpointWritten& written);
// Level full: `probe` keeps the tensors of the chosen steps in the run's folder.
void keepTensors(const TrainingSetup& setup, StepProbe& probe);
// Events at the boundaries of accumulation windows and epochs.
void reportBoundaries(const TrainingSetup& setup, Replica& replica);

} // namespace lockstep
