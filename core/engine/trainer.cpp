#include "core/engine/trainer.h"

#include "core/config/json.h"
#include "core/engine/ddp.h"
#include "core/engine/step_probe.h"
#include "core/engine/stop_signal.h"

#include <ATen/CPUGeneratorImpl.h>

#include <optional>

namespace lockstep {

namespace {

void report(const TrainingSetup& setup, const Replica& replica, const std::string& kind,
            std::string detail = "{}")
{
    if (!setup.recorder)
        return;
    EventRecord event;
    event.step = replica.step();
    event.kind = kind;
    event.detail = std::move(detail);
    setup.recorder->add(std::move(event));
}

// What the ranks have of their own, on every rank.
RankStates rankStates(const TrainingSetup& setup, Replica& replica, GradientExchange& exchange)
{
    RankStates states;
    const at::Tensor own = replica.lanes().states(at::detail::getDefaultCPUGenerator().get_state());
    for (const at::Tensor& lanes :
         setup.communicator ? setup.communicator->gather(own) : std::vector<at::Tensor>{own})
        states.add(lanes);
    if (setup.communicator && setup.communicator->world() > 1 && !replica.buffers().empty())
        states.buffers = setup.communicator->gather(packBuffers(replica.buffers()));
    states.buckets = exchange.buckets();
    return states;
}

// On every rank; its collectives are none of the step's.
void evaluate(const TrainingSetup& setup, Replica& replica, GradientExchange& exchange, StepProbe* probe)
{
    if (setup.recorder)
        setup.recorder->stage(wire::Stage::Forward);
    evaluateShare(replica, exchange);
    reduceEvaluation(replica, exchange);
    if (setup.communicator)
        setup.communicator->takeFacts();
    if (probe)
        probe->recordEvaluation();
}

void throwIfFailed(const Status& status)
{
    if (!status)
        throw Failure{status.error()};
}

} // namespace

std::string writtenDetail(const CheckpointWritten& written)
{
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("path"), json.String(written.path);
    json.Key("bytes"), json.Uint64(written.bytes);
    json.EndObject();
    return buffer.GetString();
}

void keepTensors(const TrainingSetup& setup, StepProbe& probe)
{
    if (setup.config.record == "full" && !setup.runFolder.empty())
        probe.keepTensors(TensorKeeper(setup.runFolder, *StepChoice::parse(setup.config.keepSteps)));
}

bool checkpointDue(const TrainingSetup& setup, const Replica& replica, bool stopping)
{
    if (setup.runFolder.empty())
        return false;
    const std::int64_t every = setup.config.checkpointEvery;
    return stopping || replica.step() >= replica.totalSteps() || (every > 0 && replica.step() % every == 0);
}

void saveCheckpoint(const TrainingSetup& setup, Replica& replica, const RankStates& states)
{
    if (setup.recorder)
        setup.recorder->stage(wire::Stage::Checkpoint);
    const Result<CheckpointWritten> written = writeCheckpoint(setup.runFolder, replica, states);
    if (!written)
        throw Failure{written.error()};
    report(setup, replica, "checkpoint", writtenDetail(*written));
}

void restoreShared(const TrainingSetup& setup, Replica& replica)
{
    if (!setup.resume)
        return;
    throwIfFailed(setup.resume->restore(replica));
    if (replica.step() >= replica.totalSteps())
        throw Failure{{ErrorKind::Usage, "There is nothing left to train",
                       "the checkpoint is of step " + std::to_string(replica.step()) +
                           " and the run ends after step " + std::to_string(replica.totalSteps()),
                       "Give a larger --steps or --epochs"}};
}

void startStreams(const TrainingSetup& setup, Replica& replica)
{
    if (setup.resume)
        throwIfFailed(setup.resume->restoreRank(replica));
    else
        replica.seedStream();
}

void recordStart(const TrainingSetup& setup, const Replica& replica, StepProbe& probe,
                 const at::Tensor& generator)
{
    if (setup.resume)
        report(setup, replica, "resume", setup.resume->detail(probe.measureState(generator)));
    else
        probe.recordInitial(generator);
}

void reportBoundaries(const TrainingSetup& setup, Replica& replica)
{
    if (replica.config().accumulate > 1)
        report(setup, replica, "accumulation",
               "{\"micro_steps\":" + std::to_string(replica.facts().micros.size()) + "}");
    if (replica.data().epochEnded())
        report(setup, replica, "epoch_end",
               "{\"epoch\":" + std::to_string(replica.data().position().epoch) +
                   ",\"base_seed\":" + std::to_string(replica.baseSeed()) +
                   ",\"has_length\":" + (replica.dataHasLength() ? "true" : "false") + "}");
}

TrainingEnd trainRank(const TrainingSetup& setup)
{
    Replica replica(setup.config, *setup.workload, *setup.faults, setup.rank, setup.world);
    restoreShared(setup, replica);
    std::optional<StepProbe> probe;
    if (setup.recorder) {
        probe.emplace(*setup.recorder, replica);
        keepTensors(setup, *probe);
    }
    std::unique_ptr<GradientExchange> exchange;
    if (setup.communicator) {
        exchange = std::make_unique<Ddp>(replica, *setup.communicator,
                                         setup.resume ? setup.resume->buckets(replica) : Buckets());
        if (probe)
            probe->watchLocalGradients();
    } else {
        exchange = std::make_unique<GradientExchange>();
    }
    replica.attach(setup.recorder, probe ? &*probe : nullptr);
    startStreams(setup, replica);
    if (probe)
        recordStart(setup, replica, *probe);
    if (setup.communicator)
        setup.communicator->takeFacts(); // those of the construction

    bool stopping = false;
    while (replica.step() < replica.totalSteps() && !stopping) {
        const std::int64_t tokens = replica.fetch();
        replica.forwardBackward(*exchange, tokens > 0 ? exchange->sumOverRanks(tokens) : 0);
        replica.update(probe ? &*probe : nullptr);
        replica.logLoss(*exchange);
        const CollectiveFacts collectives =
            setup.communicator ? setup.communicator->takeFacts() : CollectiveFacts{};
        if (probe) {
            probe->record(collectives);
            reportBoundaries(setup, replica);
        }
        if (evaluationDue(replica))
            evaluate(setup, replica, *exchange, probe ? &*probe : nullptr);
        stopping = setup.communicator ? setup.communicator->agreeToStop(replica.step()) : stopRequested();
        if (stopping)
            report(setup, replica, "stop");
        if (checkpointDue(setup, replica, stopping)) {
            // Who goes on from this checkpoint needs the records of all ranks up to it, also of a rank that dies next.
            if (setup.recorder)
                setup.recorder->settle();
            const RankStates states = rankStates(setup, replica, *exchange); // collective: every rank
            if (replica.writesCheckpoint())
                saveCheckpoint(setup, replica, states);
            if (setup.communicator)
                setup.communicator->takeFacts();
        }
        if (setup.stepEnds)
            setup.stepEnds->push_back(monotonicNs());
    }
    if (setup.recorder)
        setup.recorder->stage(wire::Stage::End);
    if (setup.communicator)
        setup.communicator->barrier();
    return {replica.step(), stopping && replica.step() < replica.totalSteps()};
}

} // namespace lockstep
