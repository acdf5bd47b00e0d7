#include "app/cli/diagnose_separate.h"

#include "app/cli/diagnose_proof.h"
#include "app/cli/findings_document.h"
#include "core/align/diagnose/catalogue.h"
#include "core/gates/sample_agreement.h"
#include "core/host/launch_environment.h"
#include "core/host/run_once.h"
#include "core/host/stop_signals.h"

#include <QCoreApplication>
#include <QString>
#include <QStringList>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lockstep {

namespace {

std::vector<std::string> causesOf(const FindingRow& row)
{
    std::vector<std::string> causes;
    for (const QString& cause : QString::fromStdString(row.cause).split(QStringLiteral(", ")))
        causes.push_back(cause.toStdString());
    return causes;
}

// What the project knows of the pair: as it was found, perhaps proven; else as it is judged now.
Result<std::vector<FindingRow>> findingsOf(ProjectStore& project, const DiagnoseSession& session)
{
    const std::string &a = session.reference->info.id, &b = session.suspect->info.id;
    const Result<std::vector<FindingRow>> all = project.findings();
    if (!all)
        return all.error();
    std::vector<FindingRow> rows;
    for (const FindingRow& row : *all)
        if (row.runA == a && row.runB == b)
            rows.push_back(row);
    if (rows.empty())
        for (const Finding& finding : session.diagnosis.findings)
            rows.push_back(findingRow(a, b, finding));
    return rows;
}

Error nothingToSeparate(const DiagnoseSession& session, bool scriptOnly)
{
    return {ErrorKind::NotFound, "No run can tell causes apart here",
            scriptOnly ? "no count of the run decides between the causes that were found"
                       : fmt::format("no finding of {} against {} has causes that are the same bits",
                                     session.suspect->info.id, session.reference->info.id),
            scriptOnly ? "Look at the script; it shows which cause it is"
                       : "Use diagnose without --separate"};
}

RunConfig changed(const OpenedRun& run, const align::SeparatingChange& change, std::int64_t steps)
{
    RunConfig config = run.config;
    if (change.setting == "accumulate")
        config.accumulate = int(change.value);
    else if (change.setting == "batch")
        config.batch = change.value;
    else
        (config.mode == "single" ? config.alignWorld : config.world) = int(change.value);
    config.schedulerPeriod = schedulePeriod(run.config, run.info.lastStep);
    config.steps = steps;
    config.checkpointEvery = 0;
    return config;
}

Result<OpenedRun> runChanged(ProjectStore& project, const RunConfig& config, StopSignals& signals)
{
    const Result<std::string> worker = findWorker();
    if (!worker)
        return worker.error();
    const Result<RunInfo> run = runOnce(project.info().folder, config, *worker, signals);
    if (!run)
        return run.error();
    if (run->state != RunState::Finished)
        return Error{ErrorKind::RunFailed, fmt::format("The separating run {} did not finish", run->id),
                     run->firstFailure.sentence, "Mend the cause and start it again"};
    return openRun(project, run->id);
}

// What to plant for this cause, without the step; nullopt: the diagnosis does not name it.
std::optional<FaultSpec> plantedFor(const std::string& cause, const Diagnosis& diagnosis)
{
    for (const Finding& finding : diagnosis.findings)
        for (FaultSpec fault : finding.replays)
            if (fault.id == cause && finding.certainty != Certainty::Benign) {
                fault.parameters.erase("step");
                return fault;
            }
    return std::nullopt;
}

bool allNamed(const std::vector<std::string>& causes, const Diagnosis& diagnosis)
{
    return std::all_of(causes.begin(), causes.end(), [&diagnosis](const std::string& cause) {
        return plantedFor(cause, diagnosis).has_value();
    });
}

// The causes that explain both pairs alike. One that explains the second only with another parameter ("loss times 3" where
// it was times 2) is refuted: nothing but a count was changed, and none that this parameter follows.
std::vector<std::string> remaining(const std::vector<std::string>& causes, const Diagnosis& before,
                                   const Diagnosis& after)
{
    std::vector<std::string> left;
    for (const std::string& cause : causes) {
        const auto first = plantedFor(cause, before), second = plantedFor(cause, after);
        if (first && second && *first == *second)
            left.push_back(cause);
    }
    return left;
}

bool contains(const std::vector<std::string>& list, const std::string& word)
{
    return std::find(list.begin(), list.end(), word) != list.end();
}

// What both pairs together rule out, the findings of the second need not name.
void dropRefuted(const Separation& separation, Diagnosis& after)
{
    if (separation.remains.empty())
        return;
    for (Finding& finding : after.findings) {
        for (std::size_t i = finding.causes.size(); i-- > 0;) {
            if (!contains(separation.causes, finding.causes[i]) ||
                contains(separation.remains, finding.causes[i]))
                continue;
            finding.causes.erase(finding.causes.begin() + std::ptrdiff_t(i));
            if (i < finding.replays.size())
                finding.replays.erase(finding.replays.begin() + std::ptrdiff_t(i));
        }
        if (finding.causes.size() == 1)
            finding.separate.clear();
    }
    std::erase_if(after.findings, [](const Finding& finding) { return finding.causes.empty(); });
}

Evidence note(const std::string& label, const std::string& text)
{
    return {label, text, std::nullopt, -1, -1, {}};
}

// The cause that remains, with what the separating pair measured of it.
void nameCause(FindingRow& row, const std::string& id, const std::string& change, const Diagnosis& after)
{
    const align::Cause* cause = align::causeById(id);
    if (!cause)
        return;
    row.sentence = fmt::format("{}.", cause->sentence);
    row.fix = cause->fix;
    for (const Finding& finding : after.findings) {
        if (finding.causes.front() != id || !finding.sentence.starts_with(cause->sentence))
            continue;
        const std::string fact = finding.sentence.substr(cause->sentence.size()); // ". From step 1 ..."
        row.sentence +=
            fmt::format(" With {}: {}", change, fact.substr(std::min<std::size_t>(2, fact.size())));
        return;
    }
}

void enter(FindingRow& row, const Separation& separation, const DiagnoseSession& after)
{
    const std::string change = fmt::format("--{} {}", separation.change.setting, separation.change.value);
    const std::string pair =
        fmt::format("{} against {}, with {}", after.suspect->info.id, after.reference->info.id, change);
    Finding told; // only its rows
    if (separation.remains.empty()) {
        told.evidence.push_back(note("separating run", pair + ": none of these causes explains it"));
    } else {
        told.evidence.push_back(
            note("separating run", fmt::format("{}: {} remains", pair, fmt::join(separation.remains, ", "))));
        for (const std::string& cause : separation.causes)
            if (!contains(separation.remains, cause))
                told.excluded.push_back(note(cause, "does not explain " + pair));
        nameCause(row, separation.remains.front(), change, after.diagnosis);
        row.cause = fmt::format("{}", fmt::join(separation.remains, ", "));
        const Finding& best = after.diagnosis.findings.front();
        const bool proven =
            best.certainty == Certainty::Proven && contains(best.causes, separation.remains.front());
        if (row.confidence == "proven" && !proven)
            row.confidence = certaintyName(Certainty::Likely);
    }
    row.evidenceJson = joinEvidence(row.evidenceJson, findingRow({}, {}, told).evidenceJson);
}

} // namespace

