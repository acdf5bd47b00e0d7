// Adds values to a checkpoint's tree. Containers grow in one shared pool of children, so half a million small tuples cost no
// allocation each. Everything a reader builds from a file is charged against a budget that follows from the file's size.
#pragma once

#include "core/ckpt/checkpoint.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

class NodeBuilder
{
public:
    explicit NodeBuilder(Checkpoint& checkpoint) : c(checkpoint) {}

    // Raises the budget by what `bytes` bytes of input may justify.
    void allow(std::uint64_t bytes);
    // Room for a pickle of `bytes` bytes with about `tensors` tensors, so that nothing has to move while it grows. Memory that is
    // not used is never touched.
    void expect(std::uint64_t bytes, std::size_t tensors);
    // Takes memory that is not a node from the budget.
    void charge(std::uint64_t bytes);
    // False once more was built than the input justifies; the reader stops then.
    bool withinBudget() const { return !exhausted_; }

    NodeId none() { return singleton(none_, ValueKind::None); }
    NodeId boolean(bool value);
    NodeId integer(std::int64_t value);
    NodeId bigInt(std::string_view twosComplement); // shortest form is the caller's concern
    NodeId real(double value);
    NodeId complex(double re, double im);
    NodeId text(ValueKind kind, std::string_view bytes); // bytes stay where they are: see Checkpoint::keep
    NodeId emptyTuple() { return singleton(emptyTuple_, ValueKind::Tuple); }
    NodeId container(ValueKind kind); // List, Set, FrozenSet, Dict, empty
    NodeId dict(DictType type);
    NodeId sequence(ValueKind kind, std::span<const NodeId> items); // Tuple, FrozenSet, Size, List
    NodeId object(NodeId cls, NodeId args);
    NodeId reference(ValueKind kind, std::uint32_t index); // Storage
    NodeId tensor(const TensorInfo& info);
    // A row-major tensor put together from the pieces that were added since there were `firstPiece` of them.
    NodeId piecedTensor(DType dtype, std::span<const std::int64_t> shape, std::size_t firstPiece);

    // `items` may point into the pool only if nothing is appended to it meanwhile.
    void append(NodeId container, std::span<const NodeId> items);
    void append(NodeId container, std::initializer_list<NodeId> items)
    {
        append(container, std::span<const NodeId>(items.begin(), items.size()));
    }
    NodeId copyDict(NodeId dict, DictType type);

    std::uint32_t addDims(std::span<const std::int64_t> values);
    // Dict semantics for all dicts and sets from `first` on: a key given twice keeps its place and takes the later value; 1, 1.0
    // and True are one key.
    void mergeKeys(NodeId first);

    Checkpoint& c;

private:
    NodeId add(Node node);
    NodeId singleton(NodeId& cache, ValueKind kind);
    bool affords(std::size_t children); // whether the pool may grow by so many
    std::uint32_t reserve(std::size_t count);

    std::uint64_t budget_ = 8u << 20;
    bool exhausted_ = false;
    NodeId none_ = kNone;
    NodeId true_ = kNone;
    NodeId false_ = kNone;
    NodeId emptyTuple_ = kNone;
    NodeId small_[256] = {};
    bool smallReady_ = false;
};

} // namespace lockstep
