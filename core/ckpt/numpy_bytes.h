// A pickled numpy array as numpy has it after loading: native byte order, C order.
#pragma once

#include "core/ckpt/checkpoint.h"

namespace lockstep {

// Element type with the byte order of this machine: ">f4" becomes "<f4".
std::string numpyDtype(const NumpyInfo& info);
// nullopt: objects, or bytes that do not fit the shape.
std::optional<std::string> numpyBytes(const Checkpoint& checkpoint, const NumpyInfo& info);

} // namespace lockstep
