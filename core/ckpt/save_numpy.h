// numpy arrays and scalars of a pickle as what torch loads with weights_only=True: tensors and numbers.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/save_value.h"

namespace lockstep {

// A tensor over the array's own bytes, which live in the checkpoint. nullopt for objects, foreign byte order, and element types
// torch does not have.
std::optional<SaveTensor> tensorFromNumpy(const Checkpoint& checkpoint, const NumpyInfo& array);

// A Python number; nullopt for element types torch does not have.
std::optional<SaveValue> numberFromNumpy(const NumpyInfo& scalar);

} // namespace lockstep
