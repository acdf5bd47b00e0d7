// How a user's own command is started so that lockstep_probe records it: python, torchrun and every launcher that takes a
// module with -m.
#pragma once

#include "core/base/status.h"

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
// The name of the script without its folder and ending: "train" for the above.
std::string scriptName(const QStringList& command);
// Ranks the command will start: what --nproc-per-node or --num_processes and --nnodes say; 1 without them. 0: they say
// something that only the launcher understands ("gpu").
int ranksOfCommand(const QStringList& command);

// Adds where the probe and its library are, and what to record. Error: Environment if the probe is not to be found.
Status addProbe(QProcessEnvironment& environment, const ProbeOptions& options);

} // namespace lockstep
