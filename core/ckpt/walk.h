// The leaves of a checkpoint with their paths, in the form of the manifest: "/s:model/s:weight". Container
// keys become steps
// "/TAG:PAYLOAD"; all bytes of text except A-Z a-z 0-9 . _ - are written %XX. Tags: s str, i int, b bool, n
// None, f float, y bytes, t tuple, o any other key; l list element, u tuple element, a attribute, g other
// state, r argument of a call, c part of a sparse, quantised or nested tensor.
#pragma once

#include "core/ckpt/checkpoint.h"

#include <functional>

namespace lockstep {

struct Leaf {
    std::string_view path; // valid during the call only
    Value value;           // for a cycle: the container seen again
    bool cycle = false;    // the container at `target` contains itself here
    std::string_view target;
    bool packed = false; // a list or tuple of more than 64 ints, listed as one entry
};

// The walk follows no recursion of the input and is bounded: a DAG that unfolds into more leaves or longer
// paths than the file can justify ends early.
struct WalkResult {
    std::uint64_t leaves = 0;
    bool complete = true;
};
WalkResult walkLeaves(const Checkpoint& checkpoint, const std::function<void(const Leaf&)>& visit);

// One tensor a person would call a key.
struct TensorLeaf {
    std::string path; // as above
    std::string name; // keys joined by dots: "model.layer.weight"
    NodeId node = kNone;
    const TensorInfo* tensor = nullptr;
};
// All strided, quantised and sharded tensors in file order; parts of sparse tensors included.
std::vector<TensorLeaf> listTensors(const Checkpoint& checkpoint);

// Last step of a path as people write it, and a whole path joined by dots. Undoes the %XX; control characters
// stay escaped.
std::string displayName(std::string_view path);

// Text from a file, safe for a terminal or a window: control characters, broken UTF-8 and marks that turn the direction of writing
// become \xNN.
std::string printable(std::string_view text);

} // namespace lockstep
