// How a user's own command is started so that lockstep_probe records it: python, torchrun and every launcher that takes a
// module with -m.
#pragma once

#include "core/base/status.h"
#include "core/config/run_extras.h"

#include <QProcessEnvironment>
#include <QStringList>

#include <string>

namespace lockstep {

struct ProbeOptions {
    std::string record = "step"; // off | step | tensor
    std::string metric;          // pattern of the printed loss; empty: none
    int threads = 1;
};

// `python train.py` -> `python -m lockstep_probe train.py`; a command that names lockstep_probe itself stays as it is.
// Error: Usage if there is no script in it.
Result<QStringList> probedCommand(const QStringList& command);
// The command as the run's document keeps it: words, program and the folder this process stands in.
ScriptCommand describedCommand(const QStringList& command, const ProbeOptions& options, int world, bool ddp);

// Adds where the probe and its library are, and what to record. Error: Environment if the probe is not to be found.
Status addProbe(QProcessEnvironment& environment, const ProbeOptions& options);

} // namespace lockstep
