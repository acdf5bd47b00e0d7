// Turns StepJobs into frames and sends them, off the training thread. One thread of its own.
//
// The training thread pays no system call per step: it leaves the job in a slot, and the recorder's thread, which sleeps
// until shortly before the next job is due, finds it there. Where the recorder comes too late (all cores busy), the
// training thread measures the job itself before it changes parameters; nobody waits for a thread that does not run.
#pragma once

#include "core/engine/step_job.h"
#include "core/engine/step_measure.h"
#include "core/engine/stream_sink.h"
#include "core/wire/codec.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace lockstep {

class Recorder
{
public:
    // Sends the stream header and `hello` at once.
    Recorder(StreamSink sink, const wire::Hello& hello);
    ~Recorder();

    // Before the first submit().
    void describe(StateNames names, bool perTensor);

    // Training thread. The memory behind the job stays as it is until waitUntilRead() returns.
    void submit(StepJob job);
    // Training thread: the last submitted job is measured when this returns.
    void waitUntilRead();
    void event(EventRecord event);
    // For heartbeats; costs a store.
    void stage(wire::Stage stage) { stage_.store(stage, std::memory_order_relaxed); }

    // Sends what is left and the Goodbye, then ends the thread. Call once.
    void finish(const wire::Goodbye& goodbye);

    // The host went away: the rank has asked itself to stop.
    bool hostGone() const { return hostGone_.load(std::memory_order_relaxed); }

private:
    enum class Slot { Empty, Full, Taken };

    void run();
    bool takeJob(); // claims a full slot for the calling thread
    void workOff(); // measures and encodes the claimed job
    std::int64_t sleepNs(std::int64_t now) const;
    void flush();
    void heartbeat();
    void onHostGone(const Error& error);

    StreamSink sink_;
    std::int32_t rank_;
    std::unique_ptr<StepMeasure> measure_; // used by whoever claimed the slot
    StepJob job_;
    std::vector<TensorRecord> tensors_;
    std::atomic<Slot> slot_{Slot::Empty};
    std::atomic<std::int64_t> submittedNs_{0}; // of the last job
    std::atomic<std::int64_t> intervalNs_{0};  // between jobs, a running mean

    std::mutex outMutex_;
    std::string out_; // frames not yet handed to the kernel

    std::mutex stopMutex_;
    std::condition_variable stopping_;
    bool stop_ = false;

    std::atomic<wire::Stage> stage_{wire::Stage::Start};
    std::atomic<std::int64_t> step_{0};
    std::atomic<bool> hostGone_{false};
    std::thread thread_;
};

std::int64_t monotonicNs();

} // namespace lockstep
