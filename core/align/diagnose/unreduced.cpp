#include "core/align/diagnose/unreduced.h"

#include <algorithm>

namespace lockstep::align {

namespace {

// The probe names the parameters of a second model "model2.", of a third "model3."; "" for those of the first.
std::string ownModel(const std::string& name)
{
    const std::size_t dot = name.find('.');
    const bool numbered = name.starts_with("model") && dot != std::string::npos && dot > 5 &&
                          std::all_of(name.begin() + 5, name.begin() + std::ptrdiff_t(dot),
                                      [](char digit) { return digit >= '0' && digit <= '9'; });
    return numbered ? name.substr(0, dot) : std::string();
}

} // namespace

std::string Unreduced::prefix() const
{
    std::string common = names.front();
    for (const std::string& name : names)
        common.resize(std::size_t(
            std::mismatch(common.begin(), common.end(), name.begin(), name.end()).first - common.begin()));
    return common;
}

Unreduced unreducedParameters(const Case& c, std::int64_t step)
{
    Unreduced found;
    const int rank = c.sus().ranks().back();
    const std::vector<TensorRecord>& records = c.sus().tensors(rank, step);
    // DDP does not see a parameter that it was not built with, and then nor does the probe before the reduction.
    const bool someLocal = std::any_of(records.begin(), records.end(),
                                       [](const TensorRecord& r) { return r.has & TensorRecord::Local; });
    for (const TensorRecord& record : records) {
        if (record.buffer)
            continue;
        ++found.all;
        const bool reduced = record.has & TensorRecord::Reduced, local = record.has & TensorRecord::Local;
        if (reduced && (local ? record.localFingerprint == record.reducedFingerprint && record.localNorm > 0
                              : someLocal && record.reducedNorm > 0))
            found.names.push_back(record.name);
    }
    found.unknown =
        !found.names.empty() && std::all_of(records.begin(), records.end(), [&](const TensorRecord& r) {
            return !(r.has & TensorRecord::Local) ||
                   std::find(found.names.begin(), found.names.end(), r.name) == found.names.end();
        });
    if (const auto owner = found.names.empty() ? std::string() : ownModel(found.names.front());
        !owner.empty())
        found.wholeModel = std::all_of(records.begin(), records.end(), [&](const TensorRecord& r) {
            return r.buffer ||
                   (ownModel(r.name) == owner) ==
                       (std::find(found.names.begin(), found.names.end(), r.name) != found.names.end());
        });
    if (step > 1 && !found.names.empty()) {
        for (const TensorRecord& record : c.sus().tensors(rank, step - 1))
            if (record.name == found.names.front())
                found.newGradient = (record.has & TensorRecord::Reduced) == 0 || record.reducedNorm == 0;
    }
    return found;
}

} // namespace lockstep::align
