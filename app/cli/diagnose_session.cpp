#include "app/cli/diagnose_session.h"

#include "app/cli/diagnose_proof.h"
#include "app/cli/findings_document.h"
#include "core/config/imported_series.h"
#include "core/config/run_extras.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep {

namespace {

// The replay of a run whose step is not known is cut here.
constexpr std::int64_t kLongestClean = 2000;

DiagnosedRun seen(OpenedRun& run)
{
    return {&run.reader, traitsOf(run.config)};
}

// Settings that do not decide what is trained.
bool isIncidental(const std::string& key)
{
    static const std::set<std::string> keys = {
        "mode",        "record",           "steps", "epochs",    "resume",
        "align_world", "checkpoint_every", "name",  "log_every", "eval_every"};
    return keys.contains(key);
}

bool sameTraining(const RunConfig& a, const RunConfig& b)
{
    const RunTraits x = traitsOf(a), y = traitsOf(b);
    if (x.settings.size() != y.settings.size())
        return false;
    for (std::size_t i = 0; i < x.settings.size(); ++i)
        if (x.settings[i] != y.settings[i] && !isIncidental(x.settings[i].first))
            return false;
    return true;
}

// The newest run that `fits`, by state and configuration.
template<typename Fits>
Result<std::optional<OpenedRun>> newest(ProjectStore& project, Fits fits)
{
    const Result<std::vector<RunInfo>> runs = project.runs();
    if (!runs)
        return runs.error();
    for (const RunInfo& info : *runs) {
        const Result<RunConfig> config = runConfigFromJson(info.configJson);
        if (!config || info.state == RunState::Running || info.lastStep < 0 || !fits(info, *config))
            continue;
        Result<OpenedRun> opened = openRun(project, info.id);
        if (!opened)
            return opened.error();
        return std::optional(std::move(opened).value());
    }
    return std::optional<OpenedRun>();
}

// Holds the suspect against its replay without a deviation, which becomes the twin of a pair that has none.
Result<ReplayVerdict> replayClean(CliContext& context, ReplayRunner& runner, DiagnoseSession& session,
                                  std::int64_t until)
{
    const Result<std::string> folder = runner.clean(until);
    if (!folder)
        return folder.error();
    Result<RunReader> reader = RunReader::open(*folder);
    if (!reader)
        return reader.error();
    Result<ReplayVerdict> verdict = compareReplay(*reader, session.suspect->reader, 0, until);
    if (!verdict)
        return verdict;
    sayProgress(context, fmt::format("replay without a deviation: {}",
                                     verdict->equal ? "equal in every bit"
                                                    : fmt::format("parts at step {}, {}", verdict->step,
                                                                  verdict->quantity)));
    session.replays.push_back(
        {{"none", {}}, verdict->equal ? ReplayOutcome::Equal : ReplayOutcome::Differs, *verdict, {}});
    if (!session.exact() && !session.twin) {
        RunConfig config = session.suspect->config;
        config.mode = "twin";
        config.faults.clear();
        session.twin.emplace(OpenedRun{session.suspect->info, std::move(config), std::move(reader).value()});
        if (Status judged = session.judge(); !judged)
            return judged.error();
    }
    return verdict;
}

} // namespace

bool DiagnoseSession::exact() const
{
    return reference->config.mode != "single" && suspect->config.mode != "single" &&
           reference->config.world == suspect->config.world;
}

Status DiagnoseSession::judge()
{
    std::optional<DiagnosedRun> replayed;
    if (twin)
        replayed = seen(*twin);
    Result<Diagnosis> judged = diagnose(seen(*reference), seen(*suspect), replayed);
    if (!judged)
        return judged.error();
    diagnosis = std::move(judged).value();
    return {};
}

bool DiagnoseSession::anyAboveBenign() const
{
    return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                       [](const Finding& f) { return f.certainty != Certainty::Benign; });
}

void sayProgress(const CliContext& context, const std::string& text)
{
    if (!context.json)
        fmt::print(stderr, "{}\n", text);
}

