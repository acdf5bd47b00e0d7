#include "core/config/json.h"
#include "core/report/report.h"

namespace lockstep {

namespace {

class Document
{
public:
    explicit Document(const MigrationReport& report) : report_(report) {}

    std::string write()
    {
        json_.StartObject();
        text("project", report_.project.name), text("folder", report_.project.folder);
        number("created_unix_ms", report_.createdUnixMs);
        text("verdict", report_.verdict), text("sentence", verdictSentence(report_));
        list("gates", report_.gates, [this](const ReportGate& gate) { this->gate(gate); });
        list("findings", report_.findings, [this](const FindingRow& row) { finding(row); });
        list("scope", report_.scope, [this](const ReportScope& scope) {
            text("what", scope.what);
            words("values", scope.values);
        });
        words("restore", report_.restore);
        list("runs", report_.runs, [this](const ReportRun& run) { this->run(run); });
        text("subject", report_.subject);
        pairs("configuration", report_.configuration);
        pairs("environment", report_.environment);
        json_.EndObject();
        return {buffer_.GetString(), buffer_.GetSize()};
    }

private:
    void key(const char* name) { json_.Key(name); }
    void text(const char* name, const std::string& value) { key(name), json_.String(value); }
    void number(const char* name, std::int64_t value) { key(name), json_.Int64(value); }
    // Steps and ranks below 0 stand for "none".
    void place(const char* name, std::int64_t value)
    {
        key(name);
        if (value < 0)
            json_.Null();
        else
            json_.Int64(value);
    }
    void words(const char* name, const std::vector<std::string>& values)
    {
        key(name);
        json_.StartArray();
        for (const std::string& value : values)
            json_.String(value);
        json_.EndArray();
    }
    void pairs(const char* name, const std::vector<std::pair<std::string, std::string>>& rows)
    {
        key(name);
        json_.StartObject();
        for (const auto& [k, value] : rows)
            text(k.c_str(), value);
        json_.EndObject();
    }
    template<typename T, typename Write>
    void list(const char* name, const std::vector<T>& items, Write write)
    {
        key(name);
        json_.StartArray();
        for (const T& item : items) {
            json_.StartObject();
            write(item);
            json_.EndObject();
        }
        json_.EndArray();
    }

    void gate(const ReportGate& gate)
    {
        text("phase", gate.gate.phase);
        text("verdict", gate.state.judged ? gate.gate.verdict : "not_judged");
        key("passed"), json_.Bool(gate.state.passed);
        key("override");
        if (gate.gate.overrideReason.empty())
            json_.Null();
        else
            json_.String(gate.gate.overrideReason);
        number("judged_unix_ms", gate.gate.judgedUnixMs);
        list("checks", gate.gate.checks, [this](const GateCheck& check) {
            text("id", check.id), text("verdict", check.verdict);
            text("value", check.value), text("limit", check.limit);
            place("step", check.step), place("rank", check.rank);
            text("parameter", check.parameter), text("sentence", check.sentence), text("fix", check.fix);
            text("cause", check.cause);
            list("evidence", evidenceRows(check),
                 [this](const auto& row) { text("label", row.first), text("text", row.second); });
        });
    }

    void finding(const FindingRow& row)
    {
        text("a", row.runA), text("b", row.runB), text("cause", row.cause);
        text("confidence", row.confidence);
        place("rank", row.rank), place("step", row.step);
        text("sentence", row.sentence), text("fix", row.fix);
    }

    void run(const ReportRun& run)
    {
        text("run", run.info.id), text("state", runStateName(run.info.state));
        number("last_step", run.info.lastStep);
        key("last_loss"), json_.Double(run.info.lastLoss);
        number("started_unix_ms", run.info.startedUnixMs);
        text("mode", run.config.mode), number("world", run.config.world);
        words("segments", run.segments);
        text("first_failure", run.info.firstFailure.sentence);
    }

    const MigrationReport& report_;
    rapidjson::StringBuffer buffer_;
    JsonWriter json_{buffer_};
};

} // namespace

std::string reportAsJson(const MigrationReport& report)
{
    return Document(report).write() + "\n";
}

} // namespace lockstep