Result<Separation> separateCauses(CliContext& context, ProjectStore& project, DiagnoseSession& before,
                                  bool proveIt, DiagnoseSession& after)
{
    if (Status judged = before.judge(); !judged)
        return judged.error();
    Result<std::vector<FindingRow>> rows = findingsOf(project, before);
    if (!rows)
        return rows.error();
    FindingRow* row = nullptr;
    Separation separation;
    bool anyClass = false;
    for (FindingRow& one : *rows) {
        const std::vector<std::string> causes = causesOf(one);
        anyClass = anyClass || causes.size() > 1;
        const auto change = causes.size() > 1
                                ? align::separatingChange(causes, traitsOf(before.suspect->config))
                                : std::nullopt;
        if (row || !change)
            continue;
        row = &one;
        separation = {one.runA, one.runB, causes, *change, {}};
    }
    if (!row)
        return nothingToSeparate(before, anyClass);
    if (isScript(before.suspect->config))
        return Error{ErrorKind::Input, "The separating run cannot be started from here",
                     "a script of its own decides its counts",
                     fmt::format("Run both scripts with {} {} under the probe and diagnose that pair",
                                 separation.change.setting, separation.change.value)};

    const std::int64_t steps = std::max<std::int64_t>(row->step, 1) + kReplayBeyond;
    // A class that was found beside a replay is not seen without one.
    const bool besideReplay = !allNamed(separation.causes, before.diagnosis);
    if (besideReplay)
        if (Status judged = judgeBesideReplay(context, before, steps); !judged)
            return judged.error();
    if (!allNamed(separation.causes, before.diagnosis))
        return Error{ErrorKind::Input, fmt::format("{} cannot be told apart", row->cause),
                     "the pair does not show all of them any more", "Diagnose it again with --prove"};
    sayProgress(context, fmt::format("{}: {} steps with --{} {}", row->cause, steps,
                                     separation.change.setting, separation.change.value));
    {
        QCoreApplication app(context.argc, context.argv);
        StopSignals signals;
        for (const auto& [from, to, name] :
             {std::tuple(&before.reference, &after.reference, "replay-separate-reference"),
              std::tuple(&before.suspect, &after.suspect, "replay-separate-run")}) {
            RunConfig config = changed(**from, separation.change, steps);
            config.name = name;
            Result<OpenedRun> run = runChanged(project, config, signals);
            if (!run)
                return run.error();
            to->emplace(std::move(run).value());
        }
    }
    if (Status judged = besideReplay ? judgeBesideReplay(context, after, steps) : after.judge(); !judged)
        return judged.error();
    if (proveIt)
        if (Status proven = prove(context, after); !proven) {
            if (proven.error().kind == ErrorKind::Cancelled)
                return proven.error();
            after.diagnosis.problems.push_back(proven.error().sentence());
        }
    separation.remains = remaining(separation.causes, before.diagnosis, after.diagnosis);
    dropRefuted(separation, after.diagnosis);
    enter(*row, separation, after);
    if (Status saved = project.saveFindings(separation.runA, separation.runB, *rows); !saved)
        return saved.error();
    return separation;
}

} // namespace lockstep
