// A forked child that runs a function, for tests that kill it or limit it. POSIX only.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace lockstep::test {

class ChildProcess
{
public:
    // `body` runs in the child; what it writes to the descriptor is what the parent reads. The child leaves with
    // body's result through _exit: no destructors, no test framework.
    explicit ChildProcess(const std::function<int(int descriptor)>& body);
    ~ChildProcess(); // kills and reaps

    // Everything the child has written until now, or until it ends when `toEnd`.
    std::string read(bool toEnd);
    void kill();
    int wait(); // exit code, or 128 + signal

private:
    pid_t pid_ = -1;
    int descriptor_ = -1;
};

} // namespace lockstep::test
