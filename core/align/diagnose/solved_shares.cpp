#include "core/align/diagnose/solved_shares.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

using Row = std::vector<double>; // coefficients, then the right side

// Least squares by the normal equations, of few unknowns; empty where they do not decide.
std::vector<double> leastSquares(const std::vector<Row>& rows, std::size_t unknowns)
{
    std::vector<Row> normal(unknowns, Row(unknowns + 1, 0.0));
    for (const Row& row : rows)
        for (std::size_t i = 0; i < unknowns; ++i)
            for (std::size_t j = 0; j <= unknowns; ++j)
                normal[i][j] += row[i] * row[j];
    for (std::size_t k = 0; k < unknowns; ++k) {
        const auto pivot =
            std::max_element(normal.begin() + std::ptrdiff_t(k), normal.end(),
                             [k](const Row& a, const Row& b) { return std::abs(a[k]) < std::abs(b[k]); });
        if (std::abs((*pivot)[k]) < 1e-12)
            return {};
        std::swap(normal[k], *pivot);
        for (std::size_t i = 0; i < unknowns; ++i)
            for (std::size_t j = unknowns + 1; i != k && j-- > k;)
                normal[i][j] -= normal[k][j] * normal[i][k] / normal[k][k];
    }
    std::vector<double> solution;
    for (std::size_t k = 0; k < unknowns; ++k)
        solution.push_back(normal[k][unknowns] / normal[k][k]);
    return solution;
}

} // namespace

std::optional<std::vector<double>> solvedShares(const Case& c, std::int64_t step)
{
    constexpr int kMostRanks =
        4; // four projections, the losses, and that the weights add up to 1: six equations
    constexpr double kUneven = 1e-3;
    const std::optional<Gradient> wanted = c.ref().reduced(c.ref().ranks().front(), step);
    const std::optional<double> loss = c.ref().lossMean(step);
    if (c.rankByRank() || c.world() < 2 || c.world() > kMostRanks || !wanted || wanted->norm <= 0 || !loss ||
        *loss == 0)
        return {};
    std::vector<Row> rows(kProjections + 2);
    for (const int rank : c.sus().ranks()) {
        const std::optional<Gradient> own = c.sus().local(rank, step);
        const std::optional<double> ownLoss = c.sus().value(rank, Quantity::Loss, step);
        if (!own || !ownLoss)
            return {};
        for (std::size_t k = 0; k < kProjections; ++k)
            rows[k].push_back(own->projection[k] / wanted->norm);
        rows[kProjections].push_back(*ownLoss / *loss);
        rows[kProjections + 1].push_back(1);
    }
    for (std::size_t k = 0; k < kProjections; ++k)
        rows[k].push_back(wanted->projection[k] / wanted->norm);
    rows[kProjections].push_back(1);
    rows[kProjections + 1].push_back(1);
    const std::vector<double> weights = leastSquares(rows, std::size_t(c.world()));
    if (weights.empty())
        return {};
    const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
    if (*least <= 0 || *most - *least < kUneven)
        return {};
    for (const Row& row : rows) {
        double sum = -row.back();
        for (std::size_t r = 0; r < weights.size(); ++r)
            sum += weights[r] * row[r];
        if (!(std::abs(sum) <= 4 * c.precision()))
            return {};
    }
    return weights;
}

} // namespace lockstep::align
