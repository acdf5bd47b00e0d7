// What the manifest says about a value that is no tensor.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/ckpt_json.h"

namespace lockstep {

// Adds the fields of `value` to the open object. `packed`: a list or tuple of many ints, written as one hash. `sha256`: of a bare
// storage's bytes; empty: they were not read.
void writePlainValue(CkptJson& d, const Checkpoint& checkpoint, Value value, bool packed,
                     std::string_view sha256);

} // namespace lockstep
