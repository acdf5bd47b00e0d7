// A RunConfig as options of `lockstep-cli run`: only what differs from the defaults, so that the line stays readable.
#pragma once

#include "core/config/run_config.h"

#include <QStringList>

namespace lockstep {

QStringList runArguments(const RunConfig& config);

} // namespace lockstep
