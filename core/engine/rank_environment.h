// Where a rank stands: the torchrun environment and Lockstep's own variables. Pure reading,
// no effects.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep {

struct RankEnvironment {
    int rank = 0;
    int world = 1;
    int localRank = 0; // never used to derive a device: torchrun --virtual-local-rank gives 0 to every rank
    int restart = 0;   // attempt number; prefixes every key in the shared store
    std::string masterAddress = "127.0.0.1";
    std::uint16_t masterPort = 0;
    bool agentStore = false;            // the launcher hosts the store; every rank is a client
    std::optional<int> storeDescriptor; // rank 0 only: a bound, listening socket for masterPort
    std::string errorFile;              // empty: none wanted
    std::string connect;                // "host:port" of the recording host; empty: nobody records
    std::string token;
    std::string runFolder; // empty: no checkpoints, no dumps
};

// Errors: a variable that is not a number, RANK outside WORLD_SIZE, a world above 1 without MASTER_PORT.
Result<RankEnvironment> readRankEnvironment();

} // namespace lockstep
