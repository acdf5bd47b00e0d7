// How one gradient relates to another: by a factor, or not by one.
#pragma once

#include "core/align/diagnose/run_trace.h"

#include <optional>

namespace lockstep::align {

struct Relation {
    double ratio = 1; // least squares over the projections: a = ratio * b
    double residual =
        0; // largest |a - ratio * b| of a projection, relative to a's root mean square projection
    double distance = 0; // largest |a - b|, relative likewise
    bool equal = false;  // every bit of the projections

    // One is a multiple of the other. Random projections of vectors that are not proportional cannot all be in one
    // ratio but by chance; `precision` is the relative rounding error to expect.
    bool proportional(double precision) const { return residual <= precision; }
    bool same(double precision) const { return equal || distance <= precision; }
};

// nullopt where one is unknown, not finite, or zero.
std::optional<Relation> relate(const std::optional<Gradient>& a, const std::optional<Gradient>& b);

// |x / y - 1| <= precision.
bool near(double x, double y, double precision);

} // namespace lockstep::align
