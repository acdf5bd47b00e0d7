// The commands below `ckpt`. Each registers itself under the parent command.
#pragma once

#include "app/cli/cli_context.h"

namespace lockstep {

void addCkptVerify(CLI::App& ckpt, CliContext& context);
void addCkptDiff(CLI::App& ckpt, CliContext& context);
void addCkptConvert(CLI::App& ckpt, CliContext& context);
void addCkptSalvage(CLI::App& ckpt, CliContext& context);
void addCkptLoadCheck(CLI::App& ckpt, CliContext& context);

} // namespace lockstep
