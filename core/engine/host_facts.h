// What a rank runs on: everything that can change the bits of a result, for the Hello frame and the stored
// run.
#pragma once

#include <string>

namespace lockstep {

std::string hostName();
// torch version, CPU capability, threads, determinism flags, and the environment variables that choose
// instruction sets.
std::string environmentJson();

} // namespace lockstep
