#include "core/engine/fault.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace lockstep {

namespace {

// The one parameter whose value is a text.
constexpr const char* kTextParameter = "param";

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

// "A10" as ("A", 10); ids outside the catalogue come last.
std::pair<std::string, int> placeOf(const std::string& id)
{
    int number = 0;
    std::from_chars(id.data() + 1, id.data() + id.size(), number);
    return number > 0 ? std::pair(id.substr(0, 1), number) : std::pair("~" + id, 0);
}

template<typename Info>
void sortById(std::vector<Info>& infos)
{
    std::sort(infos.begin(), infos.end(),
              [](const Info& a, const Info& b) { return placeOf(a.id) < placeOf(b.id); });
}

} // namespace

std::vector<FaultEntry>& faultRegistry()
{
    static std::vector<FaultEntry> registry;
    return registry;
}

const FaultEntry* faultEntryOf(const std::string& id)
{
    const auto& registry = faultRegistry();
    const auto entry = std::find_if(registry.begin(), registry.end(),
                                    [&id](const FaultEntry& e) { return e.info.id == id; });
    return entry == registry.end() ? nullptr : &*entry;
}

std::vector<FaultInfo> knownFaults()
{
    std::vector<FaultInfo> infos;
    for (const FaultEntry& entry : faultRegistry())
        infos.push_back(entry.info);
    sortById(infos);
    return infos;
}

std::string faultFamily(const std::string& id)
{
    if (placeOf(id).second == 0)
        return {};
    switch (id[0]) {
    case 'A':
        return "data";
    case 'B':
        return "loss and reduction";
    case 'C':
        return "synchronisation";
    case 'D':
        return "optimizer, schedule, clipping, scaling";
    case 'E':
        return "precision and randomness";
    case 'F':
        return "checkpoint and evaluation";
    default:
        return {};
    }
}

Result<FaultSet> FaultSet::create(const std::vector<FaultSpec>& specs)
{
    FaultSet set;
    for (const FaultSpec& spec : specs) {
        const FaultEntry* entry = faultEntryOf(spec.id);
        if (!entry)
            return unknownFault(spec.id);
        for (const auto& [name, text] : spec.parameters)
            if (!accepts(entry->info, name) || (name != kTextParameter && !isNumber(text)))
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

bool namedBy(const FaultSpec& spec, const ParameterPlace& place, bool module)
{
    const auto it = spec.parameters.find(kTextParameter);
    if (it != spec.parameters.end())
        return place.name.starts_with(it->second);
    return module ? place.name.starts_with(place.first.substr(0, place.first.rfind('.') + 1))
                  : place.index == 0;
}

} // namespace lockstep
