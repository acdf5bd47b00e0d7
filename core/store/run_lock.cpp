#include "core/store/run_lock.h"

#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace lockstep::store {

namespace {

std::string lockPath(const std::string& folder)
{
    return folder + "/writer.lock";
}

} // namespace

Result<RunLock> RunLock::take(const std::string& folder)
{
    // Close-on-exec: the ranks this process starts must not keep the lock alive.
    const int descriptor = ::open(lockPath(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return Error{ErrorKind::Io, "Cannot create " + lockPath(folder), std::strerror(errno),
                     "Check the folder and its permissions"};
    RunLock lock(descriptor);
    // holder() takes the lock for an instant; a few tries outlast any number of lookers.
    for (int attempt = 0; attempt < 50; ++attempt) {
        if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            return lock;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return Error{ErrorKind::Io, "Cannot lock " + lockPath(folder), std::strerror(errno),
                         "Put the project on a local disk"};
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return Error{ErrorKind::Busy, "Cannot write the run in " + folder, "another process is recording it",
                 "Wait for that run to end, or start a new one"};
}

RunLock::Holder RunLock::holder(const std::string& folder)
{
    const int descriptor = ::open(lockPath(folder).c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return Holder::NotYet;
    const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return held ? Holder::Writer : Holder::Nobody;
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1))
{
}

RunLock::~RunLock()
{
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

} // namespace lockstep::store
