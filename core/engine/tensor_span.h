// Where a tensor's bytes lie, without torch's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

struct TensorSpan {
    const void* data = nullptr; // contiguous
    std::size_t count = 0;
    std::uint32_t elementSize = 4;
    bool isFloat = true; // float32: has a norm

    const float* floats() const { return static_cast<const float*>(data); }
};
using TensorSpans = std::vector<TensorSpan>;

} // namespace lockstep
