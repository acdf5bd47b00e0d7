// How many values at the front of two lists are within a tolerance: what nearly all of a long comparison consists of.
#pragma once

#include "core/align/tolerance.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::align {

// The answer is that of within() (tolerance.h) value by value, for values of type F64; both lists have one length. Automatic
// is not allowed; the envelope has a limit of its own for each step, so nothing is known of it: 0.
std::size_t prefixWithin(const Tolerance& tolerance, const std::vector<std::uint64_t>& a,
                         const std::vector<std::uint64_t>& b);

} // namespace lockstep::align
