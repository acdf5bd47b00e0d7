// Numbers about the elements of a tensor, gathered in one pass: counts of NaN and infinities, range, norm.
// Exact: the range is that of the stored values, integers are never rounded, and the norm neither overflows
// nor underflows on the way (relative error below 1e-12). Totals of parts of a tensor can be merged, so large
// tensors are cut over threads.
#pragma once

#include "core/ckpt/dtype.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace lockstep {

// A number as its type has it: nothing, an integer, or a float's value as a double.
using ExactNumber = std::variant<std::monostate, std::int64_t, std::uint64_t, double>;
double toDouble(const ExactNumber& number); // NaN for none

// Sum of squares of doubles of any size, with a compensated sum over blocks. Elements beyond 1e+-140 go into
// sums of their own, scaled by powers of two (the method of Blue, ACM TOMS 4 (1978) 15-23, applied to
// blocks).
class SquareSum
{
public:
    enum class Range { Small, Middle, Big };
    static Range rangeOf(double largestMagnitude);
    static double scaleOf(Range range); // factor for the elements before squaring

    // Adds a block's sum of squares of elements multiplied by scaleOf(range).
    void add(double sumOfScaledSquares, Range range = Range::Middle);
    void merge(const SquareSum& other);
    double root() const;

private:
    struct Compensated {
        double sum = 0;
        double error = 0;
        void add(double value);
        double value() const { return sum + error; }
    };
    Compensated small_, middle_, big_;
};

// Of one tensor, or of a part of it.
struct ElementStats {
    std::uint64_t elements = 0;
    std::uint64_t nan = 0; // complex: either part; an element may count in both
    std::uint64_t inf = 0;
    ExactNumber min; // over the elements that are not NaN; none for complex and packed types
    ExactNumber max;
    SquareSum squares; // of the finite elements

    double l2() const { return squares.root(); }
    void merge(const ElementStats& other);
};

// Takes a range of values that are not NaN into account.
void widenRange(ElementStats& stats, double low, double high);

// False for types without numbers of their own (float4 and quantised types below one byte): only `elements`
// is counted.
bool hasStatistics(DType dtype);

// Adds whole elements, little-endian, any alignment. Any thread, one accumulator per thread.
void accumulate(DType dtype, std::span<const std::byte> bytes, ElementStats& into);

} // namespace lockstep
