#include "core/ckpt/stats.h"

#include "core/ckpt/block_kernels.h"
#include "core/ckpt/element_decode.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {

using kernels::FastBlock;
using kernels::kBlock;
using kernels::kStep;

double toDouble(const ExactNumber& number)
{
    struct Visitor {
        double operator()(std::monostate) const { return std::numeric_limits<double>::quiet_NaN(); }
        double operator()(std::int64_t value) const { return static_cast<double>(value); }
        double operator()(std::uint64_t value) const { return static_cast<double>(value); }
        double operator()(double value) const { return value; }
    };
    return std::visit(Visitor{}, number);
}

SquareSum::Range SquareSum::rangeOf(double largestMagnitude)
{
    if (largestMagnitude > 1e140)
        return Range::Big;
    return largestMagnitude < 1e-140 && largestMagnitude > 0 ? Range::Small : Range::Middle;
}

double SquareSum::scaleOf(Range range)
{
    return range == Range::Big ? 0x1p-600 : range == Range::Small ? 0x1p+600 : 1.0;
}

// Neumaier's form of Kahan summation.
void SquareSum::Compensated::add(double value)
{
    const double next = sum + value;
    error += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
}

void SquareSum::add(double sumOfScaledSquares, Range range)
{
    (range == Range::Big ? big_ : range == Range::Small ? small_ : middle_).add(sumOfScaledSquares);
}

void SquareSum::merge(const SquareSum& other)
{
    small_.add(other.small_.value());
    middle_.add(other.middle_.value());
    big_.add(other.big_.value());
}

double SquareSum::root() const
{
    // A sum of one range vanishes beside a larger one unless they are near each other, hence the two steps
    // down.
    if (big_.value() > 0)
        return std::sqrt(big_.value() + middle_.value() * 0x1p-600 * 0x1p-600) * 0x1p+600;
    if (middle_.value() > 0)
        return std::sqrt(middle_.value() + small_.value() * 0x1p-600 * 0x1p-600);
    return std::sqrt(small_.value()) * 0x1p-600;
}

namespace {

void take(ExactNumber& best, const ExactNumber& candidate, bool smaller)
{
    if (std::holds_alternative<std::monostate>(candidate))
        return;
    // Numbers of one tensor are all of one kind, so the variant's own order is the order of the numbers.
    if (std::holds_alternative<std::monostate>(best) || (smaller ? candidate < best : best < candidate))
        best = candidate;
}

void addDoubles(const double* x, std::size_t n, ElementStats& into)
{
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double largest = 0;
    std::uint64_t nan = 0, inf = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double magnitude = std::abs(x[i]);
        nan += x[i] != x[i];
        inf += magnitude > std::numeric_limits<double>::max();
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        largest =
            magnitude <= std::numeric_limits<double>::max() && magnitude > largest ? magnitude : largest;
    }
    const SquareSum::Range range = SquareSum::rangeOf(largest);
    const double scale = SquareSum::scaleOf(range);
    double lanes[8] = {}; // independent sums: faster, and more exact than one
    for (std::size_t i = 0; i < n; ++i) {
        const double value = std::abs(x[i]) <= std::numeric_limits<double>::max() ? x[i] * scale : 0.0;
        lanes[i % 8] += value * value;
    }
    double sum = 0;
    for (double lane : lanes)
        sum += lane;
    into.squares.add(sum, range);
    into.nan += nan;
    into.inf += inf;
    if (nan < n)
        widenRange(into, low, high);
}

void addComplex(const double* x, std::size_t n, ElementStats& into)
{
    double largest = 0;
    const auto finite = [&](std::size_t i) { return std::isfinite(x[2 * i]) && std::isfinite(x[2 * i + 1]); };
    for (std::size_t i = 0; i < n; ++i) {
        into.nan += std::isnan(x[2 * i]) || std::isnan(x[2 * i + 1]);
        into.inf += std::isinf(x[2 * i]) || std::isinf(x[2 * i + 1]);
        if (finite(i))
            largest = std::max({largest, std::abs(x[2 * i]), std::abs(x[2 * i + 1])});
    }
    const SquareSum::Range range = SquareSum::rangeOf(largest);
    const double scale = SquareSum::scaleOf(range);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (!finite(i))
            continue;
        const double re = x[2 * i] * scale, im = x[2 * i + 1] * scale;
        sum += re * re + im * im;
    }
    into.squares.add(sum, range);
}

template<typename T>
void addIntegers(const std::byte* p, std::size_t n, ElementStats& into)
{
    T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
    double lanes[8] = {};
    for (std::size_t i = 0; i < n; ++i) {
        const T value = loadUnaligned<T>(p + i * sizeof(T));
        low = std::min(low, value);
        high = std::max(high, value);
        const auto wide = static_cast<double>(value);
        lanes[i % 8] += wide * wide;
    }
    double sum = 0;
    for (double lane : lanes)
        sum += lane;
    into.squares.add(sum);
    if constexpr (std::is_signed_v<T>) {
        take(into.min, static_cast<std::int64_t>(low), true);
        take(into.max, static_cast<std::int64_t>(high), false);
    } else {
        take(into.min, static_cast<std::uint64_t>(low), true);
        take(into.max, static_cast<std::uint64_t>(high), false);
    }
}

} // namespace

void ElementStats::merge(const ElementStats& other)
{
    elements += other.elements;
    nan += other.nan;
    inf += other.inf;
    take(min, other.min, true);
    take(max, other.max, false);
    squares.merge(other.squares);
}

void widenRange(ElementStats& stats, double low, double high)
{
    take(stats.min, low, true);
    take(stats.max, high, false);
}

bool hasStatistics(DType dtype)
{
    return !isPacked(dtype);
}

void accumulate(DType dtype, std::span<const std::byte> bytes, ElementStats& into)
{
    const std::size_t size = itemSize(dtype);
    const kernels::KernelSet& fast = kernels::fastKernels();
    const kernels::SingleKernel kernel = dtype == DType::Float32    ? fast.singleFloat32
                                         : dtype == DType::BFloat16 ? fast.singleBFloat16
                                                                    : nullptr;
    double buffer[2 * kBlock];
    for (const std::byte* p = bytes.data(); p < bytes.data() + bytes.size();) {
        std::size_t n =
            std::min<std::size_t>(kBlock, static_cast<std::size_t>(bytes.data() + bytes.size() - p) / size);
        if (n == 0)
            return; // a torn element; callers pass whole ones
        if (kernel && n >= kStep) {
            const std::size_t even = n - n % kStep;
            FastBlock block;
            if (kernel(p, even, block)) {
                into.elements += even;
                into.squares.add(block.sumA);
                widenRange(into, block.minA, block.maxA);
                p += even * size;
                continue;
            }
        }
        into.elements += n;
        if (isComplex(dtype)) {
            decodeComplex(dtype, p, n, buffer);
            addComplex(buffer, n, into);
        } else if (isFloat(dtype)) {
            decodeToDouble(dtype, p, n, buffer);
            addDoubles(buffer, n, into);
        } else {
            withIntegerType(dtype, [&](auto zero) { addIntegers<decltype(zero)>(p, n, into); });
        }
        p += n * size;
    }
}

} // namespace lockstep
