#include "core/align/locate_tensor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace lockstep::align {

namespace {

struct Field {
    double norm = 0;
    std::optional<std::uint64_t> fingerprint;
};

// Empty where the record has no such field or is not of the kind the link speaks of.
std::optional<Field> fieldOf(const TensorRecord& r, CausalLink link)
{
    switch (link) {
    case CausalLink::PreReduction:
        if (r.has & TensorRecord::Local)
            return Field{r.localNorm, r.localFingerprint};
        return std::nullopt;
    case CausalLink::Reduced:
    case CausalLink::Clipping:
        if (r.has & TensorRecord::Reduced)
            return Field{r.reducedNorm, r.reducedFingerprint};
        return std::nullopt;
    case CausalLink::Update:
        if (r.has & TensorRecord::Update)
            return Field{r.updateNorm, std::nullopt};
        return std::nullopt;
    case CausalLink::Parameters:
    case CausalLink::Buffers:
        if ((r.has & TensorRecord::State) && r.buffer == (link == CausalLink::Buffers))
            return Field{r.stateNorm, r.stateFingerprint};
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

bool same(const Field& a, const Field& b, const Tolerance& tolerance)
{
    if (tolerance.mode == CompareMode::Exact && a.fingerprint && b.fingerprint)
        return *a.fingerprint == *b.fingerprint;
    // The envelope has no band for single tensors; the largest distance decides.
    if (tolerance.mode == CompareMode::Envelope)
        return true;
    return within(tolerance.mode, tolerance.limit, bitsOf(a.norm), bitsOf(b.norm), ValueType::F64);
}

double relativeDistance(double a, double b)
{
    if (bitsOf(a) == bitsOf(b))
        return 0;
    const double size = std::max(std::fabs(a), std::fabs(b));
    const double distance = std::fabs(a - b) / size;
    return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

} // namespace

Result<std::string> locateTensor(RunReader& a, int rankA, std::int64_t stepA, RunReader& b, int rankB,
                                 std::int64_t stepB, CausalLink link, const Tolerance& tolerance)
{
    const Result<std::vector<TensorRecord>> tensorsA = a.tensors(rankA, stepA, stepA + 1);
    if (!tensorsA.ok())
        return tensorsA.error();
    const Result<std::vector<TensorRecord>> tensorsB = b.tensors(rankB, stepB, stepB + 1);
    if (!tensorsB.ok())
        return tensorsB.error();
    // A tensor may come in several records, one per field; only those that hold the field count.
    std::map<std::pair<std::string, bool>, Field> inB;
    for (const TensorRecord& record : *tensorsB) {
        if (const std::optional<Field> field = fieldOf(record, link))
            inB.emplace(std::pair(record.name, record.buffer), *field);
    }
    std::string farthest;
    double largest = 0;
    for (const TensorRecord& record : *tensorsA) {
        const std::optional<Field> field = fieldOf(record, link);
        const auto other = inB.find({record.name, record.buffer});
        if (!field || other == inB.end())
            continue;
        if (!same(*field, other->second, tolerance))
            return record.name;
        const double distance = relativeDistance(field->norm, other->second.norm);
        if (distance > largest) {
            largest = distance;
            farthest = record.name;
        }
    }
    return farthest;
}

} // namespace lockstep::align
