#include "core/report/restore_steps.h"

#include "core/config/script_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace lockstep {

namespace {

constexpr std::size_t kMostCheckpoints = 3;

// Recorded, so that its first steps can be held against the run before.
std::string line(const std::string& project, const ScriptCommand& command)
{
    std::string options;
    if (command.threads != 1)
        options = fmt::format(" --threads {}", command.threads);
    if (command.ddp)
        options += fmt::format(" --ddp --world {}", command.world);
    return fmt::format("cd {} && lockstep-cli probe {}{} -- {}", commandLineOf({command.folder}),
                       commandLineOf({project}), options, commandLineOf(command.words));
}

std::string checkStep(std::int64_t step, const std::string& run, const std::string& quotedFile)
{
    return fmt::format("Check the newest checkpoint, step {} of run {}: lockstep-cli ckpt verify {}", step,
                       run, quotedFile);
}

} // namespace

std::vector<std::string> restoreSteps(const std::string& folder, const std::vector<CheckpointSeen>& usable)
{
    const CheckpointSeen& newest = usable.front();
    const std::string project = commandLineOf({folder}), file = commandLineOf({newest.path});
    std::vector<std::string> steps = {
        checkStep(newest.step, newest.runId, file),
        fmt::format("Go on with the same ranks: lockstep-cli run {} --resume {}", project, file),
        fmt::format("Go on in one process, with the same global batch: lockstep-cli run {} --mode single "
                    "--resume {}",
                    project, file)};
    for (std::size_t i = 1; i < std::min(usable.size(), kMostCheckpoints); ++i)
        steps.push_back(fmt::format("Go back further, to step {}: lockstep-cli run {} --resume {}",
                                    usable[i].step, project, commandLineOf({usable[i].path})));
    steps.push_back("Hold the first steps against the run before: lockstep-cli compare DIR OLD NEW. With the "
                    "same ranks every bit has to be equal.");
    return steps;
}

std::vector<std::string> restoreSteps(const ScriptRestore& from)
{
    const std::string file = commandLineOf({from.checkpoint});
    std::filesystem::path bare = from.checkpoint;
    bare.replace_extension(".single.pt");
    std::vector<std::string> steps = {
        checkStep(from.step, from.run, file),
        fmt::format("Load it once with Python's torch: lockstep-cli ckpt load-check {}", file)};
    if (from.command.ddp)
        steps.push_back(
            fmt::format("For a model without DDP's wrapper write it with plain names: lockstep-cli "
                        "ckpt convert {} --drop-wrappers -o {}",
                        file, commandLineOf({bare.string()})));
    steps.push_back(
        fmt::format("Go on with the command of {}, with the script's own option to load the file: {}",
                    from.run, line(from.project, from.command)));
    if (from.onOneProcess)
        steps.push_back("Go on in one process, with the same global batch: " +
                        line(from.project, *from.onOneProcess));
    return steps;
}

} // namespace lockstep
