#include "core/align/diagnose/relation.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

std::optional<Relation> relate(const std::optional<Gradient>& a, const std::optional<Gradient>& b)
{
    if (!a || !b)
        return {};
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t k = 0; k < kProjections; ++k) {
        ab += a->projection[k] * b->projection[k];
        aa += a->projection[k] * a->projection[k];
        bb += b->projection[k] * b->projection[k];
    }
    if (!std::isfinite(aa) || !std::isfinite(bb) || aa == 0 || bb == 0)
        return {};
    Relation relation;
    relation.ratio = ab / bb;
    relation.equal = a->projection == b->projection;
    const double size = std::sqrt(aa / kProjections);
    for (std::size_t k = 0; k < kProjections; ++k) {
        const double x = a->projection[k], y = b->projection[k];
        relation.residual = std::max(relation.residual, std::abs(x - relation.ratio * y) / size);
        relation.distance = std::max(relation.distance, std::abs(x - y) / size);
    }
    return relation;
}

bool near(double x, double y, double precision)
{
    return std::abs(x - y) <= precision * std::abs(y);
}

} // namespace lockstep::align
