// The end of every sum over lanes. The order of additions decides the last bits, so it is written once. Private to core/base.
#pragma once

#include "core/base/fingerprint.h"

namespace lockstep {

// Adds up kNormLanes lanes in halves; overwrites them.
inline double foldLanes(double* lane)
{
    for (int half = kNormLanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l)
            lane[l] += lane[l + half];
    return lane[0];
}

} // namespace lockstep
