#include "app/cli/gate_gradients.h"

#include "core/gates/gradients_judge.h"
#include "core/gates/kept_envelope.h"
#include "core/host/launch_environment.h"
#include "core/host/run_once.h"
#include "core/host/stop_signals.h"
#include "core/store/run_reader.h"

#include <QCoreApplication>
#include <QDateTime>

#include <fmt/format.h>

#include <deque>
#include <vector>

namespace lockstep {

namespace {

Error unfinished(const RunInfo& run)
{
    const std::string why = run.firstFailure.sentence.empty()
                                ? fmt::format("it is {}", runStateName(run.state))
                                : run.firstFailure.sentence;
    return {ErrorKind::RunFailed, fmt::format("Phase 2 cannot be judged: run {} did not finish", run.id), why,
            "Mend the cause and start the gate again"};
}

// The runs of one process, which the envelope is measured from.
std::vector<RunReader*> repeatsOf(const std::vector<GradientsRecord>& records)
{
    using Role = GradientsRun::Role;
    std::vector<RunReader*> repeats;
    for (const GradientsRecord& record : records)
        if (record.role == Role::Baseline || record.role == Role::Repeat)
            repeats.push_back(record.reader);
    return repeats;
}

} // namespace

Result<GateInfo> runGradientsGate(CliContext& context, const std::string& folder,
                                  const GradientsRequest& request,
                                  const std::function<void(const std::string&)>& progress)
{
    QCoreApplication app(context.argc, context.argv);
    StopSignals signals;
    Result<std::string> worker = findWorker();
    if (!worker)
        return worker.error();

    const std::vector<GradientsRun> plan = gradientsPlan(request);
    std::deque<RunReader> readers; // the records point into it
    std::vector<GradientsRecord> records;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        Result<RunInfo> run = runOnce(folder, plan[i].config, *worker, signals);
        if (!run)
            return run.error();
        if (run->state != RunState::Finished)
            return unfinished(*run);
        progress(fmt::format("{} of {}  {}  {} steps", i + 1, plan.size(), run->id, run->lastStep));
        Result<RunReader> reader = RunReader::open(run->folder);
        if (!reader)
            return reader.error();
        readers.push_back(std::move(reader).value());
        records.push_back({plan[i].role, plan[i].config, &readers.back()});
    }

    Result<GateInfo> gate = judgeGradients(request.base, records);
    if (!gate)
        return gate.error();
    if (const Status kept = keepMeasuredEnvelope(folder, repeatsOf(records), KeptBy::Gradients, request.base);
        !kept)
        return kept.error();
    gate->judgedUnixMs = QDateTime::currentMSecsSinceEpoch();
    return gate;
}

} // namespace lockstep
