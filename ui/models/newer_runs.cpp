#include "ui/models/newer_runs.h"

#include "core/config/json.h"
#include "core/gates/preflight.h"
#include "ui/models/format.h"

#include <QCoreApplication>

#include <string>
#include <string_view>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::NewerRuns)
};

bool sameKind(const RunEntry& a, const RunEntry& b)
{
    if (a.command.has_value() != b.command.has_value() || a.config.mode != b.config.mode ||
        a.config.world != b.config.world)
        return false;
    const auto script = [](const RunEntry& run) {
        const auto it = run.config.workloadOptions.find("script");
        return it == run.config.workloadOptions.end() ? std::string() : it->second;
    };
    return a.command ? a.command->folder == b.command->folder && script(a) == script(b)
                     : a.config.workload == b.config.workload;
}

QStringList newerOf(const ProjectSnapshot& snapshot, const QStringList& judged)
{
    QStringList newer;
    for (const QString& id : judged) {
        const RunEntry* run = snapshot.run(id);
        const RunEntry* next = run ? newerRun(snapshot, *run) : nullptr;
        if (next && !newer.contains(next->id()))
            newer << next->id();
    }
    return newer;
}

} // namespace

const RunEntry* newerRun(const ProjectSnapshot& snapshot, const RunEntry& run)
{
    for (const RunEntry& other : snapshot.runs) { // newest first
        if (other.info.id == run.info.id)
            return nullptr;
        if (!other.auxiliary() && other.info.state == RunState::Finished && sameKind(run, other))
            return &other;
    }
    return nullptr;
}

QStringList judgedRuns(const GateInfo& gate)
{
    QStringList runs;
    if (gate.phase == "preflight") {
        if (const Result<JudgedConfigs> judged = judgedConfigs(gate.configJson))
            for (const std::string& name : {judged->singleName, judged->ddpName})
                if (!name.empty() && name != "planned")
                    runs << qs(name);
        return runs;
    }
    // The data gate of a script deals the samples that a run recorded: "source": "run:two-01".
    constexpr std::string_view kRun = "run:";
    const Result<rapidjson::Document> json = parseJson(gate.configJson, "the gate's configuration");
    if (!json || !json->IsObject())
        return runs;
    const auto source = json->FindMember("source");
    if (source != json->MemberEnd() && source->value.IsString())
        if (const std::string_view text = source->value.GetString(); text.starts_with(kRun))
            runs << qs(std::string(text.substr(kRun.size())));
    return runs;
}

QStringList newerRuns(const ProjectSnapshot& snapshot, const GateInfo& gate)
{
    return newerOf(snapshot, judgedRuns(gate));
}

QStringList newerRuns(const ProjectSnapshot& snapshot, const FindingRow& finding)
{
    return newerOf(snapshot, {qs(finding.runB)});
}

QString judgedOnSentence(const ProjectSnapshot& snapshot, const GateInfo& gate)
{
    const QStringList judged = judgedRuns(gate);
    if (judged.isEmpty())
        return {};
    const QStringList newer = newerRuns(snapshot, gate);
    const QString on = judged.join(Tr::tr(" and "));
    return newer.isEmpty()
               ? Tr::tr("Judged on %1").arg(on)
               : Tr::tr("Judged on %1; newer runs exist: %2").arg(on, newer.join(QStringLiteral(", ")));
}

} // namespace lockstep
