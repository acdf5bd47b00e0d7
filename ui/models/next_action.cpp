#include "ui/models/next_action.h"

#include "core/config/imported_series.h"
#include "ui/models/format.h"
#include "ui/models/phases.h"
#include "ui/models/run_repeat.h"
#include "ui/models/runs_model.h"

#include <QCoreApplication>
#include <QDateTime>

#include <algorithm>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::NextAction)
};

using Command = NextAction::Command;

NextAction watch(const RunEntry& run)
{
    NextAction next;
    next.state = State::Running;
    const std::int64_t done = std::max<std::int64_t>(run.info.lastStep, 0);
    const std::int64_t total = run.config.steps;
    if (total > 0) {
        next.title = Tr::tr("Watch %1: step %2 of %3").arg(run.name()).arg(done).arg(total);
        next.progress = double(done) / double(total);
    } else {
        next.title = Tr::tr("Watch %1: step %2").arg(run.name()).arg(done);
    }
    const std::int64_t elapsed = QDateTime::currentMSecsSinceEpoch() - run.info.startedUnixMs;
    if (total > done && done > 0)
        next.sentence =
            Tr::tr("About %1 left.").arg(formatDuration(elapsed * (total - done) / done)) + QLatin1Char(' ');
    next.sentence += Tr::tr("You can close this window, the run goes on.");
    next.primary = {Command::OpenCurves, Tr::tr("Open in Curves"), run.id(), {}};
    next.secondary = {Command::StopRun, Tr::tr("Stop run"), run.id(), {}};
    return next;
}

NextAction failedRun(const RunEntry& run)
{
    NextAction next;
    next.state = State::Failed;
    const FirstFailure& failure = run.info.firstFailure;
    next.title =
        failure.rank >= 0 && failure.step >= 0
            ? Tr::tr("%1 failed on rank %2 at step %3").arg(run.name()).arg(failure.rank).arg(failure.step)
        : failure.rank >= 0 ? Tr::tr("%1 failed on rank %2").arg(run.name()).arg(failure.rank)
                            : Tr::tr("%1 failed").arg(run.name());
    next.sentence = failure.sentence.empty() ? Tr::tr("The run ended without saying why. Its log is in %1.")
                                                   .arg(formatFolder(qs(run.info.folder)))
                                             : qs(failure.sentence);
    if (canRepeat(run))
        next.primary = {Command::Rerun, Tr::tr("Run it again"), run.id(), {}};
    next.secondary = {Command::OpenRuns, Tr::tr("Show in Runs"), run.id(), {}};
    return next;
}

} // namespace

QString referenceRun(const ProjectSnapshot& snapshot, const RunEntry& run)
{
    const auto batches = [](const RunConfig& c) {
        return c.batch * std::int64_t(c.accumulate) *
               std::max(c.mode == "single" ? c.alignWorld : c.world, 1);
    };
    const auto same = [&](const RunConfig& c) { // same data and same start
        return c.workload == run.config.workload && c.seed == run.config.seed &&
               c.samplerSeed == run.config.samplerSeed && c.order == run.config.order;
    };
    if (run.config.mode == "single" || run.config.mode == kImportedMode) {
        RunConfig own = run.config;
        own.name.clear();
        for (auto it = snapshot.runs.rbegin(); it != snapshot.runs.rend(); ++it) {
            RunConfig other = it->config;
            other.name.clear();
            if (it->configReadable && other == own)
                return it->info.id == run.info.id ? QString() : it->id();
        }
        return {};
    }
    RunConfig clean = run.config;
    clean.name.clear();
    clean.faults.clear();
    const RunEntry* healthy = nullptr;
    for (const RunEntry& other : snapshot.runs) {
        if (!other.configReadable || other.info.id == run.info.id || other.info.lastStep < 1 ||
            (other.auxiliary() && !run.auxiliary()))
            continue;
        RunConfig config = other.config;
        config.name.clear();
        const bool twin = config.mode == "twin" && run.config.mode != "twin";
        if (twin)
            config.mode = clean.mode;
        if (config != clean)
            continue;
        if (twin)
            return other.id();
        if (!healthy && !run.config.faults.empty())
            healthy = &other;
    }
    if (healthy)
        return healthy->id();
    const RunEntry* fallback = nullptr;
    for (const RunEntry& other : snapshot.runs) {
        // The two scripts of a migration have different names, and nothing but their results says that they belong together.
        const bool related = run.command ? other.command && other.command->folder == run.command->folder
                                         : !other.command && same(other.config);
        if (!other.configReadable || other.config.mode != "single" || !related ||
            !other.config.faults.empty() || other.info.lastStep < 1 ||
            (other.auxiliary() && !run.auxiliary()))
            continue;
        if (!run.command && batches(other.config) == batches(run.config))
            return other.id();
        if (run.command && other.command->threads == run.command->threads)
            return other.id(); // repeats with other numbers of threads measure an envelope
        if (!fallback)
            fallback = &other;
    }
    return fallback ? fallback->id() : QString();
}

RunConfig starterConfig(const std::string& workload, const std::string& mode, int world)
{
    RunConfig config;
    config.workload = workload.empty() ? "toy-mlp" : workload;
    config.mode = mode;
    config.world = mode == "single" ? 1 : world;
    config.alignWorld = mode == "single" ? world : 1;
    config.steps = config.workload == "toy-mlp" ? 640 : 240;
    return config;
}

