// The file by which a worker tells torchrun (and our own host) why it failed.
#pragma once

#include "core/base/status.h"

#include <string>

namespace lockstep {

// Writes torchrun's form: {"message":{"message":...,
// "extraInfo":{"py_callstack":...,"timestamp":"<seconds>"}}}. torchrun prints py_callstack, hence the
// sentence stands there too. An empty path writes nothing.
Status writeErrorFile(const std::string& path, const std::string& sentence);

} // namespace lockstep
