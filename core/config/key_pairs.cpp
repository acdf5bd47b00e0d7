#include "core/config/key_pairs.h"

#include <algorithm>

namespace lockstep {

namespace {

using Flat = std::vector<std::pair<std::string, std::string>>;

bool isSetting(const std::string& key)
{
    return key != "name" && key != "workload_options.command";
}

std::string valueIn(const Flat& list, const std::string& key)
{
    const auto it =
        std::find_if(list.begin(), list.end(), [&key](const auto& one) { return one.first == key; });
    return it == list.end() ? std::string() : it->second;
}

} // namespace

std::vector<KeyPair> keyPairs(const RunConfig& a, const RunConfig& b)
{
    const Flat flatA = flatten(a), flatB = flatten(b);
    std::vector<KeyPair> pairs;
    for (const auto& [key, value] : flatA)
        if (isSetting(key))
            pairs.push_back({key, value, valueIn(flatB, key)});
    for (const auto& [key, value] : flatB)
        if (isSetting(key) && std::none_of(flatA.begin(), flatA.end(),
                                           [&key = key](const auto& one) { return one.first == key; }))
            pairs.push_back({key, {}, value});
    return pairs;
}

} // namespace lockstep
