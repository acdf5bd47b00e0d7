#include "core/engine/peer_loss.h"

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace lockstep {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPeersReport = 200ms; // survivors notice within milliseconds of each other
constexpr auto kStoreAnswers = 250ms;

std::string causeKey(int rank)
{
    return "loss_cause_" + std::to_string(rank);
}

std::string echoKey(int rank)
{
    return "loss_echo_" + std::to_string(rank);
}

std::vector<std::uint8_t> bytesOf(const std::string& text)
{
    return {text.begin(), text.end()};
}

// The only rank that left nothing; -1 while there are several.
int onlySilent(c10d::Store& store, int rank, int world)
{
    int silent = -1;
    for (int other = 0; other < world; ++other) {
        if (other == rank || store.check({echoKey(other)}))
            continue;
        if (silent >= 0)
            return -1;
        silent = other;
    }
    return silent;
}

PeerLoss::Cause askStore(c10d::Store& store, int rank, int world)
{
    store.set(echoKey(rank), bytesOf("1"));
    for (const auto end = Clock::now() + kPeersReport; Clock::now() < end; std::this_thread::sleep_for(5ms)) {
        for (int other = 0; other < world; ++other)
            if (other != rank && store.check({causeKey(other)})) {
                const std::vector<std::uint8_t> said = store.get(causeKey(other));
                return {other, std::string(said.begin(), said.end())};
            }
        if (const int silent = onlySilent(store, rank, world); silent >= 0)
            return {silent, {}};
    }
    return {};
}

} // namespace

PeerLoss::PeerLoss(const c10::intrusive_ptr<c10d::Store>& store, int rank, int world, int host)
    : store_(store->clone()), rank_(rank), world_(world), host_(host)
{
}

void PeerLoss::tell(const std::string& sentence)
{
    // On threads that may stay behind: the process ends soon, and a store that hangs must not hold it up.
    auto done = std::make_shared<std::promise<void>>();
    std::thread([store = store_, key = causeKey(rank_), sentence, done] {
        try {
            store->set(key, bytesOf(sentence));
        } catch (const std::exception&) {
            // The store went first; the peers will say so.
        }
        done->set_value();
    }).detach();
    done->get_future().wait_for(kStoreAnswers);
}

PeerLoss::Cause PeerLoss::ask()
{
    auto answer = std::make_shared<std::promise<Cause>>();
    std::thread([store = store_, rank = rank_, world = world_, host = host_, answer] {
        Cause cause;
        try {
            cause = askStore(*store, rank, world);
        } catch (const std::exception&) {
            cause.rank = host == rank ? -1 : host; // the store ended with its process
        }
        answer->set_value(std::move(cause));
    }).detach();
    std::future<Cause> cause = answer->get_future();
    if (cause.wait_for(kStoreAnswers + kPeersReport / 4) == std::future_status::ready) {
        const Cause found = cause.get();
        if (found.rank >= 0 || world_ > 2)
            return found;
    } else if (host_ >= 0 && host_ != rank_) {
        return {host_, {}}; // it does not answer
    }
    return {world_ == 2 ? 1 - rank_ : -1, {}};
}

} // namespace lockstep
