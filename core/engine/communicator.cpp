#include "core/engine/communicator.h"

#include "core/engine/cuda_module.h"
#include "core/engine/faults/drill_faults.h"
#include "core/engine/peer_loss.h"
#include "core/engine/stop_agreement.h"

#include <torch/csrc/distributed/c10d/FlightRecorder.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>

namespace lockstep {

struct Communicator::Impl {
    c10::intrusive_ptr<c10d::ProcessGroup> group;
    std::unique_ptr<StopAgreement> agreement; // null with one rank
    std::unique_ptr<PeerLoss> loss;           // likewise
    CollectiveFacts facts;
    int rank = 0;
    int world = 1;

    void disconnect();
};

namespace {

constexpr std::int64_t kHookId = 1;

std::chrono::milliseconds timeoutOf(const RunConfig& config)
{
    return std::chrono::milliseconds(std::int64_t(config.collectiveTimeoutSeconds * 1000));
}

// Until all have met: processes do not start at the same moment, so a short collective timeout must not end a run here.
std::chrono::milliseconds joinTimeout(const RunConfig& config)
{
    return std::max<std::chrono::milliseconds>(timeoutOf(config), std::chrono::seconds(60));
}

bool isLoopback(const std::string& address)
{
    return address == "localhost" || address == "::1" || address.starts_with("127.");
}

c10::intrusive_ptr<c10d::Store> openStore(const RunConfig& config, const RankEnvironment& e)
{
    c10d::TCPStoreOptions options;
    options.port = e.masterPort;
    options.isServer = e.rank == 0 && !e.agentStore;
    options.numWorkers = std::size_t(e.world);
    options.waitWorkers = false;
    options.timeout = joinTimeout(config);
    if (options.isServer && e.storeDescriptor)
        options.masterListenFd = *e.storeDescriptor;
    auto tcp = c10::make_intrusive<c10d::TCPStore>(e.masterAddress, options);
    // Since 2.15 torch puts no attempt on its keys: a restarted rank would read addresses of dead peers.
    return c10::make_intrusive<c10d::PrefixStore>("lockstep/attempt_" + std::to_string(e.restart), tcp);
}

// On one machine the loopback device: no name lookup, no firewall. GLOO_SOCKET_IFNAME still decides where it
// is set.
c10::intrusive_ptr<c10d::Backend> glooBackend(const c10::intrusive_ptr<c10d::Store>& store,
                                              const RunConfig& config, const RankEnvironment& e)
{
    using Gloo = c10d::ProcessGroupGloo;
    c10::intrusive_ptr<Gloo::Options> options;
    if (isLoopback(e.masterAddress) && !std::getenv("GLOO_SOCKET_IFNAME")) {
        options = Gloo::Options::create(joinTimeout(config));
        options->devices.push_back(Gloo::createDeviceForHostname("127.0.0.1"));
    } else {
        options = Gloo::Options::create_default(joinTimeout(config));
    }
    return c10::make_intrusive<Gloo>(store, e.rank, e.world, options);
}

void countCollectives(c10d::ProcessGroup& group, CollectiveFacts& facts)
{
    group.registerPreHook(kHookId, [&facts](const c10d::PreHookArgs& args) {
        drillCollective();
        ++facts.count;
        for (const at::Tensor& t : args.input_tensors)
            facts.bytes += std::int64_t(t.nbytes());
        if (args.name == c10d::HookOpName::ALLREDUCE && !args.input_tensors.empty())
            facts.gradientDtype = std::int64_t(args.input_tensors.front().scalar_type());
    });
}

Error connectError(const RankEnvironment& e, const std::string& why)
{
    const std::string place = e.masterAddress + ":" + std::to_string(e.masterPort);
    if (why.find("EADDRINUSE") != std::string::npos ||
        why.find("address already in use") != std::string::npos)
        return {ErrorKind::Environment,
                "Rank " + std::to_string(e.rank) + " cannot offer the meeting point " + place,
                "the port is in use by another program",
                "Choose another MASTER_PORT, or start with lockstep-cli run"};
    return {ErrorKind::RunFailed, "Rank " + std::to_string(e.rank) + " could not join its peers at " + place,
            why.substr(0, why.find('\n')), "See the logs of the other ranks"};
}

} // namespace

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl))
{
}
Communicator::~Communicator() = default;

