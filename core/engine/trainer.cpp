#include "core/engine/trainer.h"

#include "core/config/json.h"
#include "core/engine/checkpoint.h"
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

std::string checkpointDetail(const CheckpointWritten& written)
{
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("path"), json.String(written.path);
    json.Key("bytes"), json.Uint64(written.bytes);
    json.EndObject();
    return buffer.GetString();
}

// The CPU generator state of every rank, on every rank.
std::vector<at::Tensor> allGenerators(const TrainingSetup& setup)
{
    const at::Tensor own = at::detail::getDefaultCPUGenerator().get_state();
    return setup.communicator ? setup.communicator->gather(own) : std::vector<at::Tensor>{own};
}

} // namespace

bool checkpointDue(const TrainingSetup& setup, const Replica& replica, bool stopping)
{
    if (setup.runFolder.empty())
        return false;
    const std::int64_t every = setup.config.checkpointEvery;
    return stopping || replica.step() >= replica.totalSteps() || (every > 0 && replica.step() % every == 0);
}

void saveCheckpoint(const TrainingSetup& setup, Replica& replica, const std::vector<at::Tensor>& generators)
{
    if (setup.recorder)
        setup.recorder->stage(wire::Stage::Checkpoint);
    const Result<CheckpointWritten> written = writeCheckpoint(setup.runFolder, replica, generators);
    if (!written)
        throw Failure{written.error()};
    report(setup, replica, "checkpoint", checkpointDetail(*written));
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
    std::optional<StepProbe> probe;
    if (setup.recorder) {
        probe.emplace(*setup.recorder, replica);
    }
    std::unique_ptr<GradientExchange> exchange;
    if (setup.communicator) {
        exchange = std::make_unique<Ddp>(replica, *setup.communicator);
        if (probe)
            probe->watchLocalGradients();
    } else {
        exchange = std::make_unique<GradientExchange>();
    }
    replica.attach(setup.recorder, probe ? &*probe : nullptr);
    replica.seedStream();
    if (probe)
        probe->recordInitial();
    if (setup.communicator)
        setup.communicator->takeFacts(); // those of the construction

    bool stopping = false;
    while (replica.step() < replica.totalSteps() && !stopping) {
        const std::int64_t tokens = replica.fetch();
        replica.forwardBackward(*exchange, tokens > 0 ? exchange->sumOverRanks(tokens) : 0);
        replica.update(probe ? &*probe : nullptr);
        if (probe) {
            probe->record(setup.communicator ? setup.communicator->takeFacts() : CollectiveFacts{});
            reportBoundaries(setup, replica);
        }
        stopping = setup.communicator ? setup.communicator->agreeToStop(replica.step()) : stopRequested();
        if (stopping)
            report(setup, replica, "stop");
        if (checkpointDue(setup, replica, stopping)) {
            // Who goes on from this checkpoint needs the records of all ranks up to it, also of a rank that dies next.
            if (setup.recorder)
                setup.recorder->settle();
            const std::vector<at::Tensor> generators = allGenerators(setup); // collective: every rank
            if (setup.rank == 0)
                saveCheckpoint(setup, replica, generators);
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
