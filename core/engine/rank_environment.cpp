#include "core/engine/rank_environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace lockstep {

namespace {

std::string_view variable(const char* name)
{
    const char* text = std::getenv(name);
    return text ? text : "";
}

// Leaves `value` alone where the variable is not set.
Status readNumber(const char* name, int& value)
{
    const std::string_view text = variable(name);
    if (text.empty())
        return {};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 0)
        return {};
    return Error{ErrorKind::Environment, "The worker cannot start",
                 std::string(name) + "=" + std::string(text) + " is not a number of 0 or more",
                 "Start it with lockstep-cli run or torchrun"};
}

} // namespace

Result<RankEnvironment> readRankEnvironment()
{
    RankEnvironment e;
    int port = 0;
    int descriptor = -1;
    const Status numbers[] = {
        readNumber("RANK", e.rank),
        readNumber("WORLD_SIZE", e.world),
        readNumber("LOCAL_RANK", e.localRank),
        readNumber("TORCHELASTIC_RESTART_COUNT", e.restart),
        readNumber("MASTER_PORT", port),
        readNumber("LOCKSTEP_STORE_FD", descriptor),
    };
    for (const Status& status : numbers)
        if (!status)
            return status.error();
    if (e.rank >= e.world)
        return Error{ErrorKind::Environment, "The worker cannot start",
                     "RANK=" + std::to_string(e.rank) + " is not below WORLD_SIZE=" + std::to_string(e.world),
                     "Start it with lockstep-cli run or torchrun"};
    if (port > 65535 || (e.world > 1 && port == 0))
        return Error{ErrorKind::Environment, "The worker cannot find its peers",
                     port ? "MASTER_PORT is above 65535" : "WORLD_SIZE is above 1 and MASTER_PORT is not set",
                     "Start it with lockstep-cli run or torchrun"};
    e.masterPort = std::uint16_t(port);
    if (const std::string_view host = variable("MASTER_ADDR"); !host.empty())
        e.masterAddress = host;
    e.agentStore = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
    if (descriptor >= 0)
        e.storeDescriptor = descriptor;
    e.errorFile = variable("TORCHELASTIC_ERROR_FILE");
    e.connect = variable("LOCKSTEP_CONNECT");
    e.token = variable("LOCKSTEP_TOKEN");
    e.runFolder = variable("LOCKSTEP_RUN_DIR");
    return e;
}

} // namespace lockstep
