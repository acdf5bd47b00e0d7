#include "core/config/step_choice.h"

#include <algorithm>
#include <charconv>

namespace lockstep {

namespace {

// A whole number from 1 on; 0 for anything else.
std::int64_t stepNumber(const char* begin, const char* end)
{
    std::int64_t step = 0;
    const auto [rest, error] = std::from_chars(begin, end, step);
    return error == std::errc() && rest == end && step > 0 ? step : 0;
}

} // namespace

Result<StepChoice> StepChoice::parse(const std::string& text)
{
    StepChoice choice;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::size_t dash = std::min(text.find('-', begin), end);
        const std::int64_t first = stepNumber(text.data() + begin, text.data() + dash);
        const std::int64_t last = dash == end ? first : stepNumber(text.data() + dash + 1, text.data() + end);
        if (first == 0 || last < first)
            return Error{ErrorKind::Usage, "The steps " + text + " cannot be read",
                         text.substr(begin, end - begin) + " is neither a step nor a range of steps",
                         "Write for example 1,10,200-205"};
        choice.ranges_.emplace_back(first, last);
        begin = end + 1;
    }
    return choice;
}

bool StepChoice::contains(std::int64_t step) const
{
    for (const auto& [first, last] : ranges_)
        if (step >= first && step <= last)
            return true;
    return false;
}

} // namespace lockstep
