// What the ranks run on: the environment JSON of the Hello frame, or of `lockstep-worker --environment`, and what this
// machine says of itself.
#pragma once

#include "core/base/status.h"
#include "core/store/project_store.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class EnvironmentReport
{
public:
    // Errors: not a JSON object.
    static Result<EnvironmentReport> fromJson(const std::string& text);

    // Values as text ("true", "2.15.0", "2"); empty: not reported.
    std::string value(const std::string& key) const;
    std::optional<std::int64_t> number(const std::string& key) const;
    const std::vector<std::pair<std::string, std::string>>& keys() const { return keys_; }

private:
    std::vector<std::pair<std::string, std::string>> keys_;
};

struct MachineFacts {
    int cores = 0;
    bool loopback = false;               // 127.0.0.1 can be used
    std::vector<std::string> interfaces; // names of those that are up, loopback aside
    std::vector<std::string> devices;    // /dev/nvidia0, ...
    std::string driver;                  // version of the NVIDIA driver; empty: none
};
MachineFacts readMachine();

// `single` and `ddp` may be the same report (nothing was run yet). `backend`, `device`, `ranks`, `threads` are what DDP
// asks for.
struct EnvironmentNeed {
    std::string backend = "gloo";
    std::string device = "cpu";
    int ranks = 1;
    int threads = 1;
};
std::vector<GateCheck> environmentChecks(const EnvironmentReport& single, const EnvironmentReport& ddp,
                                         const MachineFacts& machine, const EnvironmentNeed& need);

} // namespace lockstep
