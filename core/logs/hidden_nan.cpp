#include "core/logs/hidden_nan.h"

#include "core/logs/known_tags.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace lockstep::logs {

namespace {

using ByStep = std::unordered_map<std::int64_t, double>;

ByStep byStep(const LogSeries& series)
{
    ByStep values;
    for (std::size_t i = 0; i < series.steps.size(); ++i)
        values[series.steps[i]] = series.values[i]; // of a step that was repeated the last
    return values;
}

} // namespace

std::vector<std::int64_t> hiddenNanSteps(const std::vector<const LogSeries*>& all)
{
    std::map<std::pair<std::string, int>, std::vector<const LogSeries*>> ofRank;
    for (const LogSeries* series : all)
        ofRank[{series->run, series->rank.value_or(-1)}].push_back(series);
    std::set<std::int64_t> steps;
    for (const auto& [rank, several] : ofRank) {
        std::vector<std::string> tags;
        for (const LogSeries* series : several)
            tags.push_back(series->tag);
        const std::vector<Quantity> quantities = knownQuantities(tags);
        const LogSeries *loss = nullptr, *norm = nullptr, *skipped = nullptr;
        for (std::size_t i = 0; i < several.size(); ++i) {
            if (quantities[i] == Quantity::Loss)
                loss = several[i];
            else if (quantities[i] == Quantity::GradNorm)
                norm = several[i];
            else if (tags[i] == "number of skipped iterations")
                skipped = several[i];
        }
        if (!loss || (!norm && !skipped))
            continue;
        const ByStep losses = byStep(*loss);
        const auto look = [&](const LogSeries* beside, auto&& notFinite) {
            if (!beside)
                return;
            for (const auto& [step, value] : byStep(*beside))
                if (const auto at = losses.find(step);
                    at != losses.end() && at->second == 0 && notFinite(value))
                    steps.insert(step);
        };
        look(norm, [](double value) { return !std::isfinite(value); });
        look(skipped, [](double value) { return value > 0; });
    }
    return {steps.begin(), steps.end()};
}

} // namespace lockstep::logs