NextAction nextAction(const ProjectSnapshot& snapshot, const RunVerdicts& verdicts)
{
    NextAction next;
    for (const RunEntry& run : snapshot.runs)
        if (run.running())
            return watch(run);

    if (snapshot.runs.empty()) {
        const QString workload = qs(snapshot.info.workload.empty() ? "toy-mlp" : snapshot.info.workload);
        next.title = Tr::tr("Train %1 in one process and with 2 ranks").arg(workload);
        next.sentence = Tr::tr(
            "Both runs use the same global batches. Their curves show the first step where they part.");
        next.primary = {Command::StartPair, Tr::tr("Start both runs"), {}, {}};
        next.secondary = {Command::NewRun, Tr::tr("Choose settings"), {}, QStringLiteral("single")};
        next.other = {Command::UseScript, Tr::tr("Use my script"), {}, {}};
        return next;
    }
    const auto imported = [](const RunEntry& run) { return run.config.mode == kImportedMode; };
    if (std::all_of(snapshot.runs.begin(), snapshot.runs.end(), imported)) {
        next.title = Tr::tr("Compare the imported logs");
        next.sentence =
            Tr::tr("Mark one run as A and another as B; Curves then shows the first step where they part.");
        next.primary = {Command::OpenRuns, Tr::tr("Show in Runs"), {}, {}};
        return next;
    }
    // What people started speaks for the project; runs of gates and drills only where there is nothing else.
    const auto own = std::find_if(snapshot.runs.begin(), snapshot.runs.end(),
                                  [&](const RunEntry& run) { return !run.auxiliary() && !imported(run); });
    const RunEntry& newest = own == snapshot.runs.end()
                                 ? *std::find_if_not(snapshot.runs.begin(), snapshot.runs.end(), imported)
                                 : *own;
    if (newest.info.state == RunState::Failed)
        return failedRun(newest);

    // The newest distributed run speaks for the project.
    const RunEntry* ddp = nullptr;
    bool single = false;
    for (const RunEntry& run : snapshot.runs) {
        single = single || run.config.mode == "single";
        if (!ddp && run.config.mode != "single" && run.config.mode != "twin" && !imported(run) &&
            (!run.auxiliary() || own == snapshot.runs.end()))
            ddp = &run;
    }
    if (!ddp || !single) {
        next.title = ddp ? Tr::tr("Start the baseline that %1 is compared with").arg(ddp->name())
                         : Tr::tr("Start the same training with 2 ranks");
        next.sentence =
            ddp ? Tr::tr("Without a single-process run on the same batches nothing can be compared.")
                : Tr::tr("%1 is the baseline. DDP on the same global batches shows where they part.")
                      .arg(newest.name());
        if (newest.command) { // only its owner knows the other command
            next.title = ddp ? next.title : Tr::tr("Run the same script with several ranks");
            next.sentence =
                ddp ? next.sentence
                    : Tr::tr("%1 is the baseline. The same training under torchrun shows where they part.")
                          .arg(newest.name());
            next.primary = {Command::UseScript, Tr::tr("Use my script"), newest.id(), {}};
            return next;
        }
        next.primary = {Command::StartRun, ddp ? Tr::tr("Start baseline") : Tr::tr("Start DDP run"),
                        newest.id(), ddp ? QStringLiteral("single") : QStringLiteral("ddp")};
        next.secondary = {Command::NewRun, Tr::tr("Choose settings"), {}, next.primary.mode};
        return next;
    }
    const RunVerdict verdict = verdicts.value(ddp->id());
    if (verdict.state == State::Diverged) {
        const RunEntry* reference = snapshot.run(verdict.against);
        next.state = State::Diverged;
        next.title = Tr::tr("%1 parts from %2 at step %3")
                         .arg(ddp->name(), reference ? reference->name() : verdict.against)
                         .arg(verdict.firstStep);
        next.sentence =
            Tr::tr("First broken link: %1. Every link before it in the chain agrees.").arg(verdict.link);
        next.primary = {Command::OpenCurves, Tr::tr("Open in Curves"), ddp->id(), {}};
        if (canRepeat(*ddp))
            next.secondary = {Command::Rerun, Tr::tr("Run it again"), ddp->id(), {}};
        return next;
    }
    for (const PhaseStatus& phase : phaseStatuses(snapshot, true)) {
        if (!phase.open || phase.state == State::Passed || phase.state == State::Overridden)
            continue;
        if (std::string_view(phase.phase->id) == "report")
            break;
        const bool fails = phase.state == State::Diverged;
        const bool undecided = phase.state == State::CannotCompare; // judging it once more would say the same
        next.state = phase.state;
        next.title = fails ? Tr::tr("Fix what fails in %1").arg(phaseTitle(*phase.phase))
                     : undecided
                         ? Tr::tr("Decide on %1: it could not be judged").arg(phaseTitle(*phase.phase))
                         : Tr::tr("Judge the gate of %1").arg(phaseTitle(*phase.phase));
        next.sentence = fails || undecided ? phase.deciding : phaseChanges(*phase.phase, snapshot);
        if (undecided)
            next.sentence +=
                QLatin1Char(' ') + Tr::tr("Its page says what to record, and takes a written reason.");
        next.primary = {Command::OpenPhase, Tr::tr("Open phase"), QString::fromLatin1(phase.phase->id), {}};
        next.secondary = {Command::OpenCurves, Tr::tr("Open in Curves"), ddp->id(), {}};
        return next;
    }
    next.state = State::Passed;
    next.title = Tr::tr("All gates have passed");
    next.sentence = Tr::tr("The report holds every number for the review.");
    next.primary = {Command::OpenPhase, Tr::tr("Open report"), QStringLiteral("report"), {}};
    return next;
}

} // namespace lockstep
