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
    if (!diff.mapping.prefixA.empty())
        fmt::print("Names of A without the prefix {} are names of B.\n", printable(diff.mapping.prefixA));
    if (!diff.mapping.prefixB.empty())
        fmt::print("Names of B without the prefix {} are names of A.\n", printable(diff.mapping.prefixB));
    if (!diff.mapping.drop.empty())
        fmt::print("Names are compared without the segments {}.\n", listNames(diff.mapping.drop, 10));
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
        table.row({printable(key.keyA ? *key.keyA : *key.keyB), std::string(diffStatusName(key.status)),
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

// A checkpoint of which nothing can be read is nothing to compare.
int unusable(const Checkpoint& checkpoint)
{
    if (checkpoint.root != kNone)
        return 0;
    const CkptProblem* problem = checkpoint.fatal();
    return fail(problem ? problem->toError()
                        : Error{ErrorKind::Input, checkpoint.path + " cannot be compared",
                                "nothing could be read", "Run lockstep-cli ckpt verify on it"});
}

int diff(const DiffCommand& command, bool json)
{
    const Result<Checkpoint> a = openCheckpoint(command.a);
    if (!a)
        return fail(a.error());
    const Result<Checkpoint> b = openCheckpoint(command.b);
    if (!b)
        return fail(b.error());
    for (const Checkpoint* checkpoint : {&a.value(), &b.value()})
        if (const int code = unusable(*checkpoint))
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
    CLI::App* command = context.command(ckpt, "diff", "Compare the tensors of two checkpoints",
                                        [&context, options] { return diff(*options, context.json); });
    command->add_option("a", options->a, "checkpoint file or folder")->required()->option_text("A");
    command->add_option("b", options->b, "checkpoint file or folder")->required()->option_text("B");
    command->add_flag("--all", options->all, "list equal keys too");
}

} // namespace lockstep
