#include "core/ckpt/element_diff.h"

#include "core/ckpt/block_kernels.h"
#include "core/ckpt/element_decode.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

using kernels::FastBlock;
using kernels::kBlock;
using kernels::kStep;

namespace {

void takeMaxAbs(ElementDiff& into, ExactNumber value)
{
    if (std::holds_alternative<std::monostate>(into.maxAbs) || into.maxAbs < value)
        into.maxAbs = value;
}

bool isInteger(DType dtype)
{
    return withIntegerType(dtype, [](auto) {});
}

ExactNumber zeroDifference(DType da, DType db)
{
    if (isInteger(da) && isInteger(db))
        return std::uint64_t{0};
    return 0.0;
}

std::uint64_t countBytesDiffer(const std::byte* a, const std::byte* b, std::size_t n, std::size_t size)
{
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < n; ++i)
        count += std::memcmp(a + i * size, b + i * size, size) != 0;
    return count;
}

template<typename A, typename B>
void diffIntegers(const std::byte* a, const std::byte* b, std::size_t n, ElementDiff& into)
{
    // 64 bits are enough where both fit a signed 64-bit integer, and such loops are vectorised.
    using Wide = std::conditional_t<sizeof(A) == 8 || sizeof(B) == 8, __int128, std::int64_t>;
    std::uint64_t differ = 0;
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Wide x = loadUnaligned<A>(a + i * sizeof(A));
        const Wide y = loadUnaligned<B>(b + i * sizeof(B));
        const Wide d = x > y ? x - y : y - x;
        differ += d != 0;
        largest = std::max(largest, static_cast<std::uint64_t>(d));
    }
    into.valuesDiffer += differ;
    takeMaxAbs(into, largest);
}

void diffDoubles(const double* a, const double* b, std::size_t n, ElementDiff& into)
{
    std::uint64_t differ = 0, nonfinite = 0;
    double largest = -1;
    for (std::size_t i = 0; i < n; ++i) {
        const bool bothNaN = a[i] != a[i] && b[i] != b[i];
        const bool different = a[i] != b[i] && !bothNaN;
        const bool finite = std::isfinite(a[i]) && std::isfinite(b[i]);
        differ += different;
        nonfinite += different && !finite;
        if (finite)
            largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    into.valuesDiffer += differ;
    into.nonfiniteMismatch += nonfinite;
    if (largest >= 0)
        takeMaxAbs(into, largest);
}

void diffComplex(const double* a, const double* b, std::size_t n, ElementDiff& into)
{
    for (std::size_t i = 0; i < n; ++i) {
        const double* x = a + 2 * i;
        const double* y = b + 2 * i;
        const bool bothNaN = (std::isnan(x[0]) || std::isnan(x[1])) && (std::isnan(y[0]) || std::isnan(y[1]));
        const bool different = (x[0] != y[0] || x[1] != y[1]) && !bothNaN;
        const bool finite =
            std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(y[0]) && std::isfinite(y[1]);
        into.valuesDiffer += different;
        into.nonfiniteMismatch += different && !finite;
        if (finite)
            takeMaxAbs(into, std::hypot(x[0] - y[0], x[1] - y[1]));
    }
}

// Pairs of doubles for any type; the imaginary part of a real number is 0.
void decodePairs(DType dtype, const std::byte* from, std::size_t n, double* to)
{
    if (isComplex(dtype))
        return decodeComplex(dtype, from, n, to);
    double reals[kBlock];
    decodeToDouble(dtype, from, n, reals);
    for (std::size_t i = 0; i < n; ++i) {
        to[2 * i] = reals[i];
        to[2 * i + 1] = 0;
    }
}

// One block whose fast kernel was not available or met a value that is not finite.
void diffExactly(DType da, const std::byte* a, DType db, const std::byte* b, std::size_t n, ElementDiff& into)
{
    accumulate(da, {a, n * itemSize(da)}, into.a);
    accumulate(db, {b, n * itemSize(db)}, into.b);
    if (da == db)
        into.bitsDiffer += countBytesDiffer(a, b, n, itemSize(da));
    if (isPacked(da) || isPacked(db)) {
        into.valuesDiffer += da == db ? countBytesDiffer(a, b, n, itemSize(da)) : n;
        return;
    }
    double x[2 * kBlock], y[2 * kBlock];
    if (isComplex(da) || isComplex(db)) {
        decodePairs(da, a, n, x);
        decodePairs(db, b, n, y);
        diffComplex(x, y, n, into);
    } else if (isInteger(da) && isInteger(db)) {
        withIntegerType(da, [&](auto first) {
            withIntegerType(
                db, [&](auto second) { diffIntegers<decltype(first), decltype(second)>(a, b, n, into); });
        });
    } else {
        decodeToDouble(da, a, n, x);
        decodeToDouble(db, b, n, y);
        diffDoubles(x, y, n, into);
    }
}

// Same type, same bytes: one side's statistics hold for both, and every finite element differs by 0.
void takeEqual(DType dtype, const std::byte* a, std::size_t n, ElementDiff& into)
{
    ElementStats block;
    accumulate(dtype, {a, n * itemSize(dtype)}, block);
    into.a.merge(block);
    into.b.merge(block);
    if (hasStatistics(dtype) && block.nan + block.inf < n)
        takeMaxAbs(into, zeroDifference(dtype, dtype));
}

} // namespace

void ElementDiff::merge(const ElementDiff& other)
{
    a.merge(other.a);
    b.merge(other.b);
    valuesDiffer += other.valuesDiffer;
    nonfiniteMismatch += other.nonfiniteMismatch;
    bitsDiffer += other.bitsDiffer;
    takeMaxAbs(*this, other.maxAbs);
}

void accumulateDiff(DType da, const std::byte* a, DType db, const std::byte* b, std::size_t n,
                    ElementDiff& into)
{
    const std::size_t sizeA = itemSize(da), sizeB = itemSize(db);
    const kernels::KernelSet& fast = kernels::fastKernels();
    const kernels::PairKernel kernel = da != db                ? nullptr
                                       : da == DType::Float32  ? fast.pairFloat32
                                       : da == DType::BFloat16 ? fast.pairBFloat16
                                                               : nullptr;
    while (n > 0) {
        std::size_t count = std::min(n, kBlock);
        if (da == db && std::memcmp(a, b, count * sizeA) == 0) {
            takeEqual(da, a, count, into);
        } else {
            FastBlock block;
            const std::size_t even = count - count % kStep;
            if (kernel && even > 0 && kernel(a, b, even, block)) {
                count = even;
                into.a.elements += count;
                into.b.elements += count;
                into.a.squares.add(block.sumA);
                into.b.squares.add(block.sumB);
                widenRange(into.a, block.minA, block.maxA);
                widenRange(into.b, block.minB, block.maxB);
                into.valuesDiffer += block.valuesDiffer;
                into.bitsDiffer += block.bitsDiffer;
                takeMaxAbs(into, block.maxAbs);
            } else {
                diffExactly(da, a, db, b, count, into);
            }
        }
        a += count * sizeA;
        b += count * sizeB;
        n -= count;
    }
}

} // namespace lockstep
