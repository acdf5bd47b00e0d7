// The writer lock of a run: flock on <run folder>/writer.lock, held by the one RunWriter for its whole life
// and released by the kernel when that process ends, however it ends. Who finds it free knows that nobody
// writes the run any more.
#pragma once

#include "core/base/status.h"

#include <string>

namespace lockstep::store {

class RunLock
{
public:
    // Errors: Busy (another writer lives), Io.
    static Result<RunLock> take(const std::string& folder);
    enum class Holder {
        Nobody, // there was a writer, it has gone
        Writer,
        NotYet, // no lock file: the run has been entered but not begun
    };
    static Holder holder(const std::string& folder);

    RunLock(RunLock&& other) noexcept;
    RunLock& operator=(RunLock&&) = delete;
    ~RunLock();

private:
    explicit RunLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

} // namespace lockstep::store
