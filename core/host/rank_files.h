// What a rank leaves in its run's folder beside its records: its output, and the error it ended with.
#pragma once

#include "core/host/root_cause.h"

#include <optional>
#include <string>

namespace lockstep {

std::string rankLogFile(const std::string& runFolder, int rank);
std::string rankErrorFile(const std::string& runFolder, int rank);

// Reads torch elastic's JSON; nothing if the file is absent, empty or of another form.
std::optional<ErrorFile> readErrorFile(const std::string& path);
// The last line of a log that is not blank, at most 300 bytes of it; empty if there is none.
std::string lastLogLine(const std::string& path);

} // namespace lockstep
