#include "ui/plots/heatmap_cells.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

HeatCell cellOf(const SeriesNode& node)
{
    HeatCell cell;
    cell.recorded = true;
    cell.bad = node.bad > 0;
    if (!node.empty())
        cell.largest = std::max(std::fabs(node.lo), std::fabs(node.hi));
    return cell;
}

} // namespace

std::vector<HeatCell> heatCells(const SeriesSnapshot& data, const PlotMapping& map)
{
    std::vector<HeatCell> cells(static_cast<std::size_t>(map.width()));
    if (data.empty())
        return cells;
    const double usual = data.stride() > 0 ? static_cast<double>(data.stride())
                         : data.size() > 1
                             ? std::max(1.0, static_cast<double>(data.lastStep() - data.firstStep()) /
                                                 static_cast<double>(data.size() - 1))
                             : 1.0;
    std::size_t begin = data.lowerBound(map.stepAt(0));
    for (int c = 0; c < map.width(); ++c) {
        const std::size_t end = data.lowerBound(map.stepAt(c + 1), begin);
        if (end > begin) {
            cells[static_cast<std::size_t>(c)] = cellOf(data.query(begin, end));
        } else {
            const double middle = map.stepAt(c + 0.5);
            const std::size_t nearest = data.nearest(middle);
            if (std::fabs(static_cast<double>(data.step(nearest)) - middle) <= usual / 2)
                cells[static_cast<std::size_t>(c)] = cellOf(data.query(nearest, nearest + 1));
        }
        begin = end;
    }
    return cells;
}

std::vector<std::pair<int, int>> stretchesBeyond(const std::vector<HeatCell>& cells, double limit, int join)
{
    std::vector<std::pair<int, int>> stretches;
    for (int c = 0; c < static_cast<int>(cells.size()); ++c) {
        if (!(cells[static_cast<std::size_t>(c)].largest > limit))
            continue;
        if (!stretches.empty() && c - stretches.back().second <= join)
            stretches.back().second = c;
        else
            stretches.emplace_back(c, c);
    }
    return stretches;
}

int heatBin(double size, double limit)
{
    if (size > limit)
        return 6;
    return std::clamp(static_cast<int>(size / limit * 6), 0, 5);
}

} // namespace lockstep
