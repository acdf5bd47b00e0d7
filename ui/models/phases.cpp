#include "ui/models/phases.h"

#include "ui/models/deciding_check.h"
#include "ui/models/format.h"
#include "ui/models/newer_runs.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::Phases)
};

bool isOfScript(const ProjectSnapshot& snapshot)
{
    const auto newest = std::find_if(snapshot.runs.begin(), snapshot.runs.end(),
                                     [](const RunEntry& run) { return !run.auxiliary(); });
    return newest != snapshot.runs.end() && newest->script();
}

constexpr std::array kPhases = {
    PhaseInfo{"preflight", QT_TRANSLATE_NOOP("lockstep::Phases", "Preflight"),
              QT_TRANSLATE_NOOP("lockstep::Phases", "versions, devices, config"),
              QT_TRANSLATE_NOOP("lockstep::Phases",
                                "Changes nothing: reads versions, devices and both configurations.")},
    PhaseInfo{
        "data", QT_TRANSLATE_NOOP("lockstep::Phases", "1 Data & sampler"),
        QT_TRANSLATE_NOOP("lockstep::Phases", "who sees which sample"),
        QT_TRANSLATE_NOOP("lockstep::Phases", "Changes one thing: who sees which sample. No model runs.")},
    PhaseInfo{"gradients", QT_TRANSLATE_NOOP("lockstep::Phases", "2 Gradients & DDP wrap"),
              QT_TRANSLATE_NOOP("lockstep::Phases", "same gradient, bit for bit"),
              QT_TRANSLATE_NOOP(
                  "lockstep::Phases",
                  "Changes one thing: the model is wrapped in DDP. AMP and clipping are forced off.")},
    PhaseInfo{"precision", QT_TRANSLATE_NOOP("lockstep::Phases", "3 Precision & checkpoint"),
              QT_TRANSLATE_NOOP("lockstep::Phases", "AMP, clipping, save, load"),
              QT_TRANSLATE_NOOP("lockstep::Phases",
                                "Changes one thing: AMP, clipping and checkpoints are switched on.")},
    PhaseInfo{"drills", QT_TRANSLATE_NOOP("lockstep::Phases", "4 Drills & escape hatch"),
              QT_TRANSLATE_NOOP("lockstep::Phases", "break it on purpose"),
              QT_TRANSLATE_NOOP("lockstep::Phases", "Changes one thing: something breaks on purpose.")},
    PhaseInfo{"report", QT_TRANSLATE_NOOP("lockstep::Phases", "Report"),
              QT_TRANSLATE_NOOP("lockstep::Phases", "one file for the review"),
              QT_TRANSLATE_NOOP("lockstep::Phases",
                                "Changes nothing: puts gates, numbers and findings into one file.")},
};

bool passes(const GateInfo* gate)
{
    return gate && (gate->verdict == "pass" || !gate->overrideReason.empty());
}

void judge(PhaseStatus& status, const GateInfo& gate)
{
    const auto total = std::int64_t(gate.checks.size());
    const auto holding = std::count_if(gate.checks.begin(), gate.checks.end(),
                                       [](const GateCheck& c) { return c.verdict == "pass"; });
    const auto failing = std::count_if(gate.checks.begin(), gate.checks.end(),
                                       [](const GateCheck& c) { return c.verdict == "fail"; });
    status.judgedUnixMs = gate.judgedUnixMs;
    status.checks = Tr::tr("%1 of %2").arg(holding).arg(total);
    if (total > 0) {
        const GateCheck& deciding = gate.checks[decidingCheck(gate)];
        status.deciding = decidingText(deciding);
        status.limit = qs(deciding.limit);
    }
    const auto notHolding = total - holding;
    if (!gate.overrideReason.empty()) {
        status.state = State::Overridden;
        status.word = Tr::tr("passed with override");
        status.detail = Tr::tr("%1 of %2, %n overridden", nullptr, int(std::max<std::int64_t>(notHolding, 1)))
                            .arg(holding)
                            .arg(total);
    } else if (gate.verdict == "pass") {
        status.state = State::Passed;
        status.detail = Tr::tr("%1 of %2 checks").arg(holding).arg(total);
    } else if (gate.verdict == "fail") {
        status.state = State::Diverged;
        status.word = Tr::tr("fails");
        status.detail = Tr::tr("%1 of %2 checks fail").arg(failing).arg(total);
    } else {
        status.state = State::CannotCompare;
        status.detail = Tr::tr("%1 of %2 judged").arg(holding).arg(total);
    }
}

