// The chunks of a tensor in a distributed checkpoint: boxes, of which every element of the tensor lies in exactly one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

// Offsets, then sizes: one of each per dimension of the tensor.
using DcpBox = std::vector<std::int64_t>;

// The box of a tensor that is one chunk.
DcpBox boxOf(std::span<const std::int64_t> shape);

// Why the box does not lie in a tensor of this shape.
std::optional<std::string> boxFault(const DcpBox& box, std::span<const std::int64_t> shape);

// Why the boxes, each of which lies in the tensor, do not fill its `elements` exactly once. Overlap is looked for among at most
// 1,500 boxes; of more only the sum is compared.
std::optional<std::string> coverFault(const std::vector<DcpBox>& boxes, std::int64_t elements);

} // namespace lockstep
