// The commands below `ckpt`. Each registers itself under the parent command.
#pragma once

#include "app/cli/cli_context.h"
#include "core/ckpt/checkpoint.h"
#include "core/ckpt/prefix.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lockstep {

void addCkptVerify(CLI::App& ckpt, CliContext& context);
void addCkptDiff(CLI::App& ckpt, CliContext& context);
void addCkptConvert(CLI::App& ckpt, CliContext& context);
void addCkptSalvage(CLI::App& ckpt, CliContext& context);
void addCkptLoadCheck(CLI::App& ckpt, CliContext& context);

// What ckpt diff compares with a run: `step` below 0 means the step that fits best.
struct RunDiffRequest {
    std::string file;
    std::string folder; // project
    std::string run;
    std::int64_t step = -1;
    int rank = 0;
    bool all = false; // list equal keys too
};
int diffWithRun(const RunDiffRequest& request, bool json); // returns the exit code

// For commands that take several checkpoints: the highest of their exit codes. A JSON document is of one alone.
int eachPath(const std::vector<std::string>& paths, bool json,
             const std::function<int(const std::string&)>& look);

// A checkpoint of which nothing can be read is nothing to compare: says so and returns the exit code, else 0.
int failIfUnreadable(const Checkpoint& checkpoint);
// How the names of B become names of A, in a sentence; nothing if they are the same.
void printMapping(const KeyMapping& mapping, const std::string& b);

} // namespace lockstep
