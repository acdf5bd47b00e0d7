// Shapes and strides, in elements. The numbers may come from files: nothing here overflows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep {

// Wraps only beside a dimension of 0, where nothing is addressed, and for shapes that no storage holds.
std::vector<std::int64_t> rowMajorStride(std::span<const std::int64_t> shape);

// One past the last element of its storage that a view reaches; 0 for a view without elements. nullopt: a number is negative,
// `shape` and `stride` differ in length, or 63 bits cannot count that far.
std::optional<std::int64_t> viewEnd(std::span<const std::int64_t> shape, std::span<const std::int64_t> stride,
                                    std::int64_t offset);

} // namespace lockstep