Result<std::unique_ptr<Communicator>> Communicator::connect(const RunConfig& config, const RankEnvironment& e)
{
    try {
        const auto store = openStore(config, e);
        auto impl = std::make_unique<Impl>();
        impl->rank = e.rank;
        impl->world = e.world;
        impl->group = c10::make_intrusive<c10d::ProcessGroup>(store, e.rank, e.world);
        if (config.backend == "nccl") {
            Result<c10::intrusive_ptr<c10d::Backend>> nccl = ncclBackend(store, e, timeoutOf(config));
            if (!nccl)
                return nccl.error();
            impl->group->setDefaultBackend(c10d::ProcessGroup::BackendType::NCCL);
            impl->group->setBackend(at::kCUDA, c10d::ProcessGroup::BackendType::NCCL, *nccl);
        } else {
            const auto gloo = glooBackend(store, config, e);
            impl->group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
            impl->group->setBackend(at::kCPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
            gloo->setTimeout(timeoutOf(config));
        }
        countCollectives(*impl->group, impl->facts);
        if (e.world > 1) {
            impl->agreement = std::make_unique<StopAgreement>(store, e.world);
            impl->loss = std::make_unique<PeerLoss>(store, e.rank, e.world, e.agentStore ? -1 : 0);
        }
        return std::unique_ptr<Communicator>(new Communicator(std::move(impl)));
    } catch (const std::exception& error) {
        return connectError(e, error.what());
    }
}

c10::intrusive_ptr<c10d::ProcessGroup> Communicator::group() const
{
    return impl_->group;
}

int Communicator::rank() const
{
    return impl_->rank;
}

int Communicator::world() const
{
    return impl_->world;
}

std::vector<at::Tensor> Communicator::gather(const at::Tensor& own)
{
    std::vector<std::vector<at::Tensor>> all(1);
    for (int r = 0; r < impl_->world; ++r)
        all[0].push_back(at::empty_like(own));
    std::vector<at::Tensor> in{own};
    impl_->group->allgather(all, in)->wait();
    return all[0];
}

void Communicator::barrier()
{
    impl_->group->barrier()->wait();
}

CollectiveFacts Communicator::takeFacts()
{
    return std::exchange(impl_->facts, {});
}

bool Communicator::agreeToStop(std::int64_t step)
{
    return impl_->agreement ? impl_->agreement->stopsAfter(step) : StopAgreement::stopsAlone();
}

// Collectives of other buckets may still wait for the lost peer: the group is given up on a thread that may stay behind.
void Communicator::Impl::disconnect()
{
    std::thread([last = std::exchange(group, nullptr)]() mutable { last.reset(); }).detach();
}

void Communicator::leave(const std::string& sentence)
{
    if (impl_->loss)
        impl_->loss->tell(sentence);
    impl_->disconnect();
}

Error Communicator::explainLoss(const Error& echo)
{
    impl_->disconnect();
    const PeerLoss::Cause cause = impl_->loss ? impl_->loss->ask() : PeerLoss::Cause();
    if (cause.rank < 0)
        return echo;
    const std::string lost = "Rank " + std::to_string(cause.rank);
    const std::string noticed =
        "rank " + std::to_string(impl_->rank) + " noticed: " + echo.why.substr(0, echo.why.find('\n'));
    if (!cause.sentence.empty())
        return {echo.kind, lost + " failed first", noticed + ". It said: " + cause.sentence, ""};
    return {echo.kind, lost + (isPeerTimeout(echo.why) ? " stopped answering" : " ended without a word"),
            noticed, "Read the log of rank " + std::to_string(cause.rank)};
}

void Communicator::dumpFlightRecorder(const std::string& path)
{
    try {
        std::ofstream(path) << c10d::dump_fr_trace_json(true, false);
    } catch (const std::exception&) {
        // Nothing to add to the failure that is being reported.
    }
}

bool isPeerTimeout(const std::string& message)
{
    for (const char* text :
         {"Application timeout caused pair closure", "Timed out waiting", "wait timeout after"})
        if (message.find(text) != std::string::npos)
            return true;
    return false;
}

bool isPeerFailure(const std::string& message)
{
    for (const char* text : {"Connection closed by peer", "Connection reset by peer", "Broken pipe"})
        if (message.find(text) != std::string::npos)
            return true;
    return isPeerTimeout(message);
}

} // namespace lockstep
