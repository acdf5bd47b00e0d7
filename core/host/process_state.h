// What /proc says of processes of ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Stopped by SIGSTOP (state T); false for a process that is not there.
bool isStopped(std::int64_t pid);

// Processes whose environment names this run folder: what a run has left behind. Sees those of the same user only.
std::vector<std::int64_t> processesOfRun(const std::string& runFolder);

} // namespace lockstep
