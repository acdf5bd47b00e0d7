#include "core/engine/fault.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace lockstep {

namespace {

bool isNumber(const std::string& text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

Error unknownFault(const std::string& id)
{
    std::string names;
    for (const FaultInfo& info : knownFaults())
        names += (names.empty() ? "" : ", ") + info.id;
    return {ErrorKind::Usage, "The engine cannot play fault " + id, "it can play " + names,
            "Choose one of these for --fault"};
}

// A parameter belongs to the fault if its list has "name: meaning".
bool accepts(const FaultInfo& info, const std::string& name)
{
    return std::any_of(info.parameters.begin(), info.parameters.end(),
                       [&name](const std::string& p) { return p.starts_with(name + ":"); });
}

} // namespace

std::vector<FaultEntry>& faultRegistry()
{
    static std::vector<FaultEntry> registry;
    return registry;
}

std::vector<FaultInfo> knownFaults()
{
    std::vector<FaultInfo> infos;
    for (const FaultEntry& entry : faultRegistry())
        infos.push_back(entry.info);
    std::sort(infos.begin(), infos.end(), [](const FaultInfo& a, const FaultInfo& b) { return a.id < b.id; });
    return infos;
}

Result<FaultSet> FaultSet::create(const std::vector<FaultSpec>& specs)
{
    FaultSet set;
    for (const FaultSpec& spec : specs) {
        const auto& registry = faultRegistry();
        const auto entry = std::find_if(registry.begin(), registry.end(),
                                        [&spec](const FaultEntry& e) { return e.info.id == spec.id; });
        if (entry == registry.end())
            return unknownFault(spec.id);
        for (const auto& [name, text] : spec.parameters)
            if (!accepts(entry->info, name) || !isNumber(text))
                return Error{ErrorKind::Usage, "Fault " + spec.id + " cannot take " + name + "=" + text,
                             accepts(entry->info, name) ? "it is not a number" : "it has no such parameter",
                             "Correct --fault"};
        set.faults_.push_back(entry->create(spec));
        set.ranksDiverge_ = set.ranksDiverge_ || entry->info.ranksDiverge;
    }
    return set;
}

double faultNumber(const FaultSpec& spec, const std::string& name, double otherwise)
{
    const auto it = spec.parameters.find(name);
    if (it != spec.parameters.end())
        std::from_chars(it->second.data(), it->second.data() + it->second.size(), otherwise);
    return otherwise;
}

} // namespace lockstep
