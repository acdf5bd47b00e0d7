// Rounds floats to another float type as torch's .to(dtype) does: to nearest, ties to even, by way of float32.
#pragma once

#include "core/ckpt/dtype.h"

#include <cstddef>

namespace lockstep {

// Types convertFloats() can write: float64, float32, float16, bfloat16.
bool canConvertTo(DType dtype);

// n elements of a float type `from` at `in` (any alignment) to `to` at `out`.
void convertFloats(DType from, const std::byte* in, std::size_t n, DType to, std::byte* out);

} // namespace lockstep
