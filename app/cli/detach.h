// `run --detach`: the run goes on in a process of its own session, and the starter learns its first answer.
#pragma once

#include <string>

namespace lockstep {

// Call start() before any Qt object or thread exists. In the starting process it returns the exit code to end
// with, after the other process has answered or died. In the detached process it returns -1 and the run
// proceeds there.
class Detached
{
public:
    ~Detached();
    int start();
    bool isDetached() const { return answer_ >= 0; }
    // Hands the answer to the starter, which prints it and ends; from now on this process writes to
    // `logFile`.
    void answer(const std::string& text, const std::string& logFile);

private:
    int answer_ = -1; // write end of the pipe to the starter
};

} // namespace lockstep
