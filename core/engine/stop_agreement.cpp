#include "core/engine/stop_agreement.h"

#include "core/engine/stop_signal.h"

#include <chrono>
#include <string>

namespace lockstep {

namespace {

using namespace std::chrono_literals;

constexpr auto kWatchInterval = 50ms;
constexpr auto kPeersMayTake = 2s; // a peer that does not answer by then is gone; the reduction will say so
const char* const kStopAt = "stop_at";
const char* const kKnown = "stop_known";

std::int64_t numberIn(const std::vector<std::uint8_t>& bytes)
{
    return std::stoll(std::string(bytes.begin(), bytes.end()));
}

} // namespace

StopAgreement::StopAgreement(const c10::intrusive_ptr<c10d::Store>& store, int world)
    : store_(store), watched_(store->clone()), world_(world)
{
    watcher_ = std::thread([this] { watch(); });
}

StopAgreement::~StopAgreement()
{
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    closing_.notify_one();
    watcher_.join();
}

bool StopAgreement::stopsAlone()
{
    return stopRequested();
}

bool StopAgreement::stopsAfter(std::int64_t step)
{
    if (stopAt_.load() < 0 && stopRequested())
        propose(step);
    const std::int64_t at = stopAt_.load();
    return at >= 0 && step >= at;
}

void StopAgreement::watch()
{
    std::unique_lock lock(mutex_);
    while (!closing_.wait_for(lock, kWatchInterval, [this] { return closed_; })) {
        lock.unlock();
        try {
            if (watched_->check({kStopAt})) {
                stopAt_.store(numberIn(watched_->get(kStopAt)));
                watched_->add(kKnown, 1);
                return;
            }
        } catch (const std::exception&) {
            return; // the store's host ended: the run is ending too
        }
        lock.lock();
    }
}

void StopAgreement::propose(std::int64_t step)
{
    const std::string wanted = std::to_string(step + 1);
    try {
        // The first proposal counts; whoever comes second gets that one back.
        const auto agreed = store_->compareSet(kStopAt, std::vector<std::uint8_t>(),
                                               std::vector<std::uint8_t>(wanted.begin(), wanted.end()));
        stopAt_.store(numberIn(agreed));
        for (auto end = std::chrono::steady_clock::now() + kPeersMayTake; store_->add(kKnown, 0) < world_;) {
            if (std::chrono::steady_clock::now() > end)
                return;
            std::this_thread::sleep_for(5ms);
        }
    } catch (const std::exception&) {
        stopAt_.store(step); // the store is gone: stop here
    }
}

} // namespace lockstep
