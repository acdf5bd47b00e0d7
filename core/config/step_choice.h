// Steps as people list them: "1,10,200-205".
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class StepChoice
{
public:
    // Errors: anything but numbers and ranges from 1 on, divided by commas. An empty text chooses no step.
    static Result<StepChoice> parse(const std::string& text);
    bool contains(std::int64_t step) const;

private:
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges_; // first and last
};

} // namespace lockstep
