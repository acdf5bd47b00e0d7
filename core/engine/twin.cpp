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
    // Puts a rank's random stream into the default generator for as long as it lives.
    class Stream
    {
    public:
        explicit Stream(at::Tensor& state) : state_(state)
        {
            at::Generator generator = at::detail::getDefaultCPUGenerator(); // a handle
            generator.set_state(state_);
        }
        ~Stream() { state_ = at::detail::getDefaultCPUGenerator().get_state(); }
        Stream(const Stream&) = delete;
        Stream& operator=(const Stream&) = delete;

    private:
        at::Tensor& state_;
    };

    void makeReplicas();
    void startRecording();
    bool advance(std::size_t rank, std::int64_t allTokens);
    void finish(std::size_t rank, bool synchronised);
    std::int64_t fetchAll();
    bool done() const;

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
    exchange_ = std::make_unique<TwinExchange>(replicas_);
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
        replica->seedStream();
        streams_.push_back(at::detail::getDefaultCPUGenerator().get_state());
    }
}

void Twin::startRecording()
{
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
        const StepProbe* leader = r > 0 && !diverge_ ? probes_[0].get() : nullptr;
        probes_.push_back(std::make_unique<StepProbe>(*setup_.recorder, *replicas_[r], leader));
        probes_[r]->recordInitial(streams_[r]);
    }
    replicas_[0]->attach(setup_.recorder, nullptr);
}

std::int64_t Twin::fetchAll()
{
    std::int64_t tokens = 0;
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
        const Stream stream(streams_[r]);
        tokens += replicas_[r]->fetch();
    }
    return tokens;
}

// Runs a rank up to its next reduction, as Gloo pairs collectives: by count, not by step. False: it has none left.
bool Twin::advance(std::size_t rank, std::int64_t allTokens)
{
    Replica& replica = *replicas_[rank];
    for (bool first = true; replica.step() < replica.totalSteps(); first = false) {
        const Stream stream(streams_[rank]);
        if (!first)
            allTokens = replica.fetch() * setup_.world; // alone: the others' tokens are not known
        replica.forwardBackward(*exchange_, allTokens);
        if (!probes_.empty())
            probes_[rank]->captureLocalGradients();
        if (replica.synchronises())
            return true;
        finish(rank, false);
    }
    return false;
}

void Twin::finish(std::size_t rank, bool synchronised)
{
    StepProbe* probe = probes_.empty() ? nullptr : probes_[rank].get();
    Replica& replica = *replicas_[rank];
    const bool follows = rank > 0 && !diverge_;
    if (follows)
        replica.adoptUpdate(*replicas_[0], probe);
    else
        replica.update(probe);
    if (!probe)
        return;
    // Inside Stream of an unsynchronised step the state is still in the default generator.
    probe->record({}, synchronised ? streams_[rank] : at::Tensor());
    if (rank == 0)
        reportBoundaries(setup_, replica);
}

bool Twin::done() const
{
    return replicas_[0]->step() >= replicas_[0]->totalSteps();
}

TrainingEnd Twin::run()
{
    bool stopping = false;
    while (!done() && !stopping) {
        const std::int64_t tokens = fetchAll();
        bool all = true;
        for (std::size_t r = 0; r < replicas_.size(); ++r)
            all = advance(r, tokens) && all;
        if (!all)
            break; // a rank left: the step its peers are in is lost, as in the run
        exchange_->reduce();
        for (std::size_t r = 0; r < replicas_.size(); ++r)
            finish(r, true);
        stopping = stopRequested();
        if (checkpointDue(setup_, *replicas_[0], stopping))
            saveCheckpoint(setup_, *replicas_[0], streams_);
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