// What no longer speaks for the newest runs raises no alarm.
void markOlder(PhaseStatus& status)
{
    status.detail = Tr::tr("older: %1").arg(status.detail);
    if (status.state != State::Diverged && status.state != State::CannotCompare)
        return;
    status.state = State::CannotCompare;
    status.word = Tr::tr("judge again");
}

} // namespace

std::span<const PhaseInfo> allPhases()
{
    return kPhases;
}

QString phaseTitle(const PhaseInfo& phase)
{
    return Tr::tr(phase.title);
}

QString phaseTeaches(const PhaseInfo& phase)
{
    return Tr::tr(phase.teaches);
}

QString phaseChanges(const PhaseInfo& phase)
{
    return Tr::tr(phase.changes);
}

bool judgesItself(const QString& phase, const ProjectSnapshot& snapshot)
{
    return !isOfScript(snapshot) || (phase != QLatin1String("precision") && phase != QLatin1String("drills"));
}

QString phaseChanges(const PhaseInfo& phase, const ProjectSnapshot& snapshot)
{
    if (isOfScript(snapshot) && std::string_view(phase.id) == "gradients")
        return Tr::tr("Judges the recorded runs of your script. Nothing is started.");
    if (!judgesItself(QLatin1String(phase.id), snapshot))
        return Tr::tr(
            "It trains the engine's workloads only. For your script it says what to check by hand.");
    return phaseChanges(phase);
}

std::vector<PhaseStatus> phaseStatuses(const ProjectSnapshot& snapshot, bool projectOpen,
                                       const QString& judging)
{
    std::vector<PhaseStatus> statuses;
    bool open = projectOpen;
    int passed = 0;
    int number = 0; // the gate that opens the next phase; 0 is preflight
    for (const PhaseInfo& phase : kPhases) {
        PhaseStatus status;
        status.phase = &phase;
        const bool report = std::string_view(phase.id) == "report";
        const GateInfo* gate = snapshot.gate(phase.id);
        status.open = report ? projectOpen : open;
        if (!projectOpen) {
            status.state = State::CannotCompare;
            status.detail = phaseTeaches(phase);
        } else if (report) {
            status.state = State::Waiting;
            status.word = Tr::tr("draft");
            status.detail = Tr::tr("draft, %1 of 5 gates").arg(passed);
            status.deciding =
                Tr::tr("%1 of 5 gates, %n finding(s)", nullptr, int(snapshot.findings.size())).arg(passed);
        } else if (judging == QLatin1String(phase.id)) {
            status.state = State::Running;
            status.detail = Tr::tr("judging");
        } else if (gate && !gate->verdict.empty() && (open || passes(gate))) {
            judge(status, *gate);
            status.judgedOn = judgedOnSentence(snapshot, *gate);
            status.older = !newerRuns(snapshot, *gate).isEmpty();
            if (status.older)
                markOlder(status);
        } else if (open) {
            status.state = State::Waiting;
            status.detail = Tr::tr("not judged yet");
            status.deciding = phaseTeaches(phase);
        } else {
            const QString before = number == 1 ? Tr::tr("preflight") : Tr::tr("gate %1").arg(number - 1);
            status.state = State::Closed;
            status.detail = Tr::tr("opens after %1").arg(before);
            status.deciding = Tr::tr("opens when %1 has passed or was overridden").arg(before);
        }
        if (status.word.isEmpty())
            status.word = stateWord(status.state);
        if (passes(gate))
            ++passed;
        open = open && passes(gate);
        ++number;
        statuses.push_back(std::move(status));
    }
    return statuses;
}

QStringList overridesBefore(const ProjectSnapshot& snapshot, const QString& phase)
{
    QStringList reasons;
    for (const PhaseInfo& info : kPhases) {
        if (phase == QLatin1String(info.id))
            break;
        const GateInfo* gate = snapshot.gate(info.id);
        if (gate && !gate->overrideReason.empty())
            reasons << QStringLiteral("%1: %2").arg(phaseTitle(info), qs(gate->overrideReason));
    }
    return reasons;
}

QString stateWord(State state)
{
    switch (state) {
    case State::None:
        return {};
    case State::Diverged:
        return Tr::tr("diverged");
    case State::Failed:
        return Tr::tr("failed");
    case State::Overridden:
        return Tr::tr("overridden");
    case State::Passed:
        return Tr::tr("passed");
    case State::Holds:
        return Tr::tr("holds");
    case State::Running:
        return Tr::tr("running");
    case State::Waiting:
        return Tr::tr("waiting");
    case State::Closed:
        return Tr::tr("closed");
    case State::CannotCompare:
        return Tr::tr("cannot compare");
    case State::Follows:
        return Tr::tr("follows");
    case State::Off:
        return Tr::tr("off");
    }
    return {};
}

} // namespace lockstep
