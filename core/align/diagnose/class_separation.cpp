#include "core/align/diagnose/class_separation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lockstep::align {

namespace {

struct Setting {
    double world, micros, batch;
};

// The factor a cause puts on the gradient, by the counts of the run; 0: none that depends on them.
double factorOf(const std::string& cause, const Setting& s)
{
    if (cause == "B1")
        return s.batch;
    if (cause == "B2")
        return s.world;
    if (cause == "B3" || cause == "B9")
        return 1 / s.world;
    if (cause == "B6")
        return s.micros;
    if (cause == "B12")
        return std::exp2(s.micros);
    return 0;
}

} // namespace

std::optional<SeparatingChange> separatingChange(const std::vector<std::string>& causes,
                                                 const RunTraits& suspect)
{
    const Setting now{double(suspect.world), double(suspect.accumulate), double(suspect.batch)};
    struct Change {
        const char* setting;
        double Setting::*count;
    };
    // Fewer micro-batches cost least; another world starts other processes.
    for (const Change& change : {Change{"accumulate", &Setting::micros}, Change{"batch", &Setting::batch},
                                 Change{"world", &Setting::world}}) {
        for (const double by : {1.0, -1.0, 2.0}) {
            Setting other = now;
            other.*change.count += by;
            if (other.*change.count < (change.count == &Setting::world ? 2 : 1))
                continue;
            std::set<double> factors;
            bool known = true;
            for (const std::string& cause : causes) {
                const double factor = factorOf(cause, other);
                known = known && factor > 0;
                factors.insert(factor);
            }
            if (known && factors.size() == causes.size())
                return SeparatingChange{change.setting, std::int64_t(other.*change.count)};
        }
    }
    return std::nullopt;
}

std::string separatingRun(const std::vector<std::string>& causes, const RunTraits& suspect)
{
    const std::optional<SeparatingChange> change = separatingChange(causes, suspect);
    if (!change)
        return "These leave the same bits in such a run; the script shows which one it is.";
    return fmt::format("One step with --{} {} tells them apart: the gradient's factor then differs.",
                       change->setting, change->value);
}

} // namespace lockstep::align
