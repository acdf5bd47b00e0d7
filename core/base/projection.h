// Fixed-seed random projections of a gradient in float64. They are linear, so the weighted sum of the ranks' projections
// before the reduction must equal the projection after it: that can be checked without keeping any gradient.
//
// Projection k of a list of tensors is the sum over its elements of sign_k(i) * g[i], where i numbers the elements of the
// list through in row-major order and sign_k(i) is -1 if bit k of fingerprintMix(i, kProjectionSeed) is set, else +1.
// Each tensor is summed in kNormLanes lanes as a norm is (fingerprint.h), with i counted from the tensor's first element;
// the sums of the tensors are added in list order.
#pragma once

#include "core/base/fingerprint.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

inline constexpr int kProjections = 4;
inline constexpr std::uint64_t kProjectionSeed = 0x4c6f636b73746570ULL; // "Lockstep"

using Projection = std::array<double, kProjections>;

// Bits 0 to 3 of element i are the signs of element i of the list.
std::vector<std::uint8_t> projectionSigns(std::size_t elements);

// One tensor's share of a gradient's norm and projections.
struct GradientSums {
    double squares = 0;
    Projection projection = {};
};
// `signs` points at the signs of the tensor's first element.
GradientSums gradientSums(const float* data, const std::uint8_t* signs, std::size_t count);

} // namespace lockstep
