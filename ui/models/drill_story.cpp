#include "ui/models/drill_story.h"

#include "core/gates/config_diff.h"
#include "core/gates/drill_judge.h"
#include "core/gates/timeout_advice.h"
#include "core/store/run_reader.h"
#include "ui/models/format.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::DrillStory)
};

QString titleOf(DrillKind kind)
{
    switch (kind) {
    case DrillKind::LoaderFails:
        return Tr::tr("Data loading fails on one rank");
    case DrillKind::Killed:
        return Tr::tr("One rank is killed");
    case DrillKind::HangsInData:
        return Tr::tr("One rank hangs while it loads data");
    case DrillKind::HangsInForward:
        return Tr::tr("One rank hangs in the forward pass");
    case DrillKind::HangsInCollective:
        return Tr::tr("One rank hangs in a collective");
    case DrillKind::Slow:
        return Tr::tr("One rank is slow, which is no fault");
    case DrillKind::DiskFull:
        return Tr::tr("The disk is full when rank 0 saves");
    case DrillKind::ConnectionLost:
        return Tr::tr("The host loses its connections");
    }
    return {};
}

QString seconds(double value)
{
    return Tr::tr("%1 s").arg(QString::number(value, 'g', 4));
}

// The rank that was broken: planted as a fault, or what the host noted when it acted.
int brokenRank(const RunEntry& run, RunReader& reader)
{
    for (const FaultSpec& fault : run.config.faults)
        if (const auto rank = fault.parameters.find("rank"); rank != fault.parameters.end())
            return QString::fromStdString(rank->second).toInt();
    const Result<std::vector<EventRecord>> events = reader.events();
    if (events)
        for (const EventRecord& event : *events)
            if (event.kind == "drill")
                return QJsonDocument::fromJson(QByteArray::fromStdString(event.detail))
                    .object()
                    .value(QLatin1String("rank"))
                    .toInt(0);
    return 0;
}

DrillMoment::Kind momentKind(const std::string& kind)
{
    return kind == "breaks"    ? DrillMoment::Kind::Breaks
           : kind == "exit"    ? DrillMoment::Kind::Exits
           : kind == "verdict" ? DrillMoment::Kind::Names
                               : DrillMoment::Kind::Notices;
}

void fillLanes(const DrillOutcome& outcome, DrillStory& story)
{
    const auto lane = [&story, &outcome](int rank) -> DrillLane& {
        for (DrillLane& one : story.lanes)
            if (one.rank == rank)
                return one;
        DrillLane made;
        made.rank = rank;
        made.title = rank < 0 ? Tr::tr("host") : Tr::tr("rank %1").arg(rank);
        made.broken = rank == outcome.drill.rank && outcome.drill.kind != DrillKind::ConnectionLost;
        story.lanes.push_back(std::move(made));
        return story.lanes.back();
    };
    for (int rank = 0; rank < outcome.drill.config.world; ++rank)
        lane(rank);
    for (const TimelineEntry& entry : outcome.timeline)
        lane(entry.rank).moments.push_back({momentKind(entry.kind), entry.seconds, qs(entry.text)});
    std::stable_sort(story.lanes.begin(), story.lanes.end(), [](const DrillLane& a, const DrillLane& b) {
        const auto place = [](const DrillLane& one) { return one.broken ? 0 : one.rank < 0 ? 2 : 1; };
        return place(a) < place(b);
    });
}

