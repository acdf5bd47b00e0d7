#include "core/engine/faults/drill_faults.h"

#include "core/engine/fault.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

namespace lockstep {

namespace {

std::atomic<bool> stopInCollective{false};

// The moment that all drills share: one rank, one step, one stage of it.
class Drill : public Fault
{
public:
    explicit Drill(const FaultSpec& spec)
        : rank_(int(faultNumber(spec, "rank", 0))), step_(std::int64_t(faultNumber(spec, "step", 1)))
    {
    }

protected:
    bool isDue(const FaultMoment& at) const { return at.rank == rank_ && at.step == step_; }
    std::int64_t step() const { return step_; }
    int rank() const { return rank_; }

private:
    int rank_;
    std::int64_t step_;
};

class LoaderThrows final : public Drill
{
public:
    using Drill::Drill;
    void stage(const FaultMoment& at, wire::Stage stage) override
    {
        if (stage == wire::Stage::Data && isDue(at))
            throw std::runtime_error("the data loader failed in step " + std::to_string(at.step) +
                                     " (a drill: on purpose)");
    }
};

// The whole process stops, its sign of life too, as when a node freezes.
class Hang final : public Drill
{
public:
    enum class Place { Data = 0, Forward = 1, Collective = 2 };
    explicit Hang(const FaultSpec& spec) : Drill(spec), place_(Place(int(faultNumber(spec, "place", 0)))) {}

    void stage(const FaultMoment& at, wire::Stage stage) override
    {
        if (!isDue(at))
            return;
        if (stage == wire::Stage::Data && place_ == Place::Data)
            std::raise(SIGSTOP);
        else if (stage == wire::Stage::Forward && place_ == Place::Forward)
            std::raise(SIGSTOP);
        else if (stage == wire::Stage::Backward && place_ == Place::Collective)
            stopInCollective.store(true);
    }

private:
    Place place_;
};

// A step that takes longer and then goes on. With "every", all later steps at that distance too.
class Slow final : public Drill
{
public:
    explicit Slow(const FaultSpec& spec)
        : Drill(spec),
          pause_(std::int64_t(faultNumber(spec, "ms", 100))),
          every_(std::int64_t(faultNumber(spec, "every", 0)))
    {
    }
    void stage(const FaultMoment& at, wire::Stage stage) override
    {
        const bool again =
            every_ > 0 && at.rank == rank() && at.step > step() && (at.step - step()) % every_ == 0;
        if (stage == wire::Stage::Data && (isDue(at) || again))
            std::this_thread::sleep_for(std::chrono::milliseconds(pause_));
    }

private:
    std::int64_t pause_;
    std::int64_t every_;
};

// From this step on the rank cannot make a file longer than "bytes": a disk that fills up, for one process.
class DiskFills final : public Drill
{
public:
    explicit DiskFills(const FaultSpec& spec) : Drill(spec), bytes_(rlim_t(faultNumber(spec, "bytes", 65536)))
    {
    }
    void stage(const FaultMoment& at, wire::Stage stage) override
    {
        if (stage != wire::Stage::Data || !isDue(at))
            return;
        const rlimit limit = {bytes_, bytes_};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }

private:
    rlim_t bytes_;
};

const std::string kRank = "rank: the rank it happens on (0)";
const std::string kStep = "step: the optimizer step (1)";

const FaultRegistration loaderThrows(
    faultEntry<LoaderThrows>({"drill-throw", "the data loader of one rank fails", {kRank, kStep}}));
const FaultRegistration hang(faultEntry<Hang>(
    {"drill-hang", "one rank stops for ever", {kRank, kStep, "place: 0 data, 1 forward, 2 collective (0)"}}));
const FaultRegistration
    slow(faultEntry<Slow>({"drill-slow",
                           "one rank takes long over a step",
                           {kRank, kStep, "ms: how long (100)", "every: again every so many steps"}}));
const FaultRegistration diskFills(faultEntry<DiskFills>({"drill-disk",
                                                         "one rank cannot write long files any more",
                                                         {kRank, kStep, "bytes: longest file (65536)"}}));

} // namespace

void drillCollective()
{
    if (!stopInCollective.load(std::memory_order_relaxed))
        return;
    stopInCollective.store(false);
    // From another thread, so that the collective is under way when everything stops.
    std::thread([] { ::kill(::getpid(), SIGSTOP); }).detach();
}

} // namespace lockstep
