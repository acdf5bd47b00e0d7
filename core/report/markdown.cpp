#include "core/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep {

namespace {

// A cell of a table: no line breaks, and bars that would end it are escaped.
std::string cell(const std::string& text)
{
    std::string out;
    for (const char c : text)
        out += c == '|' ? std::string("\\|") : c == '\n' || c == '\r' ? std::string(" ") : std::string(1, c);
    return out.empty() ? "-" : out;
}

void gates(std::string& out, const MigrationReport& report)
{
    out += "## Gates\n\n| gate | state | checks that hold | judged | reason of the override "
           "|\n|---|---|---|---|---|\n";
    for (const ReportGate& gate : report.gates)
        out += fmt::format("| {} | {} | {} | {} | {} |\n", gate.gate.phase, gateWord(gate),
                           gate.state.judged ? fmt::format("{} of {}", gate.holding, gate.gate.checks.size())
                                             : std::string("-"),
                           utcTime(gate.gate.judgedUnixMs), cell(gate.gate.overrideReason));
    for (const ReportGate& gate : report.gates) {
        if (gate.gate.checks.empty())
            continue;
        out += fmt::format("\n### {}: {}\n\n| verdict | check | number | limit | where | what it says |\n"
                           "|---|---|---|---|---|---|\n",
                           gate.gate.phase, gateWord(gate));
        for (const GateCheck& check : gate.gate.checks)
            out +=
                fmt::format("| {} | {} | {} | {} | {} | {}{} |\n", checkWord(check), cell(check.id),
                            cell(check.value), cell(check.limit),
                            cell(placeText(check.step, check.rank, check.parameter)), cell(check.sentence),
                            check.verdict == "fail" && !check.fix.empty() ? " Fix: " + cell(check.fix) : "");
    }
}

void pairs(std::string& out, const std::vector<std::pair<std::string, std::string>>& rows)
{
    out += "| key | value |\n|---|---|\n";
    for (const auto& [key, value] : rows)
        out += fmt::format("| {} | {} |\n", cell(key), cell(value));
}

} // namespace

std::string reportAsMarkdown(const MigrationReport& report)
{
    std::string out = fmt::format("# Migration report: {}\n\nMade {}. **{}**\n\n", report.project.name,
                                  utcTime(report.createdUnixMs), verdictSentence(report));
    gates(out, report);
    out += "\n## Findings\n\n";
    if (report.findings.empty())
        out += "None: no comparison of this project has found a cause.\n";
    for (const FindingRow& row : report.findings)
        out +=
            fmt::format("- **{}** ({}), runs {} and {}, {}: {} Fix: {}.\n", row.cause, row.confidence,
                        row.runA, row.runB, placeText(row.step, row.rank), cell(row.sentence), cell(row.fix));
    out += "\n## What was really trained and loaded\n\nAnything else was not tried here.\n\n| what | values "
           "|\n|---|---|\n";
    for (const ReportScope& scope : report.scope)
        out +=
            fmt::format("| {} | {} |\n", scope.what, cell(fmt::format("{}", fmt::join(scope.values, "; "))));
    out += "\n## How to restore\n\n";
    for (std::size_t i = 0; i < report.restore.size(); ++i)
        out += fmt::format("{}. {}\n", i + 1, report.restore[i]);
    out += "\n## Runs\n\n| run | state | steps | last loss | segments | first failure "
           "|\n|---|---|---|---|---|---|\n";
    for (const ReportRun& run : report.runs)
        out += fmt::format("| {} | {} | {} | {:.6g} | {} | {} |\n", run.info.id, runStateName(run.info.state),
                           run.info.lastStep, run.info.lastLoss,
                           cell(fmt::format("{}", fmt::join(run.segments, ", "))),
                           cell(run.info.firstFailure.sentence));
    if (!report.subject.empty()) {
        out += fmt::format("\n## Configuration of {}\n\n", report.subject);
        pairs(out, report.configuration);
        out += fmt::format("\n## Environment of {}\n\n", report.subject);
        pairs(out, report.environment);
    }
    return out;
}

} // namespace lockstep
