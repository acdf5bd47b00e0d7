// Where lockstep-cli is: $LOCKSTEP_CLI, beside this program, or in PATH. What the window starts is found here only.
#pragma once

#include <QString>

namespace lockstep {

// Empty: not found.
QString findCli();

} // namespace lockstep
