// Compares two runs of elements in one pass, with the statistics of both sides.
#pragma once

#include "core/ckpt/stats.h"

namespace lockstep {

struct ElementDiff {
    ElementStats a;
    ElementStats b;
    std::uint64_t valuesDiffer = 0;      // neither equal nor both NaN
    std::uint64_t nonfiniteMismatch = 0; // those of them where at least one side is NaN or infinite
    std::uint64_t bitsDiffer = 0;        // elements whose bytes differ; meaningless for different types
    // Largest |a - b| where both are finite: a std::uint64_t if both types are integers, else a double
    // (infinity if the difference overflows; modulus for complex). None if there is no such element.
    ExactNumber maxAbs;

    void merge(const ElementDiff& other);
};

// n elements at a (of type da) and b (of type db). Different types are compared exactly if both are integers,
// else as doubles; a real number against a complex one has imaginary part 0. Packed types are compared by
// bytes alone.
void accumulateDiff(DType da, const std::byte* a, DType db, const std::byte* b, std::size_t n,
                    ElementDiff& into);

} // namespace lockstep
