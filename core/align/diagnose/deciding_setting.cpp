#include "core/align/diagnose/deciding_setting.h"

#include <algorithm>
#include <utility>

namespace lockstep::align {

namespace {

constexpr std::pair<const char*, const char*> kSettings[] = {
    {"A5", "drop_last"},        {"A6", "drop_last"},         {"A9", "batch"},
    {"A10", "sampler_seed"},    {"C9", "broadcast_buffers"}, {"D1", "lr"},
    {"D2", "scheduler_period"}, {"D7", "weight_decay"},      {"E2", "amp"},
    {"E5", "dropout"},          {"C12", "reduction"},
};

const std::string* valueOf(const RunTraits& run, const std::string& name)
{
    const auto it = std::find_if(run.settings.begin(), run.settings.end(),
                                 [&name](const auto& setting) { return setting.first == name; });
    return it == run.settings.end() ? nullptr : &it->second;
}

} // namespace

std::optional<DecidingSetting> decidingSetting(const std::string& cause, const RunTraits& reference,
                                               const RunTraits& suspect)
{
    for (const auto& [id, name] : kSettings) {
        if (cause != id)
            continue;
        const std::string *wanted = valueOf(reference, name), *given = valueOf(suspect, name);
        if (wanted && given && *wanted != *given)
            return DecidingSetting{name, *wanted};
    }
    return std::nullopt;
}

} // namespace lockstep::align
