// Turns StepJobs into frames and sends them, off the training thread. One thread of its own; the training
// thread pays for handing over a job and, before it changes parameters again, for waiting until the last job
// has been read (rarely any).
#pragma once

#include "core/engine/step_job.h"
#include "core/engine/step_measure.h"
#include "core/engine/stream_sink.h"
#include "core/wire/codec.h"

#include <atomic>
#include <condition_variable>
#include <deque>
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

    // Training thread. Never blocks: at most one step is in the queue because of waitUntilRead().
    void submit(StepJob job);
    void event(EventRecord event);
    // Returns when no submitted job needs the parameters, optimizer state or gradients any more.
    void waitUntilRead();
    // For heartbeats; costs a store.
    void stage(wire::Stage stage) { stage_.store(stage, std::memory_order_relaxed); }

    // Sends what is left and the Goodbye, then ends the thread. Call once.
    void finish(const wire::Goodbye& goodbye);

    // The host went away: the rank has asked itself to stop.
    bool hostGone() const { return hostGone_.load(std::memory_order_relaxed); }

private:
    void run();
    void process(StepJob& job);
    void flush();
    void heartbeat();
    void onHostGone(const Error& error);

    StreamSink sink_;
    std::int32_t rank_;
    std::unique_ptr<StepMeasure> measure_;
    std::string out_; // frames not yet handed to the kernel; recorder thread only
    std::vector<TensorRecord> tensors_;

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable idle_;
    std::deque<StepJob> jobs_;
    std::deque<EventRecord> events_;
    std::size_t unread_ = 0; // jobs submitted and not yet measured
    bool stop_ = false;

    std::atomic<wire::Stage> stage_{wire::Stage::Start};
    std::atomic<std::int64_t> step_{0};
    std::atomic<bool> hostGone_{false};
    std::thread thread_;
};

std::int64_t monotonicNs();

} // namespace lockstep
