// Steps of the paths of leaves (walk.h), written.
#pragma once

#include "core/ckpt/checkpoint.h"

#include <string>

namespace lockstep {

// "s:weight", "i:3", "t:(s:a,i:2)" ...; a key of a kind that cannot be written out becomes its position: "o:3".
void appendKeyStep(std::string& path, Value key, std::size_t position);
// Name of an attribute: text without a tag, other keys as above.
void appendAttribute(std::string& path, Value key, std::size_t position);

} // namespace lockstep
