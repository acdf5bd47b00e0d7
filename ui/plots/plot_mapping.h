// Step <-> pixel and value <-> pixel of one plot area, as a plain value: no widget, no painter, tested with
// data rows.
//
// Pixels are device pixels, x to the right and y downwards, (0, 0) is the upper left corner of the plot area.
// The column of a step and the row of a value are defined by `floor` here and nowhere else; every search for
// a column border corrects itself against this definition.
#pragma once

#include <cmath>
#include <cstdint>

namespace lockstep {

enum class YScale { Linear, Log, Symlog };

// Monotone transform of values to the coordinate that is laid out linearly.
// Linear: v. Log: log10(v); values <= 0 have no place and go to -infinity, which clamps to below the plot.
// Symlog: v / t within [-t, t], sign(v) * (1 + log10(|v| / t)) outside: linear around 0, decades beyond,
// where t > 0 is the threshold (as matplotlib's symlog with linscale 1).
struct YTransform {
    YScale scale = YScale::Linear;
    double threshold = 1e-6;

    double forward(double value) const;
    double backward(double coordinate) const;
};

enum class XScale { Linear, Log };
enum class XUnit { Step, Samples }; // what the "steps" of a plot count

// The same for steps. Log: log10(step + 1), which keeps step 0; steps below 0 have no place and go to -1e9.
struct XTransform {
    XScale scale = XScale::Linear;

    double forward(double step) const
    {
        return scale == XScale::Linear ? step : step > -1 ? std::log10(step + 1) : -1e9;
    }
    double backward(double coordinate) const
    {
        return scale == XScale::Linear ? coordinate : std::pow(10, coordinate) - 1;
    }
};

class PlotMapping
{
public:
    // x0 < x1 in steps; yLow < yHigh in values (both > 0 for Log); size in device pixels, at least 1 x 1.
    PlotMapping(double x0, double x1, double yLow, double yHigh, int width, int height, YTransform y = {});

    // The same with limits in coordinates of the transforms.
    static PlotMapping fromCoordinates(double xLow, double xHigh, double yLow, double yHigh, int width,
                                       int height, YTransform y, XTransform x = {});

    int width() const { return width_; }
    int height() const { return height_; }
    double x0() const { return x0_; }
    double x1() const { return x1_; }
    const YTransform& transform() const { return y_; }

    double px(double step) const
    {
        const double coordinate = x_.scale == XScale::Linear ? step : x_.forward(step);
        return (coordinate - xLeft_) * xScale_;
    }
    double stepAt(double px) const
    {
        const double coordinate = xLeft_ + px / xScale_;
        return x_.scale == XScale::Linear ? coordinate : x_.backward(coordinate);
    }
    // Clamped to +-1e6, so that a far-off value (3e38) can be cast and drawn.
    double py(double value) const
    {
        const double coordinate = y_.scale == YScale::Linear ? value : y_.forward(value);
        const double p = (yTop_ - coordinate) * yScale_;
        return p < -1e6 ? -1e6 : p > 1e6 ? 1e6 : p;
    }
    double valueAt(double py) const;

    long column(double step) const { return floorOf(clampPx(px(step))); }
    static int row(double py) { return static_cast<int>(floorOf(py)); }
    static double clampPx(double p) { return p < -1e9 ? -1e9 : p > 1e9 ? 1e9 : p; }

private:
    PlotMapping() = default;

    // std::floor is a library call on the x86-64 baseline; this is called several times per column and curve.
    static long floorOf(double p)
    {
        const long towardsZero = static_cast<long>(p);
        return towardsZero - (static_cast<double>(towardsZero) > p ? 1 : 0);
    }

    double x0_ = 0, x1_ = 1;                                // steps
    double xLeft_ = 0, xScale_ = 1, yTop_ = 1, yScale_ = 1; // coordinates
    int width_ = 1, height_ = 1;
    YTransform y_;
    XTransform x_;
};

} // namespace lockstep
