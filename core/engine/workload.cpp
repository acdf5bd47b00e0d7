#include "core/engine/workload.h"

#include <algorithm>

namespace lockstep {

namespace {

// A misspelt option would train something else than what was asked for, without a word.
Status checkOptions(const WorkloadInfo& info, const RunConfig& config)
{
    for (const auto& [name, value] : config.workloadOptions) {
        const auto isNamed = [&](const std::string& option) { return option.starts_with(name + ":"); };
        if (std::any_of(info.options.begin(), info.options.end(), isNamed))
            continue;
        std::string known;
        for (const std::string& option : info.options)
            known += (known.empty() ? "" : ", ") + option.substr(0, option.find(':'));
        return Error{ErrorKind::Usage, "The workload " + info.name + " has no option " + name,
                     known.empty() ? "it has none" : "known are " + known,
                     "Choose one of these for --workload-option"};
    }
    return {};
}

} // namespace

std::vector<WorkloadEntry>& workloadRegistry()
{
    static std::vector<WorkloadEntry> registry;
    return registry;
}

std::vector<WorkloadInfo> knownWorkloads()
{
    std::vector<WorkloadInfo> infos;
    for (const WorkloadEntry& entry : workloadRegistry())
        infos.push_back(entry.info);
    std::sort(infos.begin(), infos.end(),
              [](const WorkloadInfo& a, const WorkloadInfo& b) { return a.name < b.name; });
    return infos;
}

Result<std::unique_ptr<Workload>> createWorkload(const RunConfig& config)
{
    for (const WorkloadEntry& entry : workloadRegistry())
        if (entry.info.name == config.workload) {
            if (Status known = checkOptions(entry.info, config); !known)
                return known.error();
            return entry.create(config);
        }
    std::string names;
    for (const WorkloadInfo& info : knownWorkloads())
        names += (names.empty() ? "" : ", ") + info.name;
    return Error{ErrorKind::Usage, "There is no workload called " + config.workload, "known are " + names,
                 "Choose one of these for --workload"};
}

bool workloadFlag(const RunConfig& config, const std::string& name)
{
    const auto it = config.workloadOptions.find(name);
    return it != config.workloadOptions.end() &&
           (it->second == "1" || it->second == "true" || it->second == "on");
}

} // namespace lockstep
