#include "core/report/report.h"
#include "core/report/svg_plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep {

namespace {

// Words and shapes carry the meaning, colours only repeat it; tables print well.
const char* const kStyle = R"(
body{font:14px/1.5 "Noto Sans",system-ui,sans-serif;color:#1A1D21;background:#fff;max-width:920px;margin:24px auto;padding:0 16px}
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:28px 0 8px;border-bottom:1px solid #D5D9DE}h3{font-size:14px;margin:16px 0 4px}
table{border-collapse:collapse;width:100%;font-size:12.5px}th{text-align:left;color:#4A525C;font-weight:600;background:#F8F9FA}
th,td{border-bottom:1px solid #E8EAED;padding:3px 6px;vertical-align:top}td.n{text-align:right;white-space:nowrap}
.passed{color:#166B37}.fails{color:#B3261E}.overridden{color:#855500}.quiet{color:#626A75}
code,pre{font-family:"Noto Sans Mono",monospace;font-size:12px;word-break:break-all}
details{margin:2px 0}summary{cursor:pointer;color:#4A525C}svg{max-width:100%;height:auto}
)";

std::string cell(const std::string& text, bool number = false)
{
    return fmt::format("<td{}>{}</td>", number ? " class='n'" : "", escaped(text));
}

std::string_view wordClass(std::string_view word)
{
    if (word == "passed" || word == "overridden" || word == "fails")
        return word;
    return word == "holds" ? "" : "quiet";
}

std::string wordCell(const std::string& word)
{
    return fmt::format("<td class='{}'>{}</td>", wordClass(word), word);
}

void gates(std::string& out, const MigrationReport& report)
{
    out += "<h2>Gates</h2><table><tr><th>gate</th><th>state</th><th>checks that hold</th><th>judged</th>"
           "<th>reason of the override</th></tr>";
    for (const ReportGate& gate : report.gates)
        out += fmt::format("<tr>{}{}{}{}{}</tr>", cell(gate.gate.phase), wordCell(gateWord(gate)),
                           cell(gate.state.judged
                                    ? fmt::format("{} of {}", gate.holding, gate.gate.checks.size())
                                    : std::string("-"),
                                true),
                           cell(utcTime(gate.gate.judgedUnixMs)), cell(gate.gate.overrideReason));
    out += "</table>";
    for (const ReportGate& gate : report.gates) {
        if (gate.gate.checks.empty())
            continue;
        out += fmt::format(
            "<h3>{}: {}</h3><table><tr><th>verdict</th><th>check</th><th>number</th><th>limit</th>"
            "<th>where</th><th>what it says</th></tr>",
            escaped(gate.gate.phase), gateWord(gate));
        for (const GateCheck& check : gate.gate.checks) {
            std::string sentence = escaped(check.sentence);
            if (check.verdict == "fail" && !check.fix.empty())
                sentence += fmt::format("<br><b>Fix:</b> {}", escaped(check.fix));
            if (const auto rows = evidenceRows(check); !rows.empty()) {
                sentence += "<details><summary>numbers</summary>";
                for (const auto& [label, text] : rows)
                    sentence += fmt::format("{}: {}<br>", escaped(label), escaped(text));
                sentence += "</details>";
            }
            out += fmt::format("<tr>{}{}{}{}{}<td>{}</td></tr>", wordCell(checkWord(check)), cell(check.id),
                               cell(check.value, true), cell(check.limit, true),
                               cell(placeText(check.step, check.rank, check.parameter)), sentence);
        }
        out += "</table>";
    }
}

void findings(std::string& out, const MigrationReport& report)
{
    out += "<h2>Findings</h2>";
    if (report.findings.empty()) {
        out += "<p class='quiet'>None: no comparison of this project has found a cause.</p>";
        return;
    }
    out += "<table><tr><th>cause</th><th>certainty</th><th>runs</th><th>where</th><th>what it says</th></tr>";
    for (const FindingRow& row : report.findings)
        out += fmt::format("<tr>{}{}{}{}<td>{}<br><b>Fix:</b> {}</td></tr>", cell(row.cause),
                           cell(row.confidence), cell(row.runA + ", " + row.runB),
                           cell(placeText(row.step, row.rank)), escaped(row.sentence), escaped(row.fix));
    out += "</table>";
}

void runTable(std::string& out, const MigrationReport& report)
{
    out +=
        "<h2>Runs</h2><table><tr><th>run</th><th>state</th><th>steps</th><th>last loss</th><th>started</th>"
        "<th>segments, first failure</th></tr>";
    for (const ReportRun& run : report.runs)
        out += fmt::format("<tr>{}{}{}{}{}<td>{}{}{}</td></tr>", cell(run.info.id),
                           cell(runStateName(run.info.state)), cell(std::to_string(run.info.lastStep), true),
                           cell(fmt::format("{:.6g}", run.info.lastLoss), true),
                           cell(utcTime(run.info.startedUnixMs)),
                           escaped(fmt::format("{}", fmt::join(run.segments, ", "))),
                           run.segments.empty() || run.info.firstFailure.sentence.empty() ? "" : "<br>",
                           escaped(run.info.firstFailure.sentence));
    out += "</table>";
}

void pairs(std::string& out, const std::vector<std::pair<std::string, std::string>>& rows)
{
    out += "<table>";
    for (const auto& [key, value] : rows)
        out += fmt::format("<tr>{}<td><code>{}</code></td></tr>", cell(key), escaped(value));
    out += "</table>";
}

} // namespace

std::string reportAsHtml(const MigrationReport& report)
{
    std::string out = fmt::format(
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>Migration report: {0}</title>"
        "<style>{1}</style></head><body><h1>Migration report: {0}</h1><p class='quiet'>made {2}</p>"
        "<p><b>{3}</b></p>",
        escaped(report.project.name), kStyle, utcTime(report.createdUnixMs), verdictSentence(report));
    gates(out, report);
    findings(out, report);
    out += "<h2>What was really trained and loaded</h2><table>";
    for (const ReportScope& scope : report.scope)
        out += fmt::format("<tr>{}{}</tr>", cell(scope.what),
                           cell(scope.values.empty() ? std::string("nothing")
                                                     : fmt::format("{}", fmt::join(scope.values, "; "))));
    out += "</table><p class='quiet'>Anything else was not tried here.</p><h2>How to restore</h2><ol>";
    for (const std::string& step : report.restore)
        out += fmt::format("<li>{}</li>", escaped(step));
    out += "</ol>";
    for (const ReportPlot& plot : report.plots)
        out += fmt::format("<h2>{}</h2>{}", escaped(plot.title), svgPlot(plot));
    runTable(out, report);
    if (!report.subject.empty()) {
        out += fmt::format("<h2>Configuration of {}</h2>", escaped(report.subject));
        pairs(out, report.configuration);
        out += fmt::format("<h2>Environment of {}</h2>", escaped(report.subject));
        pairs(out, report.environment);
    }
    return out + "</body></html>\n";
}

} // namespace lockstep
