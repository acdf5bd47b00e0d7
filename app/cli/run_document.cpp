#include "app/cli/run_document.h"

#include "app/cli/cli_context.h"

#include <QDateTime>

#include <fmt/format.h>

namespace lockstep {

namespace {

// Nobody was left to write a reason down.
const std::string kInterrupted =
    "The run was interrupted. The process that recorded it was killed or lost power. What it "
    "had committed is kept; resume from the last checkpoint or start it again.";

// Ranks and steps below 0 stand for "none".
void writeIfKnown(JsonDocument& json, const char* name, std::int64_t value)
{
    json.key(name);
    if (value < 0)
        json.null();
    else
        json.number(value);
}

} // namespace

void writeRunMembers(JsonDocument& json, const RunInfo& run, bool full)
{
    json.key("run").text(run.id).key("name").text(run.name).key("state").text(runStateName(run.state));
    json.key("exit").beginArray();
    for (int code : run.exitCodes)
        json.number(code);
    json.endArray();
    json.key("first_failure");
    const std::string& sentence = run.firstFailure.sentence.empty() && run.state == RunState::Interrupted
                                      ? kInterrupted
                                      : run.firstFailure.sentence;
    if (sentence.empty()) {
        json.null();
    } else {
        json.beginObject();
        writeIfKnown(json, "rank", run.firstFailure.rank);
        writeIfKnown(json, "step", run.firstFailure.step);
        json.key("sentence").text(sentence).endObject();
    }
    writeIfKnown(json, "last_step", run.lastStep);
    json.key("folder").text(run.folder);
    if (!full)
        return;
    json.key("auxiliary").writer().Bool(run.auxiliary());
    json.key("last_loss").real(run.lastLoss);
    json.key("started_unix_ms").number(run.startedUnixMs).key("ended_unix_ms").number(run.endedUnixMs);
    json.key("config").raw(run.configJson).key("environment").raw(run.environmentJson);
}

void printRunDocument(const RunInfo& run)
{
    JsonDocument json;
    json.beginObject();
    writeRunMembers(json, run, false);
    json.endObject();
    json.print();
}

std::string beginningText(const RunInfo& run, bool json)
{
    if (!json)
        return fmt::format("{}  started\n", run.id);
    JsonDocument document;
    document.beginObject();
    writeRunMembers(document, run, false);
    document.endObject();
    return document.text() + "\n";
}

void printRunLine(const RunInfo& run)
{
    const std::int64_t now = QDateTime::currentMSecsSinceEpoch();
    // One rank sees its own samples only, so its loss is not the loss of a single process on the whole batch.
    const char* of = run.exitCodes.size() > 1 ? " of rank 0" : "";
    fmt::print("{}  {}  {}  {}\n", run.id, runStateName(run.state),
               run.lastStep < 0 ? std::string("no step recorded")
                                : fmt::format("step {}, loss{} {:.6g}", run.lastStep, of, run.lastLoss),
               durationText(run, now));
    if (!run.firstFailure.sentence.empty())
        warn(run.firstFailure.sentence);
}

std::string durationText(const RunInfo& run, std::int64_t nowUnixMs)
{
    const std::int64_t end = run.endedUnixMs > 0 ? run.endedUnixMs : nowUnixMs;
    return fmt::format("{:.1f} s", double(end - run.startedUnixMs) / 1000.0);
}

} // namespace lockstep
