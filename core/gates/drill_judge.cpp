#include "core/gates/drill_judge.h"

#include "core/config/json.h"
#include "core/gates/gate_check.h"
#include "core/gates/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace lockstep {

namespace {

// A JSON member as text; empty where it is absent.
std::string member(const std::string& json, const char* name)
{
    const Result<rapidjson::Document> document = parseJson(json, "an event");
    if (!document || !document->IsObject() || !document->HasMember(name))
        return {};
    const rapidjson::Value& value = document.value()[name];
    return value.IsString() ? std::string(value.GetString())
           : value.IsBool() ? std::string(value.GetBool() ? "yes" : "")
           : value.IsInt()  ? std::to_string(value.GetInt())
                            : std::string();
}

std::string endText(const EventRecord& event)
{
    const std::string code = member(event.detail, "code");
    const std::string how = member(event.detail, "signalled").empty()
                                ? fmt::format("exits with code {}", code)
                                : fmt::format("ended by signal {}", code);
    return member(event.detail, "by_host").empty() ? how : how + " from the host";
}

class Judge
{
public:
    Judge(const Drill& drill, const RunInfo& run, RunReader& reader, const DrillRemains& remains)
        : run_(run), reader_(reader), remains_(remains)
    {
        outcome_.drill = drill;
        outcome_.runId = run.id;
        outcome_.limit = drill.limit();
    }

    Result<DrillOutcome> judge();

private:
    Status failed();
    Status slow();
    void findBreak();
    void readTimeline();
    void named();
    void gone();
    void survivorsName();
    void nothingLeft();
    void checkpoint();
    void add(const char* id, bool holds, std::string value, std::string limit, std::string sentence);
    // The rank that broke; none of them where the host did.
    bool isBroken(int rank) const
    {
        return outcome_.drill.kind != DrillKind::ConnectionLost && rank == outcome_.drill.rank;
    }
    double seconds(std::int64_t ns) const { return double(ns - brokeAt_) * 1e-9; }

