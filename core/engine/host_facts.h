// What a rank runs on: everything that can change the bits of a result, for the Hello frame and the stored
// run.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep {

std::string hostName();
// torch version, CPU capability, threads, determinism flags, and the environment variables that choose
// instruction sets. `datasetSize`: samples of the workload, -1 where it is not known.
std::string environmentJson(std::int64_t datasetSize = -1);

} // namespace lockstep
