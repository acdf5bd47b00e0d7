// The words that all forms of the report share.
#include "core/config/json.h"
#include "core/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>

namespace lockstep {

std::string utcTime(std::int64_t unixMs)
{
    if (unixMs <= 0)
        return "-";
    const std::time_t seconds = unixMs / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[64];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
    return text;
}

const char* gateWord(const ReportGate& gate)
{
    if (gate.state.overridden)
        return "overridden";
    if (!gate.state.judged)
        return "not judged";
    return gate.gate.verdict == "pass" ? "passed" : gate.gate.verdict == "fail" ? "fails" : "cannot judge";
}

const char* checkWord(const GateCheck& check)
{
    return check.verdict == "pass" ? "holds" : check.verdict == "fail" ? "fails" : "not judged";
}

std::string verdictSentence(const MigrationReport& report)
{
    int passed = 0, overridden = 0;
    for (const ReportGate& gate : report.gates) {
        passed += gate.state.passed && !gate.state.overridden;
        overridden += gate.state.overridden;
    }
    std::string text = fmt::format("{} of {} gates passed", passed, report.gates.size());
    if (overridden > 0)
        text += fmt::format(", {} overridden with a written reason", overridden);
    if (report.verdict == "open")
        text += "; the migration is not finished";
    return text + ".";
}

std::vector<std::pair<std::string, std::string>> evidenceRows(const GateCheck& check)
{
    std::vector<std::pair<std::string, std::string>> rows;
    const Result<rapidjson::Document> document = parseJson(check.evidenceJson, "evidence");
    if (!document || !document->IsArray())
        return rows;
    for (const rapidjson::Value& row : document->GetArray())
        if (row.IsObject())
            rows.emplace_back(memberText(row, "label"), memberText(row, "text"));
    return rows;
}

std::string placeText(std::int64_t step, int rank, const std::string& parameter)
{
    std::vector<std::string> parts;
    if (step >= 0)
        parts.push_back(fmt::format("step {}", step));
    if (rank >= 0)
        parts.push_back(fmt::format("rank {}", rank));
    if (!parameter.empty())
        parts.push_back(parameter);
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string escaped(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
        }
    }
    return out;
}

} // namespace lockstep
