#include "core/report/report.h"

#include <fmt/format.h>

namespace lockstep {

namespace {

struct Counts {
    int tests = 0;
    int failures = 0;
    int skipped = 0;
};

std::string testCase(const ReportGate& gate, const GateCheck& check, Counts& counts)
{
    ++counts.tests;
    std::string body;
    if (check.verdict == "cannot_judge") {
        ++counts.skipped;
        body = fmt::format("<skipped message=\"{}\"/>", escaped(check.sentence));
    } else if (check.verdict == "fail" && gate.state.overridden) {
        ++counts.skipped;
        body = fmt::format("<skipped message=\"overridden: {}\"/>", escaped(gate.gate.overrideReason));
    } else if (check.verdict == "fail") {
        ++counts.failures;
        body =
            fmt::format("<failure message=\"{}\">{} (limit {}). Fix: {}</failure>", escaped(check.sentence),
                        escaped(check.value), escaped(check.limit), escaped(check.fix));
    }
    return fmt::format("    <testcase classname=\"lockstep.{}\" name=\"{}\" time=\"0\">{}"
                       "<system-out>{} (limit {}): {}</system-out></testcase>\n",
                       escaped(gate.gate.phase), escaped(check.id), body, escaped(check.value),
                       escaped(check.limit), escaped(check.sentence));
}

} // namespace

std::string reportAsJunit(const MigrationReport& report)
{
    std::string suites;
    Counts all;
    for (const ReportGate& gate : report.gates) {
        Counts counts;
        std::string cases;
        for (const GateCheck& check : gate.gate.checks)
            cases += testCase(gate, check, counts);
        if (gate.gate.checks.empty()) {
            counts = {1, 0, 1};
            cases = fmt::format("    <testcase classname=\"lockstep.{0}\" name=\"{0}\" time=\"0\">"
                                "<skipped message=\"{1}\"/></testcase>\n",
                                escaped(gate.gate.phase), gateWord(gate));
        }
        suites +=
            fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
                        "time=\"0\">\n{}  </testsuite>\n",
                        escaped(gate.gate.phase), counts.tests, counts.failures, counts.skipped, cases);
        all.tests += counts.tests;
        all.failures += counts.failures;
        all.skipped += counts.skipped;
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"lockstep {}\" tests=\"{}\" "
        "failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\">\n{}</testsuites>\n",
        escaped(report.project.name), all.tests, all.failures, all.skipped, suites);
}

} // namespace lockstep
