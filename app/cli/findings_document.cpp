#include "app/cli/findings_document.h"

#include "app/cli/value_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep {

namespace {

void place(JsonDocument& json, const char* key, std::int64_t value)
{
    json.key(key);
    if (value < 0)
        json.null();
    else
        json.number(value);
}

void textOrNull(JsonDocument& json, const char* key, const std::string& value)
{
    json.key(key);
    if (value.empty())
        json.null();
    else
        json.text(value);
}

void writeRow(JsonDocument& json, const Evidence& row, bool excludes)
{
    json.beginObject().key("label").text(row.label).key("text").text(row.text);
    textOrNull(json, "quantity", row.quantity ? quantityName(*row.quantity) : std::string());
    place(json, "step", row.step);
    place(json, "rank", row.rank);
    textOrNull(json, "parameter", row.parameter);
    json.key("excludes").raw(excludes ? "true" : "false").endObject();
}

// "rank 2, from step 7, weight x": where it is, for people.
std::string placeText(const Finding& finding)
{
    std::string text = finding.rank < 0 ? "all ranks" : fmt::format("rank {}", finding.rank);
    if (finding.step >= 0)
        text += fmt::format(", step {}", finding.step);
    if (!finding.parameter.empty())
        text += ", " + finding.parameter;
    return text;
}

} // namespace

std::string faultText(const FaultSpec& fault)
{
    std::string text = fault.id;
    for (const auto& [key, value] : fault.parameters)
        text += fmt::format(",{}={}", key, value);
    return text;
}

void writeFinding(JsonDocument& json, const Finding& finding, const std::string& check)
{
    json.beginObject();
    if (!check.empty())
        json.key("check").text(check);
    textOrNull(json, "cause", finding.causes.empty() ? std::string() : finding.causes.front());
    json.key("causes").beginArray();
    for (const std::string& cause : finding.causes)
        json.text(cause);
    json.endArray().key("confidence").text(certaintyName(finding.certainty));
    place(json, "rank", finding.rank);
    place(json, "step", finding.step);
    textOrNull(json, "parameter", finding.parameter);
    json.key("sentence").text(finding.sentence).key("fix").text(finding.fix);
    json.key("setting");
    if (finding.setting.empty())
        json.null();
    else
        json.beginObject().key("key").text(finding.setting).key("value").text(finding.value).endObject();
    json.key("evidence").beginArray();
    for (const Evidence& row : finding.evidence)
        writeRow(json, row, false);
    json.endArray().key("excluded").beginArray();
    for (const Evidence& row : finding.excluded)
        writeRow(json, row, true);
    json.endArray();
    textOrNull(json, "separate", finding.separate);
    json.key("replays").beginArray();
    for (const FaultSpec& fault : finding.replays)
        json.text(faultText(fault));
    json.endArray().endObject();
}

FindingRow findingRow(const std::string& runA, const std::string& runB, const Finding& finding)
{
    JsonDocument evidence;
    evidence.beginArray();
    for (const Evidence& row : finding.evidence)
        writeRow(evidence, row, false);
    for (const Evidence& row : finding.excluded)
        writeRow(evidence, row, true);
    evidence.endArray();
    FindingRow row;
    row.runA = runA;
    row.runB = runB;
    row.cause = fmt::format("{}", fmt::join(finding.causes, ", "));
    row.confidence = certaintyName(finding.certainty);
    row.sentence = finding.sentence;
    row.fix = finding.fix;
    row.evidenceJson = evidence.text();
    row.rank = finding.rank;
    row.step = finding.step;
    return row;
}

std::string joinEvidence(const std::string& rows, const std::string& more)
{
    JsonDocument all;
    all.beginArray();
    for (const std::string& part : {rows, more}) {
        const Result<rapidjson::Document> document = parseJson(part, "evidence");
        if (document && document->IsArray())
            for (const auto& row : document->GetArray())
                row.Accept(all.writer());
    }
    all.endArray();
    return all.text();
}

std::string findingText(const Finding& finding)
{
    std::string text = fmt::format("{}  {}  {}\n  {}\n", fmt::join(finding.causes, " or "),
                                   certaintyName(finding.certainty), placeText(finding), finding.sentence);
    for (const Evidence& row : finding.evidence)
        text += fmt::format("    {}: {}\n", row.label, row.text);
    for (const Evidence& row : finding.excluded)
        text += fmt::format("    not {}: {}\n", row.label, row.text);
    if (!finding.separate.empty())
        text += fmt::format("  {}\n", finding.separate);
    return text + fmt::format("  Fix: {}.\n", finding.fix);
}

} // namespace lockstep
