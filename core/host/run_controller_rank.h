// What RunController keeps of one rank. Private to the run_controller*.cpp.
#pragma once

#include "core/host/run_controller.h"

#include <optional>

namespace lockstep {

struct RunController::Rank {
    std::unique_ptr<WorkerProcess> process;
    std::optional<ProcessEnd> end;
    std::optional<wire::Goodbye> goodbye;
    std::int64_t heartbeatStep = -1;
    std::string defect; // of its stream
    bool endedByHost = false;
    bool connectionLost = false;  // it ended before the Goodbye
    bool stepped = false;         // has reported a step
    std::int64_t lastHeardNs = 0; // when the host last got anything from it
};

} // namespace lockstep
