#include "core/host/run_control.h"

#include "core/config/json.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h> // glibc 2.36 leaves out the C linkage
}

namespace lockstep {

namespace {

std::string hostFile(const std::string& runFolder)
{
    return runFolder + "/host.json";
}

std::string readAll(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Start time of a process in clock ticks since boot: field 22 of /proc/PID/stat; empty if there is no such
// process. The second field, the program's name, may hold blanks and parentheses, so counting begins behind
// the last parenthesis.
std::string startTime(long pid)
{
    const std::string stat = readAll(fmt::format("/proc/{}/stat", pid));
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
    int fd;
    ~FileDescriptor()
    {
        if (fd >= 0)
            close(fd);
    }
};

} // namespace

Status writeHostFile(const std::string& runFolder)
{
    const std::string text = fmt::format("{{\"pid\":{},\"start\":\"{}\"}}\n", getpid(), startTime(getpid()));
    std::ofstream file(hostFile(runFolder), std::ios::binary);
    file << text << std::flush;
    if (file)
        return {};
    return Error{ErrorKind::Io, fmt::format("{} cannot be written", hostFile(runFolder)),
                 std::strerror(errno), "Make the project folder writable and free some space"};
}

void removeHostFile(const std::string& runFolder)
{
    std::remove(hostFile(runFolder).c_str());
}

Status stopRunOf(const std::string& runFolder, int timeoutSeconds)
{
    const Error gone{ErrorKind::NotFound, "The run is not running here",
                     "its host process cannot be found on this machine",
                     "Look at its state with lockstep-cli runs"};
    const std::string text = readAll(hostFile(runFolder));
    if (text.empty())
        return gone;
    const Result<rapidjson::Document> json = parseJson(text, hostFile(runFolder));
    if (!json || !json->IsObject() || !json->HasMember("pid") || !json->HasMember("start") ||
        !json.value()["pid"].IsInt() || !json.value()["start"].IsString())
        return gone;
    const int pid = json.value()["pid"].GetInt();
    const FileDescriptor process{pidfd_open(pid, 0)};
    // The descriptor is open before the comparison: from here on it means this very process.
    if (process.fd < 0 || startTime(pid) != json.value()["start"].GetString())
        return gone;
    if (pidfd_send_signal(process.fd, SIGTERM, nullptr, 0) != 0) {
        if (errno == ESRCH)
            return gone;
        return Error{ErrorKind::Environment, "The run cannot be stopped", std::strerror(errno),
                     "Stop it as the user who started it"};
    }
    if (timeoutSeconds <= 0)
        return {};
    pollfd end{process.fd, POLLIN, 0}; // readable when the process has ended
    const int ready = poll(&end, 1, timeoutSeconds * 1000);
    if (ready > 0)
        return {};
    return Error{ErrorKind::Busy, "The run has not ended yet",
                 fmt::format("it did not finish its step and save within {} s", timeoutSeconds),
                 "Wait for it, or stop it again with a longer --timeout"};
}

} // namespace lockstep
