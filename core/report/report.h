// The migration report: what the published method asks for at its end, from what the project recorded. Collected once,
// written in four forms. Every number in it was measured; what was not judged says so.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"
#include "core/gates/phase_state.h"
#include "core/store/project_store.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct ReportGate {
    PhaseState state;
    GateInfo gate; // only the phase is set where it was never judged
    std::int64_t holding = 0;
};

// One line of a plot: steps and values in step order.
struct ReportCurve {
    std::string name;
    std::vector<double> x;
    std::vector<double> y;
};

struct ReportMark { // a step at which something happened
    double x = 0;
    std::string label;
};

struct ReportPlot {
    std::string title;
    std::string yLabel;
    std::vector<ReportCurve> curves;
    std::vector<ReportMark> marks;
};

struct ReportRun {
    RunInfo info;
    RunConfig config;
    std::vector<std::string> segments; // "4 ranks from step 0", where there are several
};

// What was really trained or loaded here, as opposed to what might work.
struct ReportScope {
    std::string what; // "ranks", "precision", "torch", ...
    std::vector<std::string> values;
};

struct MigrationReport {
    ProjectInfo project;
    std::int64_t createdUnixMs = 0;
    std::string verdict; // "pass": all gates passed; "overridden": some only by override; "open": not all
    std::vector<ReportGate> gates; // all phases, in order
    std::vector<FindingRow> findings;
    std::vector<ReportScope> scope;
    std::vector<std::string> restore; // steps, in order
    std::vector<ReportRun> runs;      // newest first
    std::string subject;              // the run whose configuration and environment follow; empty: none
    std::vector<std::pair<std::string, std::string>> configuration;
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<ReportPlot> plots;
};

// `nowUnixMs` is what the report says it was made at. Errors: what the project's store reports. A run whose records cannot
// be read is left out of the plots.
Result<MigrationReport> collectReport(ProjectStore& project, std::int64_t nowUnixMs);

std::string reportAsHtml(const MigrationReport& report); // one file: styles and plots inlined, no script
std::string reportAsMarkdown(const MigrationReport& report);
std::string reportAsJson(const MigrationReport& report);
// One suite per gate, one case per check. A failed check of an overridden gate is skipped with the reason, one that could
// not be judged is skipped.
std::string reportAsJunit(const MigrationReport& report);

// Shared by the forms (words.cpp).
std::string utcTime(std::int64_t unixMs);     // "2026-05-04 12:30:00 UTC"; "-" for 0
const char* gateWord(const ReportGate& gate); // "passed", "overridden", "fails", "cannot judge", "not judged"
const char* checkWord(const GateCheck& check); // "holds", "fails", "not judged"
std::string verdictSentence(const MigrationReport& report);
std::vector<std::pair<std::string, std::string>> evidenceRows(const GateCheck& check); // label, text
// "step 5, rank 1, layer.weight"; numbers below 0 and an empty parameter are left out.
std::string placeText(std::int64_t step, int rank, const std::string& parameter = {});
// & < > " ' for HTML and XML; control characters that XML forbids are replaced.
std::string escaped(const std::string& text);

} // namespace lockstep
