// ckpt convert and salvage: a checkpoint written anew, and what is whole of a damaged one.
#include "app/cli/ckpt_commands.h"
#include "core/ckpt/open.h"
#include "core/ckpt/report_json.h"
#include "core/ckpt/walk.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

namespace lockstep {

namespace {

struct ConvertCommand {
    std::string input;
    std::string output;
    std::string dtype;
    std::string format;
    bool dryRun = false;
    bool force = false;
    ConvertOptions options;
};

// The options as CLI11 filled them, made complete; an error for a name nobody knows.
std::optional<Error> complete(ConvertCommand& command)
{
    if (!command.dtype.empty()) {
        command.options.dtype = dtypeFromName(command.dtype);
        if (!command.options.dtype)
            return Error{ErrorKind::Usage, fmt::format("--dtype {} is not possible", command.dtype),
                         "allowed: float64, float32, float16, bfloat16", "Choose one of them"};
    }
    const std::string format = !command.format.empty()                    ? command.format
                               : command.output.ends_with(".safetensors") ? "safetensors"
                                                                          : "torch";
    command.options.format = format == "safetensors" ? OutputFormat::Safetensors : OutputFormat::Torch;
    // Without -o only a preview is possible.
    if (command.output.empty() && !command.dryRun)
        return Error{ErrorKind::Usage, "No name for the new file was given", "-o FILE is missing",
                     "Add -o FILE, or --dry-run for a preview"};
    std::error_code ignored;
    if (!command.dryRun && !command.force && std::filesystem::exists(command.output, ignored))
        return Error{ErrorKind::Usage, command.output + " is there already",
                     "convert does not overwrite files", "Give another name, or --force"};
    return std::nullopt;
}

void printReport(const ConvertReport& report, const ConvertCommand& command)
{
    for (const auto& [from, to] : report.renamed)
        fmt::print("{} -> {}\n", printable(from), printable(to));
    for (const std::string& note : report.notes)
        fmt::print("{}.\n", printable(note));
    if (command.dryRun)
        fmt::print("{} tensors would be written.\n", report.keys.size());
    else
        fmt::print("{} tensors, {} bytes written to {}.\n", report.keys.size(), report.bytes, command.output);
}

int convert(ConvertCommand& command, bool json)
{
    if (const auto error = complete(command))
        return fail(*error);
    const Result<Checkpoint> checkpoint = openCheckpoint(command.input);
    if (!checkpoint)
        return fail(checkpoint.error());
    const Result<ConvertReport> report =
        command.dryRun ? previewConvert(*checkpoint, command.options)
                       : convertCheckpoint(*checkpoint, command.output, command.options);
    if (!report)
        return fail(report.error());
    if (json)
        fmt::print("{}\n", convertJson(*report, command.output, !command.dryRun));
    else
        printReport(*report, command);
    return 0;
}

int runSalvage(ConvertCommand& command, bool json)
{
    command.dryRun = command.dryRun || command.output.empty();
    if (const auto error = complete(command))
        return fail(*error);
    const SalvagePlan plan = planSalvage(command.input);
    std::optional<ConvertReport> written;
    if (!command.dryRun) {
        Result<ConvertReport> report = salvage(command.input, command.output, command.options);
        if (!report)
            return fail(report.error());
        written = std::move(report).value();
    }
    if (json) {
        fmt::print("{}\n", salvageJson(plan, written ? &*written : nullptr, command.output));
    } else {
        for (const std::string& key : plan.keysLost)
            fmt::print("lost: {}\n", printable(key));
        fmt::print("{} tensors are whole, {} are lost.\n", plan.keysWhole.size(), plan.keysLost.size());
        if (written)
            printReport(*written, command);
    }
    return plan.keysWhole.empty() ? 3 : plan.keysLost.empty() ? 0 : 1;
}

void addOutput(CLI::App* command, ConvertCommand& options)
{
    command->add_option("-o,--output", options.output, "name of the new file")->option_text("FILE");
    command
        ->add_option("--format", options.format,
                     "torch or safetensors (default: by the name of the new file)")
        ->check(CLI::IsMember({"torch", "safetensors"}));
    command->add_flag("--force", options.force, "overwrite an existing file");
}

} // namespace

void addCkptConvert(CLI::App& ckpt, CliContext& context)
{
    auto options = std::make_shared<ConvertCommand>();
    CLI::App* command = context.command(
        ckpt, "convert", "Write a checkpoint anew: one file, plain types, other names or element types",
        [&context, options] { return convert(*options, context.json); });
    command->add_option("path", options->input, "checkpoint file or folder")->required()->option_text("PATH");
    addOutput(command, *options);
    command
        ->add_option("--strip", options->options.strip,
                     "prefix to take off names, with or without its dot; may be given several times")
        ->option_text("PREFIX");
    command->add_option("--add-prefix", options->options.addPrefix, "prefix to put in front of names")
        ->option_text("PREFIX");
    command->add_flag("--drop-wrappers", options->options.dropWrappers,
                      "drop module, _orig_mod and other wrapper segments anywhere");
    command->add_flag("--model-only", options->options.modelOnly, "write the state dict of the model alone");
    command->add_flag("--compact", options->options.compact, "give views storages of their own");
    command->add_flag("--cpu", options->options.cpu, "set all device tags to cpu");
    command
        ->add_option("--dtype", options->dtype, "convert the weights: float64, float32, float16 or bfloat16")
        ->option_text("TYPE");
    command->add_flag("--dry-run", options->dryRun, "show what would be done and write nothing");
}

void addCkptSalvage(CLI::App& ckpt, CliContext& context)
{
    auto options = std::make_shared<ConvertCommand>();
    CLI::App* command = context.command(
        ckpt, "salvage", "Save what is whole of a damaged file; without -o only say what that is",
        [&context, options] { return runSalvage(*options, context.json); });
    command->add_option("path", options->input, "checkpoint file or folder")->required()->option_text("PATH");
    addOutput(command, *options);
}

} // namespace lockstep
