#include "tests/ui/plots/brute_force.h"

#include <algorithm>
#include <cmath>

namespace lockstep::test {

namespace {

struct Traced {
    CurveColumns columns;
    CurveLines lines;
    std::vector<unsigned char> flags;
    LoneSamples lone;
    bool sparse = false;
};

std::size_t samplesInView(const SeriesSnapshot& data, const PlotMapping& map)
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const long column = map.column(static_cast<double>(data.step(i)));
        count += column >= -kLineMargin && column < map.width() + kLineMargin ? 1 : 0;
    }
    return count;
}

Traced trace(const SeriesSnapshot& data, const RasterPen& pen, const PlotMapping& map, bool sparse)
{
    Traced out;
    out.sparse = sparse;
    out.flags.assign(static_cast<std::size_t>(map.width()), 0);
    if (sparse) {
        traceLines(out.lines, out.lone, out.flags, data, map, pen, 0, data.size());
        return out;
    }
    const long margin = penReach(pen.width);
    out.columns = CurveColumns(map.width(), margin);
    struct Seen {
        int finite = 0;
        bool joined = false;
        double row = 0;
    };
    std::vector<Seen> seen(static_cast<std::size_t>(map.width() + 2 * margin));
    const auto inside = [&](long c) { return c >= -margin && c < map.width() + margin; };
    for (std::size_t i = 0; i < data.size(); ++i) {
        const double y = data.value(i), step = static_cast<double>(data.step(i));
        const long c = map.column(step);
        if (inside(c)) {
            unsigned char& flags = out.columns.flags[static_cast<std::size_t>(c + margin)];
            Seen& here = seen[static_cast<std::size_t>(c + margin)];
            if (std::isfinite(y)) {
                out.columns.at(c).add(map.py(y));
                ++here.finite;
                here.row = map.py(y);
                if (map.transform().scale == YScale::Log && y <= 0)
                    flags |= NonPositiveInColumn;
            } else {
                flags |= NonFiniteInColumn;
            }
        }
        if (i + 1 == data.size())
            continue;
        const double next = data.value(i + 1), nextStep = static_cast<double>(data.step(i + 1));
        const long d = map.column(nextStep);
        if (c == d || !std::isfinite(y) || !std::isfinite(next))
            continue;
        addLine(out.columns, map, step, y, nextStep, next, -margin, map.width() + margin);
        if (inside(c))
            seen[static_cast<std::size_t>(c + margin)].joined = true;
        if (inside(d))
            seen[static_cast<std::size_t>(d + margin)].joined = true;
    }
    for (long c = -margin; c < map.width() + margin; ++c) {
        const Seen& here = seen[static_cast<std::size_t>(c + margin)];
        if (here.finite == 1 && !here.joined)
            out.lone.emplace_back(static_cast<double>(c), here.row);
    }
    for (int c = 0; c < map.width(); ++c)
        out.flags[static_cast<std::size_t>(c)] = out.columns.flags[static_cast<std::size_t>(c + margin)];
    return out;
}

} // namespace

BruteForceResult bruteForce(const RasterScene& scene, const PlotMapping& map)
{
    BruteForceResult result;
    result.image = QImage(map.width(), map.height(), QImage::Format_ARGB32_Premultiplied);
    result.image.fill(Qt::transparent);
    const std::size_t limit = sparseLimit(scene, map);
    std::vector<std::pair<Traced, RasterPen>> curves;
    const auto add = [&](const SeriesSnapshot& data, const RasterPen& pen) {
        curves.emplace_back(trace(data, pen, map, samplesInView(data, map) <= limit), pen);
    };
    const long width = map.width();
    for (const RasterBand& band : scene.bands) {
        const Traced upper = trace(*band.upper, {}, map, false), lower = trace(*band.lower, {}, map, false);
        paintBand(result.image, upper.columns, lower.columns, band.fill, 0, width);
        if (qAlpha(band.edge.color) > 0) {
            add(*band.upper, band.edge);
            add(*band.lower, band.edge);
        }
    }
    for (const RasterCurve& curve : scene.curves)
        add(*curve.data, curve.pen);
    std::vector<unsigned char> flags(static_cast<std::size_t>(width), 0);
    for (const auto& [curve, pen] : curves) {
        LineMask mask(0, width, map.height());
        if (curve.sparse)
            paintLines(mask, result.image, curve.lines, pen);
        else
            paintColumns(result.image, curve.columns, pen, map, 0, width);
        for (std::size_t c = 0; c < flags.size(); ++c)
            flags[c] |= curve.flags[c];
        result.sparse += curve.sparse ? 1 : 0;
    }
    for (const auto& [curve, pen] : curves) {
        paintLone(result.image, curve.lone, pen, scene.scale, 0, width);
        result.lone += static_cast<int>(curve.lone.size());
    }
    paintFlags(result.image, flags, scene, 0, width);
    return result;
}

std::vector<double> hardValues(std::mt19937& rng, std::size_t count, bool positiveMostly)
{
    const auto uniform = [&](double a, double b) {
        return std::uniform_real_distribution<double>(a, b)(rng);
    };
    std::vector<double> y(count);
    for (std::size_t i = 0; i < count; ++i)
        y[i] = 2 + 8.0 / (1 + static_cast<double>(i) * 1e-3) + uniform(-0.1, 0.1);
    for (std::size_t k = 0; k < count / 50 + 1; ++k)
        y[rng() % count] = positiveMostly ? std::exp(uniform(-9, 3)) : uniform(-20, 20);
    for (std::size_t k = 0; k < count / 400 + 1; ++k) {
        const std::size_t from = rng() % count;
        const auto length = static_cast<std::size_t>(
            std::pow(10, uniform(0, std::log10(static_cast<double>(count) / 4 + 2))));
        for (std::size_t i = from; i < std::min(count, from + length); ++i)
            if (rng() % 9 != 0)
                y[i] = rng() % 50 != 0 ? std::nan("") : rng() % 2 != 0 ? INFINITY : -INFINITY;
    }
    if (rng() % 3 == 0)
        y[rng() % count] = 0;
    if (rng() % 4 == 0)
        y[rng() % count] = rng() % 2 != 0 ? 3e38 : -1e300;
    return y;
}

std::vector<std::int64_t> unevenSteps(std::mt19937& rng, std::size_t count)
{
    std::vector<std::int64_t> steps(count);
    std::int64_t step = static_cast<std::int64_t>(rng() % 2000) - 1000;
    for (std::size_t i = 0; i < count; ++i) {
        steps[i] = step;
        step += rng() % 40 == 0 ? static_cast<std::int64_t>(rng() % 5000)
                                : 1 + static_cast<std::int64_t>(rng() % 3);
        if (rng() % 100 == 0)
            step = steps[i];
    }
    return steps;
}

} // namespace lockstep::test