    const RunInfo& run_;
    RunReader& reader_;
    const DrillRemains& remains_;
    std::vector<EventRecord> events_;
    std::int64_t brokeAt_ = -1;
    DrillOutcome outcome_;
};

void Judge::add(const char* id, bool holds, std::string value, std::string limit, std::string sentence)
{
    GateCheck& check =
        addCheck(outcome_.checks, id, holds, std::move(value), std::move(limit), std::move(sentence));
    check.step = outcome_.step;
    check.rank = outcome_.drill.rank;
}

// The host notes what it does and what it sees stop. A rank that fails by itself says so: that is its moment.
void Judge::findBreak()
{
    for (const EventRecord& event : events_) {
        const bool byHost = event.kind == "drill";
        const bool byRank =
            event.kind == "noticed" && event.rank == outcome_.drill.rank &&
            (outcome_.drill.kind == DrillKind::LoaderFails || outcome_.drill.kind == DrillKind::DiskFull);
        if ((byHost || byRank) && brokeAt_ < 0)
            brokeAt_ = event.monotonicNs;
    }
}

void Judge::readTimeline()
{
    std::set<int> survivors;
    for (const EventRecord& event : events_) {
        TimelineEntry entry{seconds(event.monotonicNs), event.rank, event.kind, {}};
        if (event.kind == "noticed") {
            entry.text = member(event.detail, "sentence");
            if (isBroken(event.rank))
                entry.kind = "breaks";
            else if (outcome_.firstNotice == 0 || entry.seconds < outcome_.firstNotice)
                outcome_.firstNotice = entry.seconds;
        } else if (event.kind == "drill") {
            entry.kind = "breaks";
            entry.rank = outcome_.drill.kind == DrillKind::ConnectionLost ? -1 : outcome_.drill.rank;
            entry.text = std::string(drillInfo(outcome_.drill.kind).title);
        } else if (event.kind == "exit") {
            entry.text = endText(event);
            outcome_.goneAfter = std::max(outcome_.goneAfter, entry.seconds);
            if (!isBroken(event.rank))
                survivors.insert(event.rank);
        } else if (event.kind == "verdict") {
            entry.text = member(event.detail, "sentence");
        } else {
            continue;
        }
        outcome_.timeline.push_back(std::move(entry));
    }
    std::stable_sort(outcome_.timeline.begin(), outcome_.timeline.end(),
                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    outcome_.survivors = int(survivors.size());
}

void Judge::named()
{
    const int expected = outcome_.drill.kind == DrillKind::ConnectionLost ? -1 : outcome_.drill.rank;
    static const std::map<DrillKind, std::string> kWords = {
        {DrillKind::LoaderFails, "loader"},
        {DrillKind::Killed, "SIGKILL"},
        {DrillKind::HangsInData, "stopped answering"},
        {DrillKind::HangsInForward, "stopped answering"},
        {DrillKind::HangsInCollective, "stopped answering"},
        {DrillKind::DiskFull, "checkpoint"},
        {DrillKind::ConnectionLost, "connection"}};
    outcome_.namedRank = run_.firstFailure.rank;
    outcome_.sentence = run_.firstFailure.sentence;
    outcome_.step = run_.firstFailure.step;
    const std::string& word = kWords.at(outcome_.drill.kind);
    const bool rightRank = run_.state == RunState::Failed && outcome_.namedRank == expected;
    const bool rightCause = outcome_.sentence.find(word) != std::string::npos;
    const std::string who = expected < 0 ? std::string("the host") : fmt::format("rank {}", expected);
    const std::string said =
        outcome_.namedRank < 0 ? std::string("the host") : fmt::format("rank {}", outcome_.namedRank);
    add("named", rightRank && rightCause,
        run_.state != RunState::Failed ? runStateName(run_.state)
        : rightCause                   ? said
                                       : said + ", another cause",
        who, outcome_.sentence.empty() ? std::string("The run names no first cause.") : outcome_.sentence);
}

void Judge::gone()
{
    const bool all = outcome_.survivors + (outcome_.drill.kind == DrillKind::ConnectionLost ? 0 : 1) ==
                     outcome_.drill.config.world;
    add("gone", all && outcome_.goneAfter <= outcome_.limit, fmt::format("{:.2f} s", outcome_.goneAfter),
        fmt::format("{:.4g} s", outcome_.limit),
        all ? fmt::format("All processes had ended {:.2f} s after it broke.", outcome_.goneAfter)
            : std::string("The end of some ranks was not recorded."));
}

void Judge::survivorsName()
{
    if (outcome_.drill.kind == DrillKind::ConnectionLost)
        return; // nobody is left to tell: what a rank says goes through that connection
    const std::string name = fmt::format("ank {} ", outcome_.drill.rank);
    std::set<int> naming;
    for (const TimelineEntry& entry : outcome_.timeline)
        if (entry.kind == "noticed" && entry.text.find(name) != std::string::npos)
            naming.insert(entry.rank);
    outcome_.survivorsNaming = int(naming.size());
    add("survivors", outcome_.survivorsNaming == outcome_.survivors,
        fmt::format("{} of {}", outcome_.survivorsNaming, outcome_.survivors),
        fmt::format("{}", outcome_.survivors),
        fmt::format("{} of {} survivors end with an error that names rank {}.", outcome_.survivorsNaming,
                    outcome_.survivors, outcome_.drill.rank));
}

void Judge::nothingLeft()
{
    add("left", remains_.processes.empty(), fmt::format("{}", remains_.processes.size()), "0",
        remains_.processes.empty()
            ? std::string("No process of the run is left.")
            : fmt::format("Processes {} still run.", fmt::join(remains_.processes, ", ")));
}

void Judge::checkpoint()
{
    const bool sound = !remains_.checkpoint.empty() && remains_.checkpointFault.empty();
    std::int64_t saved = 0;
    for (const EventRecord& event : events_)
        if (event.kind == "checkpoint")
            saved = std::max(saved, event.step);
    outcome_.lostSteps = std::max<std::int64_t>(0, outcome_.step - saved);
    add("checkpoint", sound, sound ? fmt::format("step {}", saved) : std::string("not usable"), "complete",
        sound ? fmt::format("The last checkpoint, of step {}, is complete: every byte was checked. Lost: {}.",
                            saved, counted(outcome_.lostSteps, "step", "steps"))
        : remains_.checkpoint.empty() ? std::string("There is no checkpoint.")
                                      : remains_.checkpointFault);
}

Status Judge::failed()
{
    findBreak();
    if (brokeAt_ < 0) {
        add("named", false, runStateName(run_.state), "broken",
            run_.firstFailure.sentence.empty() ? std::string("Nothing broke in this run.")
                                               : run_.firstFailure.sentence);
        nothingLeft();
        return {};
    }
    readTimeline();
    named();
    gone();
    survivorsName();
    nothingLeft();
    checkpoint();
    return {};
}

// The longest step has to be the planted one, on the planted rank, and nobody may have taken it for a fault.
Status Judge::slow()
{
    const Result<std::vector<SeriesInfo>> series = reader_.series();
    if (!series)
        return series.error();
    double longest = 0, longestData = 0;
    int slowRank = -1;
    for (const SeriesInfo& info : *series) {
        if (info.key.quantity != Quantity::TimeStep && info.key.quantity != Quantity::TimeData)
            continue;
        const Result<SeriesData> data = reader_.read(info.key);
        if (!data)
            return data.error();
        for (std::size_t i = 0; i < data->size(); ++i) {
            if (info.key.quantity == Quantity::TimeStep) {
                longest = std::max(longest, data->value(i));
            } else if (data->value(i) > longestData) {
                longestData = data->value(i);
                slowRank = info.key.rank;
                outcome_.step = data->steps[i];
            }
        }
    }
    outcome_.goneAfter = longest;
    outcome_.namedRank = slowRank;
    outcome_.limit = outcome_.drill.timeout;
    add("no_alarm", run_.state == RunState::Finished, runStateName(run_.state), "finished",
        run_.state == RunState::Finished
            ? fmt::format(
                  "The slowest step took {:.2f} s and nobody took it for a fault; the limit is {:g} s.",
                  longest, outcome_.drill.timeout)
            : run_.firstFailure.sentence);
    add("named", slowRank == outcome_.drill.rank, fmt::format("rank {}", slowRank),
        fmt::format("rank {}", outcome_.drill.rank),
        fmt::format("Rank {} took {:.2f} s for its data in step {}; the others waited for it.", slowRank,
                    longestData, outcome_.step));
    nothingLeft();
    checkpoint();
    return {};
}

Result<DrillOutcome> Judge::judge()
{
    Result<std::vector<EventRecord>> events = reader_.events();
    if (!events)
        return events.error();
    events_ = std::move(events).value();
    if (const Status judged = outcome_.drill.kind == DrillKind::Slow ? slow() : failed(); !judged)
        return judged.error();
    outcome_.holds = std::all_of(outcome_.checks.begin(), outcome_.checks.end(),
                                 [](const GateCheck& check) { return check.verdict == "pass"; });
    return std::move(outcome_);
}

} // namespace

Result<DrillOutcome> judgeDrill(const Drill& drill, const RunInfo& run, RunReader& reader,
                                const DrillRemains& remains)
{
    return Judge(drill, run, reader, remains).judge();
}

} // namespace lockstep