DrillStory storyOf(const RunEntry& run, DrillKind kind, const GateInfo* gate)
{
    DrillStory story;
    story.word = qs(std::string(drillInfo(kind).word));
    story.run = run.id();
    story.title = titleOf(kind);
    if (run.running()) {
        story.state = State::Running;
        return story;
    }
    Result<RunReader> reader = RunReader::open(run.info.folder);
    if (!reader) {
        story.error = qs(reader.error().sentence());
        return story;
    }
    Drill drill;
    drill.kind = kind;
    drill.config = run.config;
    drill.timeout = run.config.collectiveTimeoutSeconds;
    drill.rank = brokenRank(run, *reader);
    // What was left outside the run the gate has judged; here only the records are told.
    const DrillRemains assumedSound{{}, "known to the gate", {}};
    const Result<DrillOutcome> outcome = judgeDrill(drill, run.info, *reader, assumedSound);
    if (!outcome) {
        story.error = qs(outcome.error().sentence());
        return story;
    }
    const std::string id = "drills." + std::string(drillInfo(kind).word);
    const GateCheck* judged = nullptr;
    if (gate && gate->judgedUnixMs >= run.info.startedUnixMs)
        for (const GateCheck& check : gate->checks)
            if (check.id == id)
                judged = &check;
    const bool holds = judged ? judged->verdict == "pass" : outcome->holds;
    story.state = holds ? State::Holds : State::Diverged;
    story.sentence = qs(outcome->sentence);
    story.step = outcome->step;
    story.limit = outcome->limit;
    story.goneAfter = outcome->goneAfter;
    story.survivors = outcome->survivors;
    story.survivorsNaming = outcome->survivorsNaming;
    story.lostSteps = outcome->lostSteps;
    if (!outcome->timeline.empty())
        fillLanes(*outcome, story);
    return story;
}

bool madeByADrill(const RunEntry& run)
{
    return run.info.name.starts_with("drill-") || run.info.name.starts_with("degrade-");
}

// As the command line chooses: what was measured for the drills, else the newest DDP run that people made.
TimeoutStory timeoutOf(const ProjectSnapshot& snapshot)
{
    TimeoutStory story;
    const RunEntry* chosen = nullptr;
    for (const RunEntry& run : snapshot.runs)
        if (!chosen && run.info.state == RunState::Finished && run.info.name.starts_with("drill-baseline"))
            chosen = &run;
    for (const RunEntry& run : snapshot.runs)
        if (!chosen && run.config.mode == "ddp" && run.info.state == RunState::Finished && !madeByADrill(run))
            chosen = &run;
    if (!chosen)
        return story;
    story.run = chosen->id();
    Result<RunReader> reader = RunReader::open(chosen->info.folder);
    const Result<TimeoutAdvice> advice =
        reader ? adviseTimeout(*reader) : Result<TimeoutAdvice>(reader.error());
    if (!advice) {
        story.error = qs(advice.error().sentence());
        return story;
    }
    story.seconds = advice->timeout;
    story.recommended = seconds(advice->timeout);
    story.current = seconds(advice->current);
    for (const AdviceTerm& term : advice->terms)
        story.terms.emplace_back(qs(term.label), qs(term.value));
    story.sentence = qs(advice->sentence);
    story.world = advice->world;
    return story;
}

DegradeStory degradeOf(const ProjectSnapshot& snapshot)
{
    DegradeStory story;
    for (const RunEntry& run : snapshot.runs) {
        if (run.config.mode != "ddp" || run.info.lastStep < 1)
            continue;
        Result<RunReader> reader = RunReader::open(run.info.folder);
        if (!reader)
            continue;
        const Result<std::vector<SegmentInfo>> segments = reader->segments();
        if (!segments || segments->size() < 2)
            continue;
        story.run = run.id();
        for (const SegmentInfo& segment : *segments)
            story.changes.push_back({segment.firstStep, segment.world, qs(segment.reason)});
        story.batchTerm = QStringLiteral("%1 x %2 x %3 = %4")
                              .arg(run.config.world)
                              .arg(run.config.batch)
                              .arg(run.config.accumulate)
                              .arg(samplesPerStep(run.config));
        return story;
    }
    return story;
}

} // namespace

DrillsPicturePtr readDrills(const ProjectSnapshotPtr& snapshot)
{
    auto picture = std::make_shared<DrillsPicture>();
    const GateInfo* gate = snapshot->gate("drills");
    for (const DrillInfo& info : allDrills()) {
        const std::string name = "drill-" + std::string(info.word);
        const auto run = std::find_if(snapshot->runs.begin(), snapshot->runs.end(),
                                      [&](const RunEntry& one) { return one.info.name == name; });
        if (run != snapshot->runs.end()) {
            picture->drills.push_back(storyOf(*run, info.kind, gate));
            continue;
        }
        DrillStory waiting;
        waiting.word = qs(std::string(info.word));
        waiting.title = titleOf(info.kind);
        picture->drills.push_back(std::move(waiting));
    }
    picture->timeout = timeoutOf(*snapshot);
    picture->degrade = degradeOf(*snapshot);
    return picture;
}

} // namespace lockstep
