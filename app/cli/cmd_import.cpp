// import: logs of other tools become runs of a project. With --list they are only read and printed.
#include "app/cli/cli_context.h"
#include "app/cli/import_run.h"
#include "app/cli/json_output.h"
#include "app/cli/table.h"
#include "app/cli/value_text.h"
#include "core/logs/read_logs.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>

namespace lockstep {

namespace {

namespace fs = std::filesystem;

struct ImportOptions {
    std::vector<std::string> paths; // the project, then logs; with --list logs only
    std::string name;
    bool list = false;
};

struct Input {
    std::string path; // absolute
    LogData data;
};

// All inputs before anything is written, so that a wrong path leaves no half of an import.
Result<std::vector<Input>> readAll(const std::vector<std::string>& paths)
{
    std::vector<Input> inputs;
    for (const std::string& path : paths) {
        Result<LogData> data = readLogs(path);
        if (!data)
            return data.error();
        std::error_code ignored;
        inputs.push_back({fs::absolute(path, ignored).lexically_normal().string(), std::move(data).value()});
    }
    return inputs;
}

void writePrinted(JsonDocument& json, const std::optional<PrintedDigits>& printed)
{
    json.key("decimals");
    if (printed)
        writeDecimals(json, *printed);
    else
        json.null();
}

void writeProblems(JsonDocument& json, const std::vector<Input>& inputs)
{
    json.key("problems").beginArray();
    for (const Input& input : inputs)
        for (const LogProblem& problem : input.data.problems) {
            json.beginObject().key("file").text(problem.file).key("offset");
            if (problem.offset)
                json.unsignedNumber(*problem.offset);
            else
                json.null();
            json.key("text").text(problem.text).endObject();
        }
    json.endArray().key("hidden_nan_steps").beginArray();
    for (const Input& input : inputs)
        for (const std::int64_t step : input.data.hiddenNanSteps)
            json.number(step);
    json.endArray();
}

// Numbers, and for what JSON has no number for the words in quotes: every JSON reader takes them.
void writeLogged(JsonDocument& json, double value)
{
    if (std::isfinite(value))
        json.real(value);
    else
        json.text(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

void writeSeries(JsonDocument& json, const LogSeries& series)
{
    json.beginObject().key("run").text(series.run).key("rank");
    if (series.rank)
        json.number(*series.rank);
    else
        json.null();
    json.key("tag").text(series.tag).key("steps").beginArray();
    for (const std::int64_t step : series.steps)
        json.number(step);
    json.endArray().key("values").beginArray();
    for (const double value : series.values)
        writeLogged(json, value);
    json.endArray();
    writePrinted(json, series.printed);
    json.key("superseded").beginArray();
    for (const auto& [first, last] : series.superseded)
        for (std::size_t i = first; i <= last; ++i)
            json.unsignedNumber(i);
    json.endArray().endObject();
}

void printProblems(const std::vector<Input>& inputs)
{
    for (const Input& input : inputs) {
        for (const LogProblem& problem : input.data.problems)
            fmt::print("{}{}: {}.\n", problem.file,
                       problem.offset ? fmt::format(", byte {}", *problem.offset) : "", problem.text);
        if (!input.data.hiddenNanSteps.empty())
            fmt::print("{}: at {} steps, the first is {}, the loss reads 0 although the step was not finite: "
                       "the log hides a NaN.\n",
                       input.path, input.data.hiddenNanSteps.size(), input.data.hiddenNanSteps.front());
    }
}

int list(const std::vector<Input>& inputs, bool asJson)
{
    if (asJson) {
        JsonDocument json;
        json.beginObject().key("series").beginArray();
        for (const Input& input : inputs)
            for (const LogSeries& series : input.data.series)
                writeSeries(json, series);
        json.endArray();
        writeProblems(json, inputs);
        json.endObject();
        json.print();
        return 0;
    }
    Table table({{"run"},
                 {"rank", Align::Right},
                 {"tag"},
                 {"points", Align::Right},
                 {"first step", Align::Right},
                 {"last step", Align::Right},
                 {"last value", Align::Right}});
    for (const Input& input : inputs)
        for (const LogSeries& series : input.data.series)
            table.row({series.run, series.rank ? std::to_string(*series.rank) : "-", series.tag,
                       std::to_string(series.steps.size()), std::to_string(series.steps.front()),
                       std::to_string(series.steps.back()), fmt::format("{:.9g}", series.values.back())});
    fmt::print("{}", table.text());
    printProblems(inputs);
    return 0;
}

// What people would call the run: its own name, else its folder, else what was imported.
std::string defaultName(const LogGroup& group, const std::string& source)
{
    if (!group.about.name.empty())
        return group.about.name;
    if (!group.about.run.empty())
        return group.about.run;
    const fs::path path(source);
    const bool anyName = group.about.format == "tfevents" || group.about.format == "hf" ||
                         group.about.format == "lightning_csv";
    const fs::path named = fs::is_directory(path) ? path : anyName ? path.parent_path() : path.stem();
    return named.filename().empty() ? named.parent_path().filename().string() : named.filename().string();
}

std::string valuesText(std::int64_t count)
{
    return count == 1 ? "1 value" : fmt::format("{} values", count);
}

void printStored(const std::vector<StoredImport>& all)
{
    for (const StoredImport& one : all) {
        fmt::print("{}: {} from {}, {} of {} tags in {} {}, last step {}\n", one.info.id, one.table.format,
                   one.table.source, valuesText(one.points), one.table.series.size(), one.ranks.size(),
                   one.ranks.size() == 1 ? "rank" : "ranks", one.info.lastStep);
        for (const ImportedSeries& series : one.table.series) {
            if (series.quantity != Quantity::Metric)
                fmt::print("  {} is {}\n", series.tag, quantityName(series.quantity));
            if (series.superseded > 0)
                fmt::print("  {}: {} replaced after a restart\n", series.tag, valuesText(series.superseded));
        }
        if (one.outside > 0)
            fmt::print("  {} left out: steps that are negative or too large\n", valuesText(one.outside));
    }
}

void writeStored(JsonDocument& json, const StoredImport& one)
{
    json.beginObject().key("run").text(one.info.id).key("name").text(one.info.name);
    json.key("format")
        .text(one.table.format)
        .key("source")
        .text(one.table.source)
        .key("source_run")
        .text(one.table.run);
    json.key("ranks").beginArray();
    for (const int rank : one.ranks)
        json.number(rank);
    json.endArray().key("points").number(one.points).key("left_out").number(one.outside);
    json.key("last_step").number(one.info.lastStep).key("series").beginArray();
    for (const ImportedSeries& series : one.table.series) {
        json.beginObject().key("tag").text(series.tag).key("quantity").text(quantityName(series.quantity));
        json.key("index").number(series.index).key("storage").text(series.storage);
        writePrinted(json, series.printed);
        json.key("superseded").number(series.superseded).endObject();
    }
    json.endArray().endObject();
}

int import(const std::string& folder, const std::vector<Input>& inputs, const std::string& name, bool asJson)
{
    Result<ProjectStore> project = ProjectStore::open(folder);
    if (!project)
        return fail(project.error());
    std::vector<StoredImport> all;
    std::size_t groups = 0;
    for (const Input& input : inputs)
        groups += rankGroups(input.data).size();
    for (const Input& input : inputs) {
        for (const LogGroup& group : rankGroups(input.data)) {
            const std::string own = defaultName(group, input.path);
            Result<StoredImport> stored = storeImport(*project, group,
                                                      name.empty()  ? own
                                                      : groups == 1 ? name
                                                                    : name + "-" + own,
                                                      input.path);
            if (!stored)
                return fail(stored.error());
            all.push_back(std::move(stored).value());
        }
    }
    if (all.empty() && !asJson) {
        printProblems(inputs);
        return fail({ErrorKind::Input, "There is nothing to import", "the logs have no values",
                     "Import them again when the training has logged something"});
    }
    if (asJson) {
        JsonDocument json;
        json.beginObject().key("runs").beginArray();
        for (const StoredImport& one : all)
            writeStored(json, one);
        json.endArray();
        writeProblems(json, inputs);
        json.endObject();
        json.print();
    } else {
        printStored(all);
        printProblems(inputs);
    }
    return all.empty() ? 3 : 0;
}

int importLogs(const ImportOptions& options, bool asJson)
{
    std::vector<std::string> logs = options.paths;
    std::string folder;
    if (!options.list) {
        folder = logs.front();
        logs.erase(logs.begin());
    }
    if (logs.empty())
        return fail({ErrorKind::Usage, "There is nothing to import", "no log was named",
                     "Name the project and then one or more logs: lockstep-cli import DIR FILE"});
    const Result<std::vector<Input>> inputs = readAll(logs);
    if (!inputs)
        return fail(inputs.error());
    return options.list ? list(*inputs, asJson) : import(folder, *inputs, options.name, asJson);
}

} // namespace

void addImportCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<ImportOptions>();
    CLI::App* command = context.command(app, "import", "Make runs of the logs of other tools",
                                        [&context, options] { return importLogs(*options, context.json); });
    command
        ->add_option("paths", options->paths,
                     "project folder, then logs or folders with logs: TensorBoard, W&B (.wandb), Trackio, "
                     "trainer_state.json, "
                     "Lightning's metrics.csv, text of Megatron-LM and torchtitan")
        ->required()
        ->option_text("DIR FILE...");
    command->add_option("--name", options->name, "name of the run (default: as the log calls it)")
        ->option_text("NAME");
    command->add_flag("--list", options->list,
                      "only print what the logs hold; without a project: import --list FILE...");
}

} // namespace lockstep
