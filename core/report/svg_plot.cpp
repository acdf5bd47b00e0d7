#include "core/report/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lockstep {

namespace {

constexpr int kLeft = 64, kRight = 12, kTop = 12, kBottom = 40;
constexpr std::array kColours = {"#1A1D21", "#155E95", "#5499CF", "#2B82C4", "#0A3D62"};

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void take(double value)
    {
        if (!std::isfinite(value))
            return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool empty() const { return low > high; }
    void widen()
    {
        if (empty()) {
            low = 0;
            high = 1;
        }
        if (low == high) {
            const double half = low == 0 ? 0.5 : std::abs(low) * 0.05;
            low -= half;
            high += half;
        }
    }
};

// 1, 2 or 5 times a power of ten, so that about `count` of them fit.
double tickDistance(const Range& range, int count)
{
    const double raw = (range.high - range.low) / count;
    const double unit = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * unit >= raw)
            return factor * unit;
    return 10 * unit;
}

// The multiples of such a distance in the range. Counted, not added up: beside large values a small distance adds nothing.
std::vector<double> ticks(const Range& range, int count)
{
    const double distance = tickDistance(range, count);
    const double first = std::ceil(range.low / distance);
    std::vector<double> at;
    for (int i = 0; i <= count && (first + i) * distance <= range.high; ++i)
        at.push_back((first + i) * distance);
    return at;
}

class Canvas
{
public:
    Canvas(const ReportPlot& plot, int width, int height) : plot_(plot), width_(width), height_(height)
    {
        for (const ReportCurve& curve : plot.curves) {
            for (const double x : curve.x)
                x_.take(x);
            for (const double y : curve.y)
                y_.take(y);
        }
        x_.widen();
        y_.widen();
    }

    std::string draw();

private:
    double px(double x) const
    {
        return kLeft + (x - x_.low) / (x_.high - x_.low) * (width_ - kLeft - kRight);
    }
    double py(double y) const
    {
        return height_ - kBottom - (y - y_.low) / (y_.high - y_.low) * (height_ - kTop - kBottom);
    }
    void axes();
    void marks();
    void curve(const ReportCurve& curve, const char* colour, bool thick);
    void legend();

    const ReportPlot& plot_;
    const int width_, height_;
    Range x_, y_;
    std::string out_;
};

void Canvas::axes()
{
    for (const double x : ticks(x_, 8))
        out_ += fmt::format("<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='#E8EAED'/>"
                            "<text x='{0:.1f}' y='{3}' text-anchor='middle'>{4:g}</text>\n",
                            px(x), kTop, height_ - kBottom, height_ - kBottom + 16, x);
    for (const double y : ticks(y_, 5))
        out_ += fmt::format("<line x1='{1}' y1='{0:.1f}' x2='{2}' y2='{0:.1f}' stroke='#E8EAED'/>"
                            "<text x='{3}' y='{4:.1f}' text-anchor='end'>{5:.4g}</text>\n",
                            py(y), kLeft, width_ - kRight, kLeft - 6, py(y) + 4, y);
    out_ += fmt::format("<text x='{}' y='{}' text-anchor='end'>step</text>\n", width_ - kRight, height_ - 6);
}

void Canvas::marks()
{
    for (const ReportMark& mark : plot_.marks)
        out_ +=
            fmt::format("<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' stroke='#4A525C' "
                        "stroke-dasharray='3 3'/><text x='{3:.1f}' y='{4}'>{5}</text>\n",
                        px(mark.x), kTop, height_ - kBottom, px(mark.x) + 3, kTop + 10, escaped(mark.label));
}

// A vertical stroke per pixel column from the smallest to the largest value in it, joined to the next by a line.
void Canvas::curve(const ReportCurve& curve, const char* colour, bool thick)
{
    std::string points, lost;
    int column = -1;
    double low = 0, high = 0, first = 0, last = 0;
    const auto flush = [&] {
        if (column < 0)
            return;
        // Enters at the first sample, touches both extremes, leaves at the last.
        for (const double y : {first, low, high, last})
            points += fmt::format("{},{:.1f} ", column, y);
    };
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
        const int at = int(std::lround(px(curve.x[i])));
        if (!std::isfinite(curve.y[i])) {
            lost += fmt::format("<path d='M{0} {1}l4 4l-4 4l-4 -4z' fill='#B3261E'/>", at, kTop);
            continue;
        }
        const double y = py(curve.y[i]);
        if (at != column) {
            flush();
            column = at;
            low = high = first = y;
        }
        low = std::min(low, y);
        high = std::max(high, y);
        last = y;
    }
    flush();
    out_ += fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='{}'/>{}\n", points,
                        colour, thick ? 2.4 : 1.4, lost);
}

void Canvas::legend()
{
    int x = kLeft + 8;
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) {
        out_ += fmt::format("<line x1='{0}' y1='{1}' x2='{2}' y2='{1}' stroke='{3}' stroke-width='2.4'/>"
                            "<text x='{4}' y='{5}'>{6}</text>\n",
                            x, height_ - 10, x + 18, kColours[i % kColours.size()], x + 23, height_ - 6,
                            escaped(plot_.curves[i].name));
        x += 46 + 7 * int(plot_.curves[i].name.size());
    }
}

std::string Canvas::draw()
{
    out_ =
        fmt::format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
                    "role='img' aria-label='{2}' font-size='11' fill='#4A525C'>\n",
                    width_, height_, escaped(plot_.title));
    axes();
    for (std::size_t i = 0; i < plot_.curves.size(); ++i)
        curve(plot_.curves[i], kColours[i % kColours.size()], i == 0 && plot_.curves.size() > 1);
    marks();
    legend();
    return out_ + "</svg>";
}

} // namespace

std::string svgPlot(const ReportPlot& plot, int width, int height)
{
    return Canvas(plot, width, height).draw();
}

} // namespace lockstep
