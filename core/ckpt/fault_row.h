// Rows of the catalogue for faults that the readers found.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/fault.h"

#include <string_view>

namespace lockstep {

// Row of a fault that stands alone, in a checkpoint of that form.
std::string_view faultRow(const CkptProblem& problem, Container container);

// Row of a zip of `size` bytes that was cut. What torch says about it depends on the size alone: between about 4 and 64 KiB its
// search for the end record runs into the beginning of the file. That text has a row of its own.
std::string_view cutZipRow(std::uint64_t size);

} // namespace lockstep
