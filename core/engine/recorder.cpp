#include "core/engine/recorder.h"

#include "core/engine/stop_signal.h"
#include "core/wire/frame.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace lockstep {

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kFlushNs = 40 * kMillisecond; // how old a record may get before it is sent
constexpr std::int64_t kHeartbeatNs = 500 * kMillisecond;
constexpr unsigned kGraceAfterHostGoneSeconds =
    3; // for a rank that hangs in a collective when its host is killed
// Sleeping and waking takes some 50 us: a job that is due sooner is waited for awake, at most this long.
constexpr std::int64_t kAwakeNs = 60'000;
constexpr std::int64_t kLongestNapNs = 10 * kMillisecond;

void pauseBriefly()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

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
        const std::lock_guard lock(stopMutex_);
        stop_ = true;
    }
    stopping_.notify_one();
    thread_.join();
}

void Recorder::describe(StateNames names, bool perTensor)
{
    measure_ = std::make_unique<StepMeasure>(std::move(names), perTensor);
}

void Recorder::submit(StepJob job)
{
    waitUntilRead(); // one slot; the twin submits several jobs per step
    step_.store(job.record.step, std::memory_order_relaxed);
    job_ = std::move(job);
    slot_.store(Slot::Full, std::memory_order_release);
    // After the slot: a recorder that sees this time and plans its sleep by it must see the job, too.
    const std::int64_t now = monotonicNs();
    const std::int64_t before = submittedNs_.exchange(now, std::memory_order_acq_rel);
    const std::int64_t mean = intervalNs_.load(std::memory_order_relaxed);
    if (before > 0)
        intervalNs_.store(mean > 0 ? mean + (now - before - mean) / 8 : now - before,
                          std::memory_order_relaxed);
}

bool Recorder::takeJob()
{
    Slot full = Slot::Full;
    return slot_.compare_exchange_strong(full, Slot::Taken, std::memory_order_acquire);
}

void Recorder::waitUntilRead()
{
    if (slot_.load(std::memory_order_acquire) == Slot::Empty)
        return;
    if (takeJob()) {
        workOff();
        return;
    }
    for (int spins = 0; slot_.load(std::memory_order_acquire) != Slot::Empty; ++spins) {
        if (spins < 20000)
            pauseBriefly();
        else
            std::this_thread::yield(); // the recorder's thread was put aside in the middle of its work
    }
}

void Recorder::workOff()
{
    measure_->measure(job_, tensors_);
    {
        const std::lock_guard lock(outMutex_);
        append(out_, wire::FrameKind::Step, job_.record);
        for (const SamplesRecord& samples : job_.samples)
            append(out_, wire::FrameKind::Samples, samples);
        for (const TensorRecord& tensor : tensors_)
            append(out_, wire::FrameKind::Tensor, tensor);
    }
    tensors_.clear();
    slot_.store(Slot::Empty, std::memory_order_release);
}

void Recorder::event(EventRecord event)
{
    event.rank = rank_;
    event.monotonicNs = monotonicNs();
    const std::lock_guard lock(outMutex_);
    append(out_, wire::FrameKind::Event, event);
}

void Recorder::finish(const wire::Goodbye& goodbye)
{
    {
        const std::lock_guard lock(stopMutex_);
        stop_ = true;
    }
    stopping_.notify_one();
    thread_.join();
    append(out_, wire::FrameKind::Goodbye, goodbye);
    flush();
}

void Recorder::run()
{
    // Where all cores are busy the training threads go first; naps end when asked, not up to 50 us later.
    ::setpriority(PRIO_PROCESS, id_t(::syscall(SYS_gettid)), 5);
    ::prctl(PR_SET_TIMERSLACK, 1000UL);
    std::int64_t lastFlush = monotonicNs();
    std::int64_t lastBeat = lastFlush;
    for (;;) {
        if (takeJob())
            workOff();
        const std::int64_t now = monotonicNs();
        if (now - lastBeat >= kHeartbeatNs) {
            heartbeat();
            lastBeat = now;
        }
        if (now - lastFlush >= kFlushNs) {
            flush();
            lastFlush = now;
        }
        const std::int64_t nap = sleepNs(now);
        if (nap <= 0 || slot_.load(std::memory_order_acquire) == Slot::Full) {
            pauseBriefly();
            continue;
        }
        std::unique_lock lock(stopMutex_);
        if (stopping_.wait_for(lock, std::chrono::nanoseconds(nap), [this] { return stop_; }))
            return;
    }
}

// How long nothing is due. Jobs come at the mean interval after the last one: sleep until shortly before, then stay awake
// for a moment, then nap in steps of a quarter interval.
std::int64_t Recorder::sleepNs(std::int64_t now) const
{
    const std::int64_t interval = intervalNs_.load(std::memory_order_relaxed);
    if (interval == 0)
        return kMillisecond;
    const std::int64_t due = submittedNs_.load(std::memory_order_acquire) + interval - interval / 16;
    if (now < due - kAwakeNs)
        return std::min(due - kAwakeNs - now, kLongestNapNs);
    if (now < due + kAwakeNs && interval < 50 * kAwakeNs)
        return 0;
    return std::clamp(interval / 4, kAwakeNs, kLongestNapNs);
}

void Recorder::heartbeat()
{
    const wire::Heartbeat beat{rank_, step_.load(std::memory_order_relaxed),
                               stage_.load(std::memory_order_relaxed), monotonicNs()};
    const std::lock_guard lock(outMutex_);
    append(out_, wire::FrameKind::Heartbeat, beat);
}

void Recorder::flush()
{
    std::string ready;
    {
        const std::lock_guard lock(outMutex_);
        ready.swap(out_);
        out_.reserve(ready.capacity());
    }
    if (hostGone())
        return;
    const Status sent = sink_.write(ready);
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
    ::alarm(kGraceAfterHostGoneSeconds);
}

} // namespace lockstep
