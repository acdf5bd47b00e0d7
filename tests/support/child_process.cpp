#include "support/child_process.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace lockstep::test {

ChildProcess::ChildProcess(const std::function<int(int)>& body)
{
    int ends[2];
    if (::pipe(ends) != 0)
        std::abort();
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::close(ends[0]);
        ::_exit(body(ends[1]));
    }
    ::close(ends[1]);
    descriptor_ = ends[0];
}

ChildProcess::~ChildProcess()
{
    kill();
    wait();
    ::close(descriptor_);
}

std::string ChildProcess::read(bool toEnd)
{
    ::fcntl(descriptor_, F_SETFL, toEnd ? 0 : O_NONBLOCK);
    std::string text;
    char buffer[4096];
    for (;;) {
        const ssize_t got = ::read(descriptor_, buffer, sizeof buffer);
        if (got > 0)
            text.append(buffer, std::size_t(got));
        else if (got == 0 || errno != EINTR)
            return text;
    }
}

void ChildProcess::kill()
{
    if (pid_ > 0)
        ::kill(pid_, SIGKILL);
}

int ChildProcess::wait()
{
    if (pid_ <= 0)
        return 0;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace lockstep::test
