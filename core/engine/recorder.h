// Sends a rank's records. The training thread encodes a record into a buffer; a thread of the recorder's own hands the
// buffer to the kernel every few tens of milliseconds, sends heartbeats, and notices when the host goes away. So a step
// costs no system call, and a host that is slow for a moment stops nobody.
#pragma once

#include "core/base/records.h"
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

    // Any thread.
    void add(const StepRecord& record);
    void add(const SamplesRecord& record);
    void add(const TensorRecord& record);
    void add(EventRecord event); // rank and time are filled in
    // For heartbeats; costs a store.
    void stage(wire::Stage stage) { stage_.store(stage, std::memory_order_relaxed); }

    // Training thread: returns once everything added so far is with the kernel, so that it outlives this process.
    void settle();

    // Sends what is left and the Goodbye, then ends the thread. Call once.
    void finish(const wire::Goodbye& goodbye);

private:
    void run();
    void flush();
    void heartbeat();
    void onHostGone(const Error& error);
    template<typename Record>
    void append(wire::FrameKind kind, const Record& record);

    StreamSink sink_;
    std::int32_t rank_;

    std::mutex mutex_;
    std::condition_variable wake_;
    std::string out_; // frames not yet handed to the kernel
    bool stop_ = false;
    bool settle_ = false; // somebody waits for the next flush
    std::condition_variable settled_;

    std::string sending_; // the recorder's thread only; keeps its capacity
    std::atomic<wire::Stage> stage_{wire::Stage::Start};
    std::atomic<std::int64_t> step_{0};
    bool hostGone_ = false; // the recorder's thread; after it ended, finish()
    std::thread thread_;
};

std::int64_t monotonicNs();

} // namespace lockstep
