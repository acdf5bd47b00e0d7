// ckpt verify: what is wrong with a checkpoint, or with loading it into a given model, and what to do.
#include "app/cli/ckpt_commands.h"
#include "core/ckpt/report_json.h"
#include "core/ckpt/walk.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep {

namespace {

struct VerifyCommand {
    std::vector<std::string> paths;
    std::string against;
    bool structureOnly = false;
};

void printVerdict(const Verdict& verdict)
{
    std::string place = verdict.file;
    if (!verdict.record.empty())
        place += (place.empty() ? "" : ", ") + verdict.record;
    if (verdict.offset)
        place += (place.empty() ? "byte " : ", byte ") + std::to_string(*verdict.offset);
    fmt::print("{} [{}] {}\n", severityName(verdict.severity), verdict.row, printable(verdict.sentence));
    if (!place.empty())
        fmt::print("    where: {}\n", printable(place));
    if (!verdict.errorText.empty())
        fmt::print("    torch says: {}\n", printable(verdict.errorText));
    fmt::print("    what to do: {}\n", printable(verdict.fix));
}

void printReport(const VerifyReport& report)
{
    if (report.verdicts.empty())
        fmt::print("No finding.\n");
    for (const Verdict& verdict : report.verdicts)
        printVerdict(verdict);
    if (report.salvage)
        fmt::print("Still whole: {} of {} tensors. Save them with lockstep-cli ckpt salvage.\n",
                   report.salvage->keysWhole.size(),
                   report.salvage->keysWhole.size() + report.salvage->keysLost.size());
    std::vector<std::string> present, absent, unused;
    for (const ResumeItem& item : report.resume)
        (item.present  ? present
         : item.needed ? absent
                       : unused)
            .push_back(item.rank ? fmt::format("{} of rank {}", item.part, *item.rank) : item.part);
    if (!report.resume.empty())
        fmt::print("To resume: has {}; has not {}.\n", present.empty() ? "nothing" : listNames(present, 20),
                   absent.empty() ? "nothing missing" : listNames(absent, 20));
    if (!unused.empty())
        fmt::print("Without {}: complete for a run that uses none.\n", listNames(unused, 20));
    fmt::print("{} records, {} bytes checked", report.recordsChecked, report.bytesChecked);
    if (report.recordsWithoutCrc > 0)
        fmt::print("; {} records were saved without a checksum", report.recordsWithoutCrc);
    fmt::print(".\n");
}

int verify(const VerifyCommand& command, const std::string& path, bool json)
{
    std::optional<Target> target;
    if (!command.against.empty()) {
        Result<Target> read = readTarget(command.against);
        if (!read)
            return fail(read.error());
        target = std::move(read).value();
    }
    VerifyOptions options;
    options.checkBytes = !command.structureOnly;
    const Result<VerifyReport> report = verifyCheckpoint(path, target ? &*target : nullptr, options);
    if (!report)
        return fail(report.error());
    if (json)
        fmt::print("{}\n", verifyJson(*report));
    else
        printReport(*report);
    return report->passed() ? 0 : 1;
}

} // namespace

void addCkptVerify(CLI::App& ckpt, CliContext& context)
{
    auto options = std::make_shared<VerifyCommand>();
    CLI::App* command = context.command(
        ckpt, "verify", "Check a file or folder: structure, checksums, and what goes wrong when it is loaded",
        [&context, options] {
            return eachPath(options->paths, context.json, [&](const std::string& path) {
                if (options->paths.size() > 1)
                    fmt::print("{}\n", path);
                return verify(*options, path, context.json);
            });
        });
    command->add_option("path", options->paths, "checkpoint files or folders")
        ->required()
        ->option_text("PATH...");
    command
        ->add_option("--against", options->against,
                     "what it is to be loaded into: a JSON file, or a checkpoint of the model")
        ->option_text("FILE");
    command->add_flag("--structure-only", options->structureOnly, "do not read the tensors' bytes");
}

} // namespace lockstep