Status openPair(ProjectStore& project, const std::string& first, const std::string& second,
                DiagnoseSession& session)
{
    if (!first.empty()) {
        for (const auto& [name, run] :
             {std::pair(first, &session.reference), std::pair(second, &session.suspect)}) {
            Result<OpenedRun> opened = openRun(project, name);
            if (!opened)
                return opened.error();
            if (opened->config.mode == kImportedMode)
                return Error{
                    ErrorKind::Input, "Cannot diagnose " + opened->info.id,
                    "it is the log of another tool, which has no samples, gradients or weights to judge by",
                    "See where it parts with lockstep-cli compare, or record the script with lockstep-cli "
                    "probe"};
            run->emplace(std::move(opened).value());
        }
        return {};
    }
    auto suspect = newest(project, [](const RunInfo& run, const RunConfig& c) {
        return !run.auxiliary() && (c.mode == "ddp" || c.mode == "fsdp");
    });
    const auto single = [](const RunInfo& run, const RunConfig& c) {
        return !run.auxiliary() && c.mode == "single";
    };
    Result<std::optional<OpenedRun>> reference = std::optional<OpenedRun>();
    if (suspect && *suspect && scriptCommandOf((*suspect)->info.configJson)) {
        // Repeats of a script with other numbers of threads measure an envelope and are no reference.
        const int threads = scriptCommandOf((*suspect)->info.configJson)->threads;
        reference = newest(project, [&](const RunInfo& run, const RunConfig& c) {
            const std::optional<ScriptCommand> command = scriptCommandOf(run.configJson);
            return single(run, c) && command && command->threads == threads;
        });
    }
    if (reference && !*reference)
        reference = newest(project, single);
    if (suspect && *suspect && reference && !*reference)
        reference = newest(project, [&](const RunInfo&, const RunConfig& c) {
            return c.mode == "twin" && c.world == (*suspect)->config.world;
        });
    if (!suspect)
        return suspect.error();
    if (!reference)
        return reference.error();
    if (!*suspect || !*reference)
        return Error{ErrorKind::NotFound, "There is no pair of runs to diagnose",
                     *suspect ? "no run of a single process has ended" : "no DDP run has ended",
                     "Run both, or name the two runs"};
    session.suspect.emplace(std::move(**suspect));
    session.reference.emplace(std::move(**reference));
    return {};
}

Status findTwin(ProjectStore& project, DiagnoseSession& session)
{
    if (session.exact())
        return {};
    auto twin = newest(project, [&](const RunInfo& info, const RunConfig& config) {
        return config.mode == "twin" && config.faults.empty() && info.id != session.suspect->info.id &&
               info.lastStep >= session.suspect->info.lastStep &&
               sameTraining(config, session.suspect->config);
    });
    if (!twin)
        return twin.error();
    if (*twin)
        session.twin.emplace(std::move(**twin));
    return {};
}

Status judgeBesideReplay(CliContext& context, DiagnoseSession& session, std::int64_t until)
{
    if (session.exact() || session.twin)
        return session.judge();
    const std::int64_t last = session.suspect->info.lastStep;
    Result<ReplayRunner> runner = ReplayRunner::create(context, session.suspect->config, last);
    if (!runner)
        return runner.error();
    const Result<ReplayVerdict> verdict = replayClean(context, *runner, session, std::min(until, last));
    return verdict ? Status() : Status(verdict.error());
}

Status prove(CliContext& context, DiagnoseSession& session)
{
    const OpenedRun& suspect = *session.suspect;
    Result<ReplayRunner> runner = ReplayRunner::create(context, suspect.config, suspect.info.lastStep);
    if (!runner)
        return runner.error();
    int left = kMaxReplays;
    const bool settingsDiffer = session.exact() && !sameTraining(session.reference->config, suspect.config);
    const bool onlyEvents = session.diagnosis.firstStep < 0 && session.anyAboveBenign();
    bool clean = false; // the suspect is what its own settings give
    if ((!session.exact() && !session.twin) || settingsDiffer || onlyEvents) {
        const bool known = session.anyAboveBenign();
        const std::int64_t until = known ? replayUntil(session.diagnosis, suspect.info.lastStep)
                                         : std::min(suspect.info.lastStep, kLongestClean);
        --left;
        const Result<ReplayVerdict> verdict = replayClean(context, *runner, session, until);
        if (!verdict)
            return verdict.error();
        clean = verdict->equal;
    }
    if (clean || !session.anyAboveBenign()) {
        if (clean && !settingsDiffer) // nothing but what correct runs have
            dropRefuted(session.diagnosis);
        return {};
    }
    const std::int64_t until = replayUntil(session.diagnosis, suspect.info.lastStep);
    std::vector<FaultSpec> candidates = replayCandidates(session.diagnosis, 100);
    std::erase_if(candidates, [&](const FaultSpec& fault) { return !runner->canPlay(fault.id); });
    candidates.resize(std::min(candidates.size(), std::size_t(left)));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        Result<ReplayOutcome> outcome = runner->replay(candidates[i], session.suspect->reader, 0, until);
        if (!outcome)
            return outcome.error();
        const char* verdict = outcome->state == ReplayOutcome::Equal     ? "equal in every bit"
                              : outcome->state == ReplayOutcome::Differs ? "differs"
                                                                         : "could not be replayed";
        sayProgress(context, fmt::format("replay {} of {}, {}: {}", i + 1, candidates.size(),
                                         faultText(candidates[i]), verdict));
        session.replays.push_back(std::move(outcome).value());
    }
    applyReplays(session.diagnosis, session.replays, traitsOf(suspect.config));
    return {};
}

} // namespace lockstep
