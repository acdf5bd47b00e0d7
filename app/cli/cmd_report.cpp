// report: the migration report in as many forms as are asked for.
#include "app/cli/cli_context.h"
#include "app/cli/json_output.h"
#include "core/report/report.h"

#include <QDateTime>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace lockstep {

namespace {

struct ReportCommand {
    std::string folder;
    std::string html, markdown, jsonFile, junit;
    std::vector<std::string> outputs; // by their ending
};

struct Output {
    std::string path;
    std::string (*form)(const MigrationReport&);
};

Result<Output> byEnding(const std::string& path)
{
    const std::pair<const char*, std::string (*)(const MigrationReport&)> forms[] = {
        {".html", reportAsHtml}, {".md", reportAsMarkdown}, {".json", reportAsJson}, {".xml", reportAsJunit}};
    for (const auto& [ending, form] : forms)
        if (path.ends_with(ending))
            return Output{path, form};
    return Error{ErrorKind::Usage, fmt::format("The report cannot be written to {}", path),
                 "the ending says which form, and this one is none of .html, .md, .json, .xml",
                 "Give the file one of these endings"};
}

Status write(const Output& output, const MigrationReport& report)
{
    std::ofstream file(output.path, std::ios::binary);
    file << output.form(report) << std::flush;
    if (file)
        return {};
    return Error{ErrorKind::Io, fmt::format("The report cannot be written to {}", output.path),
                 std::strerror(errno), "Choose another file, or free some space"};
}

int reportCommand(CliContext& context, const ReportCommand& command)
{
    std::vector<Output> outputs;
    for (const Output& named :
         {Output{command.html, reportAsHtml}, Output{command.markdown, reportAsMarkdown},
          Output{command.jsonFile, reportAsJson}, Output{command.junit, reportAsJunit}})
        if (!named.path.empty())
            outputs.push_back(named);
    for (const std::string& path : command.outputs) {
        Result<Output> output = byEnding(path);
        if (!output)
            return fail(output.error());
        outputs.push_back(std::move(output).value());
    }
    Result<ProjectStore> project = ProjectStore::open(command.folder);
    if (!project)
        return fail(project.error());
    const auto now = QDateTime::currentMSecsSinceEpoch();
    const Result<MigrationReport> report = collectReport(*project, now);
    if (!report)
        return fail(report.error());
    if (outputs.empty()) { // to standard output
        fmt::print("{}", context.json ? reportAsJson(*report) : reportAsMarkdown(*report));
        return 0;
    }
    JsonDocument json;
    json.beginObject().key("verdict").text(report->verdict).key("written").beginArray();
    for (const Output& output : outputs) {
        if (const Status written = write(output, *report); !written)
            return fail(written.error());
        json.text(output.path);
    }
    json.endArray().endObject();
    if (context.json) {
        json.print();
    } else {
        fmt::print("{}\n", verdictSentence(*report));
        for (const Output& output : outputs)
            fmt::print("  {}\n", output.path);
    }
    return 0;
}

} // namespace

void addReportCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<ReportCommand>();
    CLI::App* command = context.command(app, "report", "Write the migration report",
                                        [&context, options] { return reportCommand(context, *options); });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    command->add_option("--html", options->html, "as one HTML file, plots inlined")->option_text("FILE");
    command->add_option("--md", options->markdown, "as Markdown")->option_text("FILE");
    command->add_option("--json-file", options->jsonFile, "as JSON")->option_text("FILE");
    command->add_option("--junit", options->junit, "as JUnit XML, one suite per gate")->option_text("FILE");
    command
        ->add_option("-o,--output", options->outputs,
                     "the ending says the form: .html, .md, .json, .xml; may be repeated")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->option_text("FILE");
}

} // namespace lockstep
