#include "ui/plots/plot_mapping.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace lockstep {

double YTransform::forward(double value) const
{
    switch (scale) {
    case YScale::Linear:
        return value;
    case YScale::Log:
        return value > 0 ? std::log10(value) : -std::numeric_limits<double>::infinity();
    case YScale::Symlog: {
        const double magnitude = std::fabs(value) / threshold;
        return magnitude <= 1 ? value / threshold : std::copysign(1 + std::log10(magnitude), value);
    }
    }
    return value;
}

double YTransform::backward(double coordinate) const
{
    switch (scale) {
    case YScale::Linear:
        return coordinate;
    case YScale::Log:
        return std::pow(10, coordinate);
    case YScale::Symlog: {
        const double magnitude = std::fabs(coordinate);
        return magnitude <= 1 ? coordinate * threshold
                              : std::copysign(threshold * std::pow(10, magnitude - 1), coordinate);
    }
    }
    return coordinate;
}

PlotMapping::PlotMapping(double x0, double x1, double yLow, double yHigh, int width, int height, YTransform y)
    : PlotMapping(fromCoordinates(x0, x1, y.forward(yLow), y.forward(yHigh), width, height, y))
{
}

PlotMapping PlotMapping::fromCoordinates(double xLow, double xHigh, double low, double high, int width,
                                         int height, YTransform y, XTransform x)
{
    assert(xLow < xHigh && low < high);
    PlotMapping map;
    map.x0_ = x.backward(xLow);
    map.x1_ = x.backward(xHigh);
    map.width_ = std::max(1, width);
    map.height_ = std::max(1, height);
    map.y_ = y;
    map.x_ = x;
    map.xLeft_ = xLow;
    map.xScale_ = map.width_ / (xHigh - xLow);
    map.yTop_ = high;
    map.yScale_ = map.height_ / (high - low);
    return map;
}

double PlotMapping::valueAt(double py) const
{
    return y_.backward(yTop_ - py / yScale_);
}

} // namespace lockstep
