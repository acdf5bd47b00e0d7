// compare: where two runs part, quantity by quantity in causal order.
#include "app/cli/cli_context.h"
#include "app/cli/json_output.h"
#include "app/cli/opened_run.h"
#include "app/cli/series_choice.h"
#include "app/cli/table.h"
#include "app/cli/value_text.h"
#include "core/align/compare.h"
#include "core/gates/kept_envelope.h"
#include "core/gates/sample_agreement.h"
#include "core/store/project_store.h"
#include "core/store/run_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

namespace lockstep {

namespace {

struct CompareCommand {
    std::string folder, runA, runB;
    std::string mode = "auto";
    std::string by = "step";
    std::vector<std::string> series;
    std::vector<std::string> repeats; // runs to measure the envelope from
};

// From the named repeats, else what the project has kept for such runs; none is not an error here.
Result<std::optional<Envelope>> findEnvelope(ProjectStore& project, const std::vector<std::string>& repeats,
                                             const RunConfig& a, const RunConfig& b)
{
    if (!repeats.empty()) {
        std::vector<std::unique_ptr<OpenedRun>> runs;
        std::vector<RunReader*> readers;
        for (const std::string& name : repeats) {
            Result<OpenedRun> run = openRun(project, name);
            if (!run)
                return run.error();
            runs.push_back(std::make_unique<OpenedRun>(std::move(run).value()));
            readers.push_back(&runs.back()->reader);
        }
        Result<Envelope> measured = measureEnvelope(readers);
        if (!measured)
            return measured.error();
        return std::optional(std::move(measured).value());
    }
    Result<std::vector<GateInfo>> gates = project.gates();
    if (!gates)
        return gates.error();
    std::string judged;
    for (const GateInfo& gate : *gates)
        if (gate.phase == "gradients")
            judged = gate.configJson;
    return keptEnvelope(project.info().folder, judged, a, b);
}

void writeSide(JsonDocument& json, const char* name, const FirstDifference& first, bool missing,
               std::uint64_t bits)
{
    json.key(name);
    if (missing)
        json.null();
    else
        writeValue(json, first.quantity, bits);
    json.key(fmt::format("{}_hex", name));
    if (missing)
        json.null();
    else
        json.text(valueHex(first.quantity, bits));
}

void writeFirst(JsonDocument& json, const FirstDifference& first)
{
    json.beginObject().key("quantity").text(quantityName(first.quantity)).key("index").number(first.index);
    json.key("tag");
    if (first.tag.empty())
        json.null();
    else
        json.text(first.tag);
    json.key("step").number(first.step).key("step_b").number(first.stepB).key("rank");
    if (first.rank < 0)
        json.null();
    else
        json.number(first.rank);
    json.key("parameter");
    if (first.parameter.empty())
        json.null();
    else
        json.text(first.parameter);
    writeSide(json, "a", first, first.missingA, first.a);
    writeSide(json, "b", first, first.missingB, first.b);
    json.key("limit").real(first.limit).endObject();
}

void printJson(const OpenedRun& a, const OpenedRun& b, const Comparison& result)
{
    JsonDocument json;
    json.beginObject().key("verdict").text(verdictName(result.verdict));
    json.key("reason");
    if (result.reason.empty())
        json.null();
    else
        json.text(result.reason);
    json.key("a").text(a.info.id).key("b").text(b.info.id);
    json.key("mode").text(toleranceName(result.tolerance)).key("by").text(pairByName(result.by));
    json.key("ranks").text(result.match == RankMatch::Whole ? "whole" : "rank_by_rank");
    json.key("first_step").number(result.firstStep).key("last_step").number(result.lastStep);
    json.key("compared").beginObject();
    for (const QuantityResult& quantity : result.quantities)
        json.key(seriesLabel(quantity.quantity, quantity.tag)).number(quantity.points);
    json.endObject().key("printed").beginObject();
    for (const QuantityResult& quantity : result.quantities)
        if (quantity.printed) {
            json.key(seriesLabel(quantity.quantity, quantity.tag));
            writeDecimals(json, *quantity.printed);
        }
    json.endObject().key("first").beginArray();
    for (const FirstDifference& first : result.first())
        writeFirst(json, first);
    json.endArray().key("origin");
    if (const FirstDifference* origin = result.origin())
        writeFirst(json, *origin);
    else
        json.null();
    json.key("not_compared").beginArray();
    for (const NotCompared& note : result.notCompared)
        json.beginObject()
            .key("quantity")
            .text(quantityName(note.quantity))
            .key("reason")
            .text(note.reason)
            .endObject();
    json.endArray().key("config").beginArray();
    for (const ConfigDifference& difference : result.config)
        json.beginObject()
            .key("key")
            .text(difference.key)
            .key("a")
            .text(difference.a)
            .key("b")
            .text(difference.b)
            .endObject();
    json.endArray().endObject();
    json.print();
}

std::string sideText(const FirstDifference& first, bool missing, std::uint64_t bits)
{
    return missing ? "no value" : valueText(first.quantity, bits);
}

// Ranks that take every world-th sample have those of one process in another order: in exact mode a difference, but none of
// which samples were used. Empty: it is not so.
std::string samplesInOtherOrder(OpenedRun& a, OpenedRun& b, const Comparison& result)
{
    const auto differs = [&](Quantity quantity) {
        return std::any_of(result.quantities.begin(), result.quantities.end(),
                           [&](const QuantityResult& q) { return q.quantity == quantity && q.first; });
    };
    if (result.match != RankMatch::Whole || result.by != PairBy::Step ||
        (!differs(Quantity::SampleIds) && !differs(Quantity::SampleContent)) ||
        (a.config.mode != "single" && b.config.mode != "single"))
        return {};
    OpenedRun& one = a.config.mode == "single" ? a : b;
    OpenedRun& many = a.config.mode == "single" ? b : a;
    const auto samples = compareSamples(one.reader, many.reader, many.config.world, result.lastStep);
    if (!samples || !samples->has_value() || !(*samples)->equal() || (*samples)->padded > 0)
        return {};
    return fmt::format(
        "sample_ids: the same samples in each of {} steps, in another order within the step. Outside the "
        "exact mode that is no difference.",
        (*samples)->steps);
}

// "loss to 5 printed decimals, lr to 7 printed digits", of runs that differ only what does; empty: it comes from no text.
std::string printedText(const Comparison& result)
{
    std::string text;
    for (const QuantityResult& quantity : result.quantities)
        if (quantity.printed && (result.verdict != Verdict::Differ || quantity.first))
            text +=
                fmt::format("{}{} to {}", text.empty() ? "" : ", ",
                            seriesLabel(quantity.quantity, quantity.tag), printedWords(*quantity.printed));
    return text;
}

void printText(const OpenedRun& a, const OpenedRun& b, const Comparison& result,
               const std::string& samplesNote)
{
    std::int64_t points = 0;
    for (const QuantityResult& quantity : result.quantities)
        points += quantity.points;
    const std::string how =
        fmt::format("steps {} to {}, {} values of {} quantities, mode {}", result.firstStep, result.lastStep,
                    points, result.quantities.size(), toleranceName(result.tolerance));
    const std::string printed = printedText(result);
    switch (result.verdict) {
    case Verdict::EqualAsPrinted:
        fmt::print("{} and {}: equal as far as the logs print them: {} ({})\n", a.info.id, b.info.id, printed,
                   how);
        break;
    case Verdict::Equal:
        fmt::print("{} and {}: {} ({})\n", a.info.id, b.info.id,
                   result.tolerance.mode == CompareMode::Exact ? "equal in every bit"
                                                               : "equal within the limits",
                   how);
        break;
    case Verdict::CannotCompare:
        fmt::print("{} and {}: cannot compare. {}\n", a.info.id, b.info.id, result.reason);
        break;
    case Verdict::Differ: {
        const FirstDifference* origin = result.origin();
        fmt::print("{} and {} part at step {}, {} ({})\n", a.info.id, b.info.id, origin->step,
                   seriesLabel(origin->quantity, origin->tag), how);
        Table table({{"quantity"},
                     {"step", Align::Right},
                     {"rank", Align::Right},
                     {"a", Align::Right},
                     {"b", Align::Right},
                     {"parameter"}});
        for (const FirstDifference& first : result.first())
            table.row({seriesLabel(first.quantity, first.tag), std::to_string(first.step),
                       first.rank < 0 ? "all" : std::to_string(first.rank),
                       sideText(first, first.missingA, first.a), sideText(first, first.missingB, first.b),
                       first.parameter});
        fmt::print("{}", table.text());
        if (!printed.empty())
            fmt::print(
                "Up to these steps the logs are equal as far as they print: {}. They may part earlier.\n",
                printed);
        break;
    }
    }
    if (!samplesNote.empty())
        fmt::print("{}\n", samplesNote);
    for (const ConfigDifference& difference : result.config)
        fmt::print("{}: {} against {}\n", difference.key, difference.a, difference.b);
}

int compare(const CompareCommand& command, bool asJson)
{
    const Result<Tolerance> tolerance = parseTolerance(command.mode);
    if (!tolerance)
        return fail(tolerance.error());
    const Result<PairBy> by = parsePairBy(command.by);
    if (!by)
        return fail(by.error());
    Result<ProjectStore> project = ProjectStore::open(command.folder);
    if (!project)
        return fail(project.error());
    Result<OpenedRun> a = openRun(project.value(), command.runA);
    if (!a)
        return fail(a.error());
    Result<OpenedRun> b = openRun(project.value(), command.runB);
    if (!b)
        return fail(b.error());
    const Result<std::optional<ImportedRun>> tableA = importedTable(a->reader);
    if (!tableA)
        return fail(tableA.error());
    const Result<std::optional<ImportedRun>> tableB = importedTable(b->reader);
    if (!tableB)
        return fail(tableB.error());
    const Result<ChosenSeries> chosen = chooseSeries(command.series, {*tableA, *tableB});
    if (!chosen)
        return fail(chosen.error());
    const Result<std::optional<Envelope>> envelope =
        findEnvelope(project.value(), command.repeats, a->config, b->config);
    if (!envelope)
        return fail(envelope.error());

    CompareOptions options;
    options.tolerance = tolerance.value();
    options.by = by.value();
    options.only = chosen->quantities;
    options.tags = chosen->tags;
    options.envelope = envelope.value() ? &*envelope.value() : nullptr;
    const Result<Comparison> result = compareRuns(a->reader, a->config, b->reader, b->config, options);
    if (!result)
        return fail(result.error());
    if (asJson)
        printJson(a.value(), b.value(), result.value());
    else
        printText(a.value(), b.value(), result.value(),
                  samplesInOtherOrder(a.value(), b.value(), result.value()));
    switch (result->verdict) {
    case Verdict::Equal:
    case Verdict::EqualAsPrinted:
        return 0;
    case Verdict::Differ:
        return 1;
    case Verdict::CannotCompare:
        break;
    }
    return 3;
}

} // namespace

void addCompareCommand(CLI::App& app, CliContext& context)
{
    auto options = std::make_shared<CompareCommand>();
    CLI::App* command = context.command(app, "compare", "Find the first step in which two runs differ",
                                        [&context, options] { return compare(*options, context.json); });
    command->add_option("folder", options->folder, "project folder")->required()->option_text("DIR");
    command->add_option("a", options->runA, "id or name of a run")->required()->option_text("A");
    command->add_option("b", options->runB, "id or name of the other run")->required()->option_text("B");
    command
        ->add_option("--mode", options->mode,
                     "what counts as equal (default auto: exact, or the measured envelope between a single "
                     "process and several ranks where there is one)")
        ->option_text("exact|ulp:N|abs:X|rel:X|envelope|auto");
    command->add_option("--by", options->by, "how steps are paired (default step)")
        ->option_text("step|samples|id");
    command->add_option("--series", options->series, "compare only these quantities or tags of imported logs")
        ->delimiter(',')
        ->option_text("a,b");
    command->add_option("--repeats", options->repeats, "runs to measure the envelope from, three or more")
        ->delimiter(',')
        ->option_text("R,R,R");
}

} // namespace lockstep
