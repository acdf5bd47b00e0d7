// Small files, read and written whole.
#pragma once

#include "core/base/status.h"

#include <string>

namespace lockstep {

// Empty where there is nothing to read.
std::string readTextFile(const std::string& path);
// Errors: Io, naming the file.
Status writeTextFile(const std::string& path, const std::string& text);

} // namespace lockstep
