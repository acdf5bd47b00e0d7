// export: the recorded values of a run, exactly.
#include "app/cli/cli_context.h"
#include "app/cli/json_output.h"
#include "app/cli/series_choice.h"
#include "app/cli/table.h"
#include "app/cli/value_text.h"
#include "core/store/project_store.h"
#include "core/store/run_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace lockstep {

namespace {

struct ExportOptions {
    std::string folder;
    std::string run;
    std::vector<std::string> series; // empty: all
    std::string rank = "all";
    bool csv = false;
};

// What the options select, checked before anything is read.
struct Selection {
    std::vector<Quantity> quantities;
    std::vector<std::pair<Quantity, std::uint16_t>> series; // chosen by the tag of an imported log
    int rank = -1;                                          // -1: all

    bool has(const SeriesKey& key) const
    {
        const auto among = [](const auto& all, const auto& one) {
            return std::find(all.begin(), all.end(), one) != all.end();
        };
        return (rank < 0 || key.rank == rank) &&
               ((quantities.empty() && series.empty()) || among(quantities, key.quantity) ||
                among(series, std::pair(key.quantity, key.index)));
    }
};

Result<Selection> select(const ExportOptions& options, const std::optional<ImportedRun>& imported)
{
    Selection selection;
    Result<ChosenSeries> chosen = chooseSeries(options.series, {imported});
    if (!chosen)
        return chosen.error();
    selection.quantities = std::move(chosen->quantities);
    for (const std::string& tag : chosen->tags)
        selection.series.emplace_back(imported->byTag(tag)->quantity, imported->byTag(tag)->index);
    if (options.rank != "all") {
        const char* end = options.rank.data() + options.rank.size();
        const auto [rest, error] = std::from_chars(options.rank.data(), end, selection.rank);
        if (error != std::errc() || rest != end || selection.rank < 0)
            return Error{ErrorKind::Usage, fmt::format("--rank {} is not possible", options.rank),
                         "allowed: all, or a number from 0", "Choose another value for --rank"};
    }
    return selection;
}

// Empty: it comes from no log.
std::string tagOf(const std::optional<ImportedRun>& imported, const SeriesKey& key)
{
    const ImportedSeries* row = imported ? imported->find(key.quantity, key.index) : nullptr;
    return row ? row->tag : std::string();
}

void writeSeries(JsonDocument& json, const SeriesData& data, const std::optional<ImportedRun>& imported)
{
    const Quantity quantity = data.key.quantity;
    json.beginObject().key("rank").number(data.key.rank).key("quantity").text(quantityName(quantity));
    json.key("index").number(data.key.index);
    if (const ImportedSeries* row = imported ? imported->find(quantity, data.key.index) : nullptr) {
        json.key("tag").text(row->tag).key("storage").text(row->storage).key("decimals");
        if (row->printed)
            writeDecimals(json, *row->printed);
        else
            json.null();
    }
    json.key("steps").beginArray();
    for (std::int64_t step : data.steps)
        json.number(step);
    json.endArray().key("values").beginArray();
    for (std::uint64_t bits : data.bits)
        writeValue(json, quantity, bits);
    json.endArray().key("hex").beginArray();
    for (std::uint64_t bits : data.bits)
        json.text(valueHex(quantity, bits));
    json.endArray().endObject();
}

// Quoted where it has to be (RFC 4180).
std::string csvCell(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

void printCsv(const SeriesData& data, const std::optional<ImportedRun>& imported)
{
    const Quantity quantity = data.key.quantity;
    const std::string label = csvCell(seriesLabel(quantity, tagOf(imported, data.key)));
    for (std::size_t i = 0; i < data.size(); ++i)
        fmt::print("{},{},{},{},{},{}\n", data.steps[i], data.key.rank, label, data.key.index,
                   valueDigits(quantity, data.bits[i]), valueHex(quantity, data.bits[i]));
}

void printTable(const std::vector<SeriesData>& all, const std::optional<ImportedRun>& imported)
{
    Table table({{"rank", Align::Right},
                 {"quantity"},
                 {"index", Align::Right},
                 {"points", Align::Right},
                 {"first step", Align::Right},
                 {"last step", Align::Right},
                 {"last value", Align::Right}});
    for (const SeriesData& data : all) {
        const bool empty = data.size() == 0;
        table.row({std::to_string(data.key.rank), seriesLabel(data.key.quantity, tagOf(imported, data.key)),
                   std::to_string(data.key.index), std::to_string(data.size()),
                   empty ? "-" : std::to_string(data.steps.front()),
                   empty ? "-" : std::to_string(data.steps.back()),
                   empty ? "-" : valueText(data.key.quantity, data.bits.back())});
    }
    fmt::print("{}", table.text());
}

Result<std::vector<SeriesData>> readSelected(RunReader& run, const std::string& id,
                                             const Selection& selection)
{
    const Result<std::vector<SeriesInfo>> series = run.series();
    if (!series)
        return series.error();
    std::vector<SeriesData> all;
    for (const SeriesInfo& info : series.value()) {
        if (!selection.has(info.key))
            continue;
        Result<SeriesData> data = run.read(info.key);
        if (!data)
            return data.error();
        all.push_back(std::move(data).value());
    }
    if (all.empty())
        return Error{ErrorKind::NotFound, fmt::format("The run {} has nothing to export", id),
                     series->empty() ? "no step was recorded"
                                     : "none of the chosen series and ranks was recorded",
                     "See all series of the run with lockstep-cli export DIR RUN"};
    return all;
}

int exportRun(const ExportOptions& options, bool asJson)
{
    Result<ProjectStore> project = ProjectStore::open(options.folder);
    if (!project)
        return fail(project.error());
    const Result<RunInfo> run = project->run(options.run);
    if (!run)
        return fail(run.error());
    Result<RunReader> reader = RunReader::open(run->folder);
    if (!reader)
        return fail(reader.error());
    const Result<std::optional<ImportedRun>> imported = importedTable(*reader);
    if (!imported)
        return fail(imported.error());
    const Result<Selection> selection = select(options, *imported);
    if (!selection)
        return fail(selection.error());
    const Result<std::vector<SeriesData>> all = readSelected(*reader, run->id, *selection);
    if (!all)
        return fail(all.error());
    if (asJson) {
        JsonDocument json;
        json.beginObject().key("run").text(run->id).key("name").text(run->name).key("series").beginArray();
        for (const SeriesData& data : all.value())
            writeSeries(json, data, *imported);
        json.endArray().endObject();
        json.print();
    } else if (options.csv) {
        fmt::print("step,rank,quantity,index,value,hex\n");
        for (const SeriesData& data : all.value())
            printCsv(data, *imported);
    } else {
        printTable(all.value(), *imported);
    }
    return 0;
}

} // namespace

void addExportCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<ExportOptions>();
    CLI::App* command = context.command(app, "export", "Print the recorded values of a run",
                                        [&context, options] { return exportRun(*options, context.json); });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    command->add_option("run", options->run, "id or name of the run")->required()->option_text("RUN");
    command
        ->add_option("--series", options->series,
                     "names of quantities or tags of an imported log, separated by commas (default all)")
        ->delimiter(',')
        ->option_text("a,b");
    command->add_option("--rank", options->rank, "default all")->option_text("R|all");
    command->add_flag("--csv", options->csv, "comma-separated values, one line per value");
}

} // namespace lockstep
