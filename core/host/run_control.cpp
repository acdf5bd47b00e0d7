#include "core/host/run_control.h"

#include "core/config/json.h"
#include "core/host/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <poll.h>
#include <unistd.h>
#include <utility>

extern "C" {
#include <sys/pidfd.h> // glibc 2.36 leaves out the C linkage
}

namespace lockstep {

namespace {

std::string hostFile(const std::string& runFolder)
{
    return runFolder + "/host.json";
}

// Start time of a process in clock ticks since boot: field 22 of /proc/PID/stat; empty if there is no such
// process. The second field, the program's name, may hold blanks and parentheses, so counting begins behind
// the last parenthesis.
std::string startTime(long pid)
{
    const std::string stat = readTextFile(fmt::format("/proc/{}/stat", pid));
    std::size_t at = stat.rfind(')');
    if (at == std::string::npos)
        return {};
    for (int field = 2; field < 22; ++field) {
        at = stat.find(' ', at + 1);
        if (at == std::string::npos)
            return {};
    }
    return stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

struct FileDescriptor {
    int fd = -1;
    explicit FileDescriptor(int descriptor) : fd(descriptor) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
    FileDescriptor& operator=(FileDescriptor&&) = delete;
    ~FileDescriptor()
    {
        if (fd >= 0)
            close(fd);
    }
};

Error notHere()
{
    return {ErrorKind::NotFound, "The run is not running here",
            "its host process cannot be found on this machine", "Look at its state with lockstep-cli runs"};
}

// A descriptor that means the host of the run, this very process; below 0 where there is none.
FileDescriptor hostOf(const std::string& runFolder)
{
    const std::string text = readTextFile(hostFile(runFolder));
    const Result<rapidjson::Document> json = parseJson(text.empty() ? "{}" : text, hostFile(runFolder));
    if (!json || !json->IsObject() || !json->HasMember("pid") || !json->HasMember("start") ||
        !json.value()["pid"].IsInt() || !json.value()["start"].IsString())
        return FileDescriptor(-1);
    const int pid = json.value()["pid"].GetInt();
    FileDescriptor process(pidfd_open(pid, 0));
    // The descriptor is open before the comparison: from here on it means this very process.
    if (process.fd >= 0 && startTime(pid) != json.value()["start"].GetString())
        return FileDescriptor(-1);
    return process;
}

std::string switchFile(const std::string& runFolder)
{
    return runFolder + "/switch";
}

} // namespace

Status writeHostFile(const std::string& runFolder)
{
    return writeTextFile(hostFile(runFolder),
                         fmt::format("{{\"pid\":{},\"start\":\"{}\"}}\n", getpid(), startTime(getpid())));
}

void removeHostFile(const std::string& runFolder)
{
    std::remove(hostFile(runFolder).c_str());
}

Status stopRunOf(const std::string& runFolder, int timeoutSeconds)
{
    const FileDescriptor process = hostOf(runFolder);
    if (process.fd < 0)
        return notHere();
    if (pidfd_send_signal(process.fd, SIGTERM, nullptr, 0) != 0) {
        if (errno == ESRCH)
            return notHere();
        return Error{ErrorKind::Environment, "The run cannot be stopped", std::strerror(errno),
                     "Stop it as the user who started it"};
    }
    if (timeoutSeconds <= 0)
        return {};
    pollfd end{process.fd, POLLIN, 0}; // readable when the process has ended
    const int ready = poll(&end, 1, std::min(timeoutSeconds, std::numeric_limits<int>::max() / 1000) * 1000);
    if (ready > 0)
        return {};
    return Error{ErrorKind::Busy, "The run has not ended yet",
                 fmt::format("it did not finish its step and save within {} s", timeoutSeconds),
                 "Wait for it, or stop it again with a longer --timeout"};
}

Status switchRunOf(const std::string& runFolder, int world)
{
    if (hostOf(runFolder).fd < 0)
        return notHere();
    const std::string temporary = switchFile(runFolder) + ".new";
    if (Status written = writeTextFile(temporary, fmt::format("{}\n", world)); !written)
        return written;
    if (std::rename(temporary.c_str(), switchFile(runFolder).c_str()) != 0)
        return Error{ErrorKind::Io, "The run cannot be switched", std::strerror(errno),
                     "Make the run's folder writable"};
    return {};
}

int takeSwitchRequest(const std::string& runFolder)
{
    int world = 0;
    std::ifstream(switchFile(runFolder)) >> world;
    std::remove(switchFile(runFolder).c_str());
    return world;
}

} // namespace lockstep
