// The process group of a run, its shared store, and the count of its collectives. c10d stays behind this
// header: only communicator.cpp, ddp.cpp and the CUDA module include it.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"
#include "core/engine/rank_environment.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace c10d {
class ProcessGroup;
} // namespace c10d

namespace lockstep {

struct CollectiveFacts {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    std::int64_t gradientDtype = -1; // c10::ScalarType of the last all-reduce; -1: none
};

class Communicator
{
public:
    // Connects all ranks. Errors: the port is in use, a peer does not arrive, no GPU for nccl.
    static Result<std::unique_ptr<Communicator>> connect(const RunConfig& config,
                                                         const RankEnvironment& environment);
    ~Communicator();

    c10::intrusive_ptr<c10d::ProcessGroup> group() const;
    int rank() const;
    int world() const;

    // The same-shaped tensor of every rank, in rank order, on every rank.
    std::vector<at::Tensor> gather(const at::Tensor& own);
    void barrier();
    // Collectives since the last call.
    CollectiveFacts takeFacts();

    // Training thread, after `step` finished: true if this rank stops here. All ranks stop at the same step:
    // the first to be asked names the step after the one it finished and waits until every peer knows; none
    // can be past it, because its reduction needs this rank.
    bool agreeToStop(std::int64_t step);

    // Last words of a rank whose run is lost. Both close its connections, so that no peer waits for it, and neither lasts
    // longer than a few hundred milliseconds.
    // An error of its own: leaves the sentence for the peers.
    void leave(const std::string& sentence);
    // An echo: the same error, told as the loss of the rank that was first, where the peers can find that out.
    Error explainLoss(const Error& echo);

    // Writes torch's flight recorder (which collective hung) as JSON; failures are ignored, the run is
    // failing already.
    static void dumpFlightRecorder(const std::string& path);

private:
    struct Impl;
    explicit Communicator(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// An error that only echoes the end of a peer.
bool isPeerFailure(const std::string& message);
// Of these, one that says that a peer did not answer in time.
bool isPeerTimeout(const std::string& message);

} // namespace lockstep
