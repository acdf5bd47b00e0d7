// The loss the fake worker reports: a fixed function of rank and step, so that a test can tell a wrong value
// from a missing one.
#pragma once

#include <cstdint>

namespace lockstep {

inline double fakeLoss(int rank, std::int64_t step)
{
    return 2.5 / (1.0 + 0.01 * double(step)) + 0.001 * rank;
}

} // namespace lockstep
