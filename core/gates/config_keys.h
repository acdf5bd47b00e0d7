// The keys of a run's configuration: which check judges each. Internal to core/gates.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

inline constexpr std::string_view kWorkloadOptions = "workload_options."; // as flatten() writes them

// Id of the check that judges this key; empty: none does.
std::string checkOfKey(const std::string& key);

} // namespace lockstep
