#include "core/engine/recorder.h"

#include "core/engine/stop_signal.h"
#include "core/wire/frame.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include <time.h>
#include <unistd.h>

namespace lockstep {

namespace {

using namespace std::chrono_literals;

constexpr auto kFlushInterval = 40ms; // how old a record may get before it is sent
constexpr auto kHeartbeatInterval = 500ms;
constexpr unsigned kGraceAfterHostGoneSeconds =
    3; // for a rank that hangs in a collective when its host is killed
// A host that does not read for so long makes the training wait: better than to fill the memory.
constexpr std::size_t kMostBuffered = 64u << 20;

} // namespace

std::int64_t monotonicNs()
{
    timespec t;
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

template<typename Record>
void Recorder::append(wire::FrameKind kind, const Record& record)
{
    const std::string payload = wire::encode(record);
    std::unique_lock lock(mutex_);
    while (out_.size() > kMostBuffered) {
        lock.unlock();
        std::this_thread::sleep_for(1ms);
        lock.lock();
    }
    wire::appendFrame(out_, kind, payload);
}

Recorder::Recorder(StreamSink sink, const wire::Hello& hello) : sink_(std::move(sink)), rank_(hello.rank)
{
    out_ = wire::streamHeader();
    append(wire::FrameKind::Hello, hello);
    flush();
    thread_ = std::thread([this] { run(); });
}

Recorder::~Recorder()
{
    if (!thread_.joinable())
        return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Recorder::add(const StepRecord& record)
{
    step_.store(record.step, std::memory_order_relaxed);
    append(wire::FrameKind::Step, record);
}

void Recorder::add(const SamplesRecord& record)
{
    append(wire::FrameKind::Samples, record);
}

void Recorder::add(const TensorRecord& record)
{
    append(wire::FrameKind::Tensor, record);
}

void Recorder::add(EventRecord event)
{
    event.rank = rank_;
    event.monotonicNs = monotonicNs();
    append(wire::FrameKind::Event, event);
}

void Recorder::settle()
{
    std::unique_lock lock(mutex_);
    settle_ = true;
    wake_.notify_one();
    settled_.wait(lock, [this] { return !settle_; });
}

void Recorder::finish(const wire::Goodbye& goodbye)
{
    append(wire::FrameKind::Goodbye, goodbye);
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Recorder::run()
{
    auto lastBeat = std::chrono::steady_clock::now();
    for (bool stop = false; !stop;) {
        bool settling = false;
        {
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, kFlushInterval, [this] { return stop_ || settle_; });
            stop = stop_;
            settling = settle_;
        }
        const auto now = std::chrono::steady_clock::now();
        if (now - lastBeat >= kHeartbeatInterval) {
            heartbeat();
            lastBeat = now;
        }
        flush();
        if (settling) {
            {
                const std::lock_guard lock(mutex_);
                settle_ = false;
            }
            settled_.notify_one();
        }
    }
}

void Recorder::heartbeat()
{
    append(wire::FrameKind::Heartbeat,
           wire::Heartbeat{rank_, step_.load(std::memory_order_relaxed),
                           stage_.load(std::memory_order_relaxed), monotonicNs()});
}

void Recorder::flush()
{
    sending_.clear();
    {
        const std::lock_guard lock(mutex_);
        sending_.swap(out_);
    }
    if (hostGone_)
        return;
    const Status sent = sink_.write(sending_);
    if (!sent)
        onHostGone(sent.error());
    else if (sink_.peerGone())
        onHostGone({ErrorKind::Io, "The recording host closed the connection", "lockstep-cli ended",
                    "Run lockstep-cli runs to see what was kept"});
}

// Nobody listens any more, so nobody wants this run to go on. The rank stops at its next step; where it cannot reach one
// (its peers are gone and a collective hangs), the alarm ends it.
void Recorder::onHostGone(const Error& error)
{
    hostGone_ = true;
    std::fprintf(stderr, "lockstep-worker: rank %d: %s\n", int(rank_), error.sentence().c_str());
    requestStop();
    ::alarm(kGraceAfterHostGoneSeconds);
}

} // namespace lockstep
