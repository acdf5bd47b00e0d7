#include "core/engine/recorder.h"

#include "core/engine/stop_signal.h"
#include "core/wire/frame.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace lockstep {

namespace {

using namespace std::chrono_literals;

constexpr auto kFlushInterval = 40ms; // how old a record may get before it is sent
constexpr auto kHeartbeatInterval = 500ms;
constexpr auto kGraceAfterHostGone = 3s; // for a rank that hangs in a collective when its host is killed
constexpr std::size_t kFlushBytes = 256 << 10;

template<typename Record>
void append(std::string& out, wire::FrameKind kind, const Record& record)
{
    wire::appendFrame(out, kind, wire::encode(record));
}

} // namespace

std::int64_t monotonicNs()
{
    timespec t;
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

Recorder::Recorder(StreamSink sink, const wire::Hello& hello) : sink_(std::move(sink)), rank_(hello.rank)
{
    out_ = wire::streamHeader();
    append(out_, wire::FrameKind::Hello, hello);
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

void Recorder::describe(StateNames names, bool perTensor)
{
    measure_ = std::make_unique<StepMeasure>(std::move(names), perTensor);
}

void Recorder::submit(StepJob job)
{
    step_.store(job.record.step, std::memory_order_relaxed);
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
        ++unread_;
    }
    wake_.notify_one();
}

void Recorder::event(EventRecord event)
{
    event.rank = rank_;
    event.monotonicNs = monotonicNs();
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event)); // sent with the next job or flush: events are not urgent
}

void Recorder::waitUntilRead()
{
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return unread_ == 0; });
}

void Recorder::finish(const wire::Goodbye& goodbye)
{
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
    append(out_, wire::FrameKind::Goodbye, goodbye);
    flush();
}

void Recorder::run()
{
    // Where all cores are busy the training threads go first.
    ::setpriority(PRIO_PROCESS, id_t(::syscall(SYS_gettid)), 5);
    auto lastFlush = std::chrono::steady_clock::now();
    auto lastBeat = lastFlush;
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait_for(lock, kFlushInterval, [this] { return !jobs_.empty() || stop_; });
        while (!jobs_.empty()) {
            StepJob job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            process(job);
            lock.lock();
            if (--unread_ == 0)
                idle_.notify_all();
        }
        for (; !events_.empty(); events_.pop_front())
            append(out_, wire::FrameKind::Event, events_.front());
        const bool stop = stop_;
        lock.unlock();
        const auto now = std::chrono::steady_clock::now();
        if (now - lastBeat >= kHeartbeatInterval) {
            heartbeat();
            lastBeat = now;
        }
        if (stop || out_.size() >= kFlushBytes || now - lastFlush >= kFlushInterval) {
            flush();
            lastFlush = now;
        }
        if (stop)
            return;
        lock.lock();
    }
}

void Recorder::process(StepJob& job)
{
    measure_->measure(job, tensors_);
    append(out_, wire::FrameKind::Step, job.record);
    for (const SamplesRecord& samples : job.samples)
        append(out_, wire::FrameKind::Samples, samples);
    for (const TensorRecord& tensor : tensors_)
        append(out_, wire::FrameKind::Tensor, tensor);
    tensors_.clear();
}

void Recorder::heartbeat()
{
    append(out_, wire::FrameKind::Heartbeat,
           wire::Heartbeat{rank_, step_.load(std::memory_order_relaxed),
                           stage_.load(std::memory_order_relaxed), monotonicNs()});
}

void Recorder::flush()
{
    if (hostGone()) {
        out_.clear();
        return;
    }
    const Status sent = sink_.write(out_);
    out_.clear();
    if (!sent)
        onHostGone(sent.error());
    else if (sink_.peerGone())
        onHostGone({ErrorKind::Io, "The recording host closed the connection", "lockstep-cli ended",
                    "Run lockstep-cli runs to see what was kept"});
}

// Nobody listens any more, so nobody wants this run to go on. The rank stops at its next step; where it
// cannot reach one (its peers are gone and a collective hangs), the alarm ends it.
void Recorder::onHostGone(const Error& error)
{
    hostGone_.store(true, std::memory_order_relaxed);
    std::fprintf(stderr, "lockstep-worker: rank %d: %s\n", int(rank_), error.sentence().c_str());
    requestStop();
    ::alarm(std::chrono::duration_cast<std::chrono::seconds>(kGraceAfterHostGone).count());
}

} // namespace lockstep
