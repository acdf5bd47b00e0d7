// Two configurations key by key: the one place that says which keys there are and how many of them differ.
#pragma once

#include "core/config/run_config.h"

#include <string>
#include <vector>

namespace lockstep {

struct KeyPair {
    std::string key;
    std::string a, b; // empty: that run has no such key
    bool differs() const { return a != b; }
};

// All keys of both, in the order of `a`, what only `b` has last. How a run is called is no setting: neither its name nor the
// command line of a script, which a run's entry in the window carries beside the settings.
std::vector<KeyPair> keyPairs(const RunConfig& a, const RunConfig& b);

} // namespace lockstep
