// Compares the tensors of two checkpoints key by key, in one pass over their bytes. Forms: corpus README,
// "pairs".
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/element_diff.h"
#include "core/ckpt/prefix.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

enum class DiffStatus : std::uint8_t {
    Equal, // same type and bits
    Bits,  // equal values, other bits: negative zero, NaN payload
    Values,
    Type, // same shape, other element type; values are compared all the same
    Shape,
    Transposed, // B is A transposed
    OnlyA,
    OnlyB,
    Unreadable, // one side's bytes cannot be read; see `problem`
};
std::string_view diffStatusName(DiffStatus status); // "equal", "dtype", "only_a" ...

struct KeyDiff {
    std::optional<std::string> keyA;
    std::optional<std::string> keyB;
    DiffStatus status = DiffStatus::Equal;
    DType typeA = DType::Float32;
    DType typeB = DType::Float32;
    std::vector<std::int64_t> shapeA;
    std::vector<std::int64_t> shapeB;
    ElementDiff elements;          // valid for Equal, Bits, Values and Type
    bool transposedValues = false; // a square matrix whose transpose is equal
    std::string problem;

    bool compared() const { return status <= DiffStatus::Type; }
};

// Keys that share memory, or hold equal bytes, on one side and not on the other.
struct TieDiff {
    std::vector<std::string> keys; // names of A
    bool tiedA = false;
    bool tiedB = false;
};

struct CheckpointDiff {
    KeyMapping mapping;
    std::vector<KeyDiff> keys; // A's order, then what only B has
    std::vector<TieDiff> ties;
    std::uint64_t bytesRead = 0;

    bool equal() const;
};

struct DiffOptions {
    int threads = 0; // 0: one per core, at most 8
};

CheckpointDiff diffCheckpoints(const Checkpoint& a, const Checkpoint& b, const DiffOptions& options = {});

// The names used as keys: the keys of the state dict joined by dots, or full paths where a step is not a
// string key (optimizer states). Indexed like listTensors(). Wrapper subclasses without elements of their own
// are left out.
struct NamedTensor {
    std::string name;
    std::uint32_t tensor = kNone;
};
std::vector<NamedTensor> namedTensors(const Checkpoint& checkpoint);

// A name and a prefix of a mapping as people read them, safe to print: of a path what `ckpt ls` writes, "model.module.weight" and
// "model.".
std::string shownName(const std::string& name);
std::string shownPrefix(const std::string& prefix);

} // namespace lockstep
