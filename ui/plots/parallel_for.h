// Runs the same function for 0 .. count - 1 on the calling thread and idle threads of the global pool.
#pragma once

#include <QThreadPool>

#include <atomic>
#include <memory>

namespace lockstep {

// Returns when every call has returned. `function(i)` must be safe to call from several threads. Never waits
// for a pool thread that has not begun: with a busy pool the caller does the work alone.
template<typename Function>
void parallelFor(int count, int threads, const Function& function)
{
    struct Shared {
        std::atomic<int> next{0};
        std::atomic<int> done{0};
    };
    auto shared = std::make_shared<Shared>();
    const Function* call = &function;
    const auto work = [shared, call, count] {
        // A late thread finds no index left and never touches `call`, which may be gone by then.
        for (int i = shared->next.fetch_add(1); i < count; i = shared->next.fetch_add(1)) {
            (*call)(i);
            if (shared->done.fetch_add(1) + 1 == count)
                shared->done.notify_all();
        }
    };
    for (int t = 1; t < threads && t < count; ++t)
        QThreadPool::globalInstance()->start(work);
    work();
    for (int done = shared->done.load(); done < count; done = shared->done.load())
        shared->done.wait(done);
}

} // namespace lockstep
