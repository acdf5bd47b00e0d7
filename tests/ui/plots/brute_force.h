// The picture of a scene found by looking at every sample: no pyramid, no search for columns, no threads, no windows.
// Shares the parts that define a pixel (PlotMapping, addLine, the paint functions) and nothing of the way to them.
#pragma once

#include "ui/plots/curve_columns.h"

#include <random>

namespace lockstep::test {

struct BruteForceResult {
    QImage image;
    int lone = 0;   // marks of rule 3
    int sparse = 0; // curves drawn as lines
};

BruteForceResult bruteForce(const RasterScene& scene, const PlotMapping& map);

// Values with noise, spikes, NaN bursts with lone values inside, infinities, zeros, sometimes one huge value.
std::vector<double> hardValues(std::mt19937& rng, std::size_t count, bool positiveMostly);
// Steps with gaps, sometimes with repeated steps.
std::vector<std::int64_t> unevenSteps(std::mt19937& rng, std::size_t count);

} // namespace lockstep::test
