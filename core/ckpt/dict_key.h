// Equality of dictionary keys as Python sees it: 1, 1.0 and True are one key, -0.0 equals 0.0, tuples compare by element, NaN and
// everything that Python cannot hash by value compare by identity.
#pragma once

#include "core/ckpt/checkpoint.h"

namespace lockstep {

bool equalKeys(const Checkpoint& checkpoint, NodeId a, NodeId b);
// Equal keys have equal hashes.
std::uint64_t hashKey(const Checkpoint& checkpoint, NodeId key);

} // namespace lockstep
