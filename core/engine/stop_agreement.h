// How ranks of a DDP run agree on the step after which they stop (see Communicator::agreeToStop). Internal to
// the communicator.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace lockstep {

class StopAgreement
{
public:
    // Watches the store through a connection of its own, on a thread of its own.
    StopAgreement(const c10::intrusive_ptr<c10d::Store>& store, int world);
    ~StopAgreement();

    bool stopsAfter(std::int64_t step); // training thread
    static bool stopsAlone();           // a world of one

private:
    void watch();
    void propose(std::int64_t step);

    c10::intrusive_ptr<c10d::Store> store_;
    c10::intrusive_ptr<c10d::Store> watched_;
    int world_;
    std::atomic<std::int64_t> stopAt_{-1};
    std::mutex mutex_;
    std::condition_variable closing_;
    bool closed_ = false;
    std::thread watcher_;
};

} // namespace lockstep
