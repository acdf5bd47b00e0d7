// ckpt diff: two checkpoints, key by key.
#include "app/cli/ckpt_commands.h"
#include "app/cli/table.h"
#include "core/ckpt/open.h"
#include "core/ckpt/report_json.h"
#include "core/ckpt/walk.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep {

namespace {

struct DiffCommand {
    std::string a;
    std::string b;
    bool all = false;
    std::vector<std::string> run; // project folder and run instead of B
    RunDiffRequest request;
};

std::string numberText(const ExactNumber& number)
{
    if (const auto* natural = std::get_if<std::uint64_t>(&number))
        return std::to_string(*natural);
    if (const auto* real = std::get_if<double>(&number))
        return fmt::format("{:.6g}", *real);
    return "-";
}

void printDiff(const CheckpointDiff& diff, bool all)
{
    printMapping(diff.mapping, "B");
    Table table({{"key"},
                 {"status"},
                 {"differ", Align::Right},
                 {"of", Align::Right},
                 {"largest", Align::Right},
                 {"NaN a", Align::Right},
                 {"NaN b", Align::Right}});
    std::size_t equal = 0, shown = 0;
    for (const KeyDiff& key : diff.keys) {
        equal += key.status == DiffStatus::Equal;
        if (key.status == DiffStatus::Equal && !all)
            continue;
        ++shown;
        const bool numbers = key.compared();
        table.row({shownName(key.keyA ? *key.keyA : *key.keyB), std::string(diffStatusName(key.status)),
                   numbers ? std::to_string(key.elements.valuesDiffer) : "-",
                   numbers ? std::to_string(key.elements.a.elements) : "-",
                   numbers ? numberText(key.elements.maxAbs) : "-",
                   numbers ? std::to_string(key.elements.a.nan) : "-",
                   numbers ? std::to_string(key.elements.b.nan) : "-"});
    }
    if (shown > 0)
        fmt::print("{}", table.text());
    fmt::print("{} of {} keys are equal.\n", equal, diff.keys.size());
}

int diff(const DiffCommand& command, bool json)
{
    if (!command.run.empty()) {
        RunDiffRequest request = command.request;
        request.file = command.a;
        request.folder = command.run[0];
        request.run = command.run[1];
        request.all = command.all;
        return diffWithRun(request, json);
    }
    if (command.b.empty())
        return fail({ErrorKind::Usage, "There is nothing to compare with", "neither B nor --run was given",
                     "Name a second checkpoint, or a run with --run DIR RUN"});
    const Result<Checkpoint> a = openCheckpoint(command.a);
    if (!a)
        return fail(a.error());
    const Result<Checkpoint> b = openCheckpoint(command.b);
    if (!b)
        return fail(b.error());
    for (const Checkpoint* checkpoint : {&a.value(), &b.value()})
        if (const int code = failIfUnreadable(*checkpoint))
            return code;
    const CheckpointDiff result = diffCheckpoints(*a, *b);
    if (json)
        fmt::print("{}\n", diffJson(result));
    else
        printDiff(result, command.all);
    return result.equal() ? 0 : 1;
}

} // namespace

void addCkptDiff(CLI::App& ckpt, CliContext& context)
{
    auto options = std::make_shared<DiffCommand>();
    CLI::App* command =
        context.command(ckpt, "diff", "Compare the tensors of two checkpoints, or of a checkpoint and a run",
                        [&context, options] { return diff(*options, context.json); });
    command->add_option("a", options->a, "checkpoint file or folder")->required()->option_text("A");
    CLI::Option* b = command->add_option("b", options->b, "checkpoint file or folder")->option_text("B");
    CLI::Option* run = command
                           ->add_option("--run", options->run,
                                        "a run's recorded parameters instead of B: project folder and run")
                           ->expected(2)
                           ->option_text("DIR RUN")
                           ->excludes(b);
    command
        ->add_option("--step", options->request.step,
                     "step of the run (default: the one whose parameters these are, else the last)")
        ->check(CLI::Range(std::int64_t(0), std::int64_t(1'000'000'000'000)))
        ->needs(run);
    command->add_option("--rank", options->request.rank, "rank of the run")
        ->check(CLI::Range(0, 1023))
        ->needs(run);
    command->add_flag("--all", options->all, "list equal keys too");
}

int failIfUnreadable(const Checkpoint& checkpoint)
{
    if (checkpoint.root != kNone)
        return 0;
    const CkptProblem* problem = checkpoint.fatal();
    return fail(problem ? problem->toError()
                        : Error{ErrorKind::Input, checkpoint.path + " cannot be compared",
                                "nothing could be read", "Run lockstep-cli ckpt verify on it"});
}

void printMapping(const KeyMapping& mapping, const std::string& b)
{
    if (!shownPrefix(mapping.prefixA).empty())
        fmt::print("Names of A without the prefix {} are names of {}.\n", shownPrefix(mapping.prefixA), b);
    if (!shownPrefix(mapping.prefixB).empty())
        fmt::print("Names of {} without the prefix {} are names of A.\n", b, shownPrefix(mapping.prefixB));
    if (!mapping.drop.empty())
        fmt::print("Names are compared without the segments {}.\n", listNames(mapping.drop, 10));
}

} // namespace lockstep
