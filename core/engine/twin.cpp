#include "core/engine/twin.h"

#include "core/engine/step_probe.h"
#include "core/engine/stop_signal.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

namespace lockstep {

namespace {

class Twin
{
public:
    explicit Twin(const TrainingSetup& setup);
    TrainingEnd run();

private:
    void makeReplicas();
    void startRecording();
    void pass(std::int64_t allTokens);
    void update(std::size_t rank);
    void evaluate();
    void record(std::size_t rank);
    std::int64_t fetchAll();
    bool done() const;
    RankStates states() const;

    const TrainingSetup& setup_;
    bool diverge_; // a fault lets parameters differ between ranks: nothing is shared
    std::vector<std::unique_ptr<Replica>> replicas_;
    std::vector<at::Tensor> streams_; // generator state of every rank
    std::unique_ptr<TwinExchange> exchange_;
    std::vector<std::unique_ptr<StepProbe>>
        probes_; // empty: nothing is recorded; after replicas_: they point there
};

Twin::Twin(const TrainingSetup& setup) : setup_(setup), diverge_(setup.faults->ranksDiverge())
{
    makeReplicas();
    exchange_ = std::make_unique<TwinExchange>(
        replicas_, setup_.resume ? setup_.resume->buckets(*replicas_[0]) : Buckets());
    if (setup_.recorder)
        startRecording();
}

// One set of parameters and optimizer state for all ranks, a set of gradients and buffers for each.
void Twin::makeReplicas()
{
    const at::NoGradGuard noGrad;
    for (int r = 0; r < setup_.world; ++r) {
        replicas_.push_back(
            std::make_unique<Replica>(setup_.config, *setup_.workload, *setup_.faults, r, setup_.world));
        Replica& own = *replicas_.back();
        restoreShared(setup_, own);
        const Replica& first = *replicas_.front();
        const bool equal = own.broadcastsInitialState();
        for (std::size_t i = 0; r > 0 && i < own.parameters().size(); ++i) {
            if (!diverge_)
                own.parameters()[i].set_data(first.parameters()[i].data());
            else if (equal)
                own.parameters()[i].copy_(first.parameters()[i]);
        }
        for (std::size_t i = 0; r > 0 && equal && i < own.buffers().size(); ++i)
            own.buffers()[i].copy_(first.buffers()[i]);
    }
    for (const auto& replica : replicas_) {
        startStreams(setup_, *replica);
        streams_.push_back(at::detail::getDefaultCPUGenerator().get_state());
    }
}

void Twin::startRecording()
{
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
        const StepProbe* leader = r > 0 && !diverge_ ? probes_[0].get() : nullptr;
        probes_.push_back(std::make_unique<StepProbe>(*setup_.recorder, *replicas_[r], leader));
        keepTensors(setup_, *probes_[r]);
        if (r == 0 || !setup_.resume) // events are of the process, not of a replayed rank
            recordStart(setup_, *replicas_[r], *probes_[r], streams_[r]);
        else
            probes_[r]->measureState(streams_[r]);
    }
    replicas_[0]->attach(setup_.recorder, nullptr);
}

std::int64_t Twin::fetchAll()
{
    std::int64_t tokens = 0;
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
        const StreamScope stream(streams_[r]);
        tokens += replicas_[r]->fetch();
    }
    return tokens;
}

// The passes of every rank up to its reduction; called again, those after it.
void Twin::pass(std::int64_t allTokens)
{
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
        const StreamScope stream(streams_[r]);
        replicas_[r]->forwardBackward(*exchange_, allTokens);
    }
}

void Twin::update(std::size_t rank)
{
    StepProbe* probe = probes_.empty() ? nullptr : probes_[rank].get();
    Replica& replica = *replicas_[rank];
    const bool follows = rank > 0 && !diverge_;
    if (follows)
        replica.adoptUpdate(*replicas_[0], probe);
    else
        replica.update(probe);
    replica.logLoss(*exchange_);
}

// Every rank's share first: the sums are those of all of them.
void Twin::evaluate()
{
    for (const auto& replica : replicas_)
        evaluateShare(*replica, *exchange_);
    for (const auto& replica : replicas_)
        reduceEvaluation(*replica, *exchange_);
    for (const auto& probe : probes_)
        probe->recordEvaluation();
}

void Twin::record(std::size_t rank)
{
    probes_[rank]->record({}, streams_[rank]);
    if (rank == 0)
        reportBoundaries(setup_, *replicas_[0]);
}

bool Twin::done() const
{
    return replicas_[0]->step() >= replicas_[0]->totalSteps();
}

RankStates Twin::states() const
{
    RankStates states;
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
        states.add(replicas_[r]->lanes().states(streams_[r]));
        if (replicas_.size() > 1 && !replicas_[r]->buffers().empty())
            states.buffers.push_back(packBuffers(replicas_[r]->buffers()));
    }
    states.buckets = exchange_->buckets();
    return states;
}

TrainingEnd Twin::run()
{
    bool stopping = false;
    while (!done() && !stopping) {
        const std::int64_t tokens = fetchAll();
        pass(tokens);
        for (const auto& probe : probes_)
            probe->captureLocalGradients();
        exchange_->reduce();
        if (replicas_[0]->hasPassesLeft())
            pass(tokens);
        for (std::size_t r = 0; r < replicas_.size(); ++r)
            update(r);
        for (std::size_t r = 0; r < probes_.size(); ++r)
            record(r);
        if (evaluationDue(*replicas_[0]))
            evaluate();
        stopping = stopRequested();
        if (checkpointDue(setup_, *replicas_[0], stopping))
            saveCheckpoint(setup_, *replicas_[0], states());
        if (setup_.stepEnds)
            setup_.stepEnds->push_back(monotonicNs());
    }
    return {replicas_[0]->step(), stopping && !done()};
}

} // namespace

TrainingEnd trainTwin(const TrainingSetup& setup)
{
    return Twin(setup).run();
}

} // namespace lockstep
