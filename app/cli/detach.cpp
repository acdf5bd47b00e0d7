#include "app/cli/detach.h"

#include "app/cli/cli_context.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lockstep {

namespace {

volatile pid_t detachedProcess = 0;

// Whoever ends the starter before there is an answer means what it waits for.
void passOn(int signal)
{
    kill(detachedProcess, signal);
}

// Waits for the detached process's answer; without one, for its end.
int relay(int answer, pid_t child)
{
    detachedProcess = child;
    struct sigaction action = {};
    action.sa_handler = passOn;
    for (const int signal : {SIGTERM, SIGINT})
        sigaction(signal, &action, nullptr);
    std::string text;
    char bytes[4096];
    for (;;) {
        const ssize_t n = read(answer, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        text.append(bytes, std::size_t(n));
    }
    close(answer);
    if (!text.empty()) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return 0;
    }
    int status = 0; // it has said on standard error why it could not begin
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

void redirect(int to, const char* file, int flags)
{
    const int fd = open(file, flags | O_CLOEXEC, 0666);
    if (fd < 0)
        return; // the old target stays
    dup2(fd, to);
    close(fd);
}

} // namespace

Detached::~Detached()
{
    if (answer_ >= 0)
        close(answer_);
}

int Detached::start()
{
    int ends[2];
    const Error impossible{ErrorKind::Environment, "The run cannot be detached",
                           "no further process can be started", "Start it without --detach"};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(impossible);
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return fail(impossible);
    }
    if (child > 0) {
        close(ends[1]);
        return relay(ends[0], child);
    }
    close(ends[0]);
    setsid(); // a closing terminal or a killed window does not reach it
    answer_ = ends[1];
    return -1;
}

void Detached::answer(const std::string& text, const std::string& logFile)
{
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, logFile.c_str(), O_WRONLY | O_CREAT | O_APPEND);
    redirect(STDERR_FILENO, logFile.c_str(), O_WRONLY | O_CREAT | O_APPEND);
    for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t n = write(answer_, text.data() + sent, text.size() - sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; // the starter is gone; the run goes on all the same
        sent += std::size_t(n);
    }
    close(answer_);
    answer_ = -1;
}

} // namespace lockstep
