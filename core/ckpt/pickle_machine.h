// A pickle machine that builds data and nothing else. All opcodes of protocols 0 to 5; globals are names, calls of known rebuild
// functions become tensors and plain values, calls of anything else become Objects that keep their arguments.
// Opcodes: Lib/pickletools.py of CPython 3.13.
//
// While it runs, it also follows what torch 2.15.0's weights_only=True unpickler would say and keeps the first objection.
#pragma once

#include "core/ckpt/pickle_session.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace lockstep {

// Where a pickle lies, for messages.
struct PickleInput {
    std::span<const std::byte> bytes; // may be longer than the pickle
    std::uint32_t file = 0;           // index into Checkpoint::files
    std::uint64_t offset = 0;         // of bytes[0] in that file
    bool inflated = false;            // positions count inside the inflated record that starts at `offset`
    std::string record;
};

// Turns a persistent id (any value) into the value it stands for.
class PersistentLoader
{
public:
    virtual ~PersistentLoader() = default;
    virtual CkptResult<NodeId> load(NodeId id) = 0;
};

class PickleMachine
{
public:
    PickleMachine(PickleSession& session, PickleInput input, PersistentLoader* loader)
        : s_(session), b_(session.builder), c_(session.c), in_(std::move(input)), loader_(loader)
    {
    }

    // Runs one pickle from byte `start` of the input.
    CkptResult<NodeId> run(std::uint64_t start = 0);
    // First byte after STOP.
    std::uint64_t end() const { return at_; }

private:
    using Problem = std::optional<CkptProblem>;

    CkptProblem problem(CkptFault fault, std::string why) const;
    Problem step(std::uint8_t opcode);
    // operands
    bool take(std::size_t count, const std::byte*& bytes)
    {
        if (in_.bytes.size() - at_ < count)
            return false;
        bytes = in_.bytes.data() + at_;
        at_ += count;
        return true;
    }
    bool takeLine(std::string_view& line);
    CkptProblem truncated() const;
    Problem pushText(ValueKind kind, std::uint64_t size);
    Problem pushInteger(std::string_view line, bool isLong);
    Problem pushLong(std::uint64_t size);
    Problem pushFloatText();
    Problem pushQuoted();
    Problem pushEscaped();
    // stack
    void push(NodeId id) { stack_.push_back(id); }
    std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
    bool has(std::size_t count) const { return stack_.size() - floor() >= count; }
    NodeId pop();
    std::optional<std::size_t> popMark();
    Problem pushTuple(std::size_t count);
    Problem memoPut(std::uint64_t index);
    Problem memoGet(std::uint64_t index);
    // objects
    Problem global(std::string_view module, std::string_view name);
    NodeId globalNode(std::string_view module, std::string_view name);
    Problem appendItems(NodeId target, std::size_t first);
    Problem setItems(NodeId target, std::size_t first);
    Problem addItems(NodeId target, std::size_t first);
    Problem build();
    Problem persistent(NodeId id);
    Problem call(NodeId callee, NodeId args, bool create);
    ValueKind kind(NodeId id) const { return c_.nodes[id].kind; }
    const PickleSession::Entry* entryOf(NodeId id) const;
    bool allowedGlobal(NodeId id) const;
    void judgeBuild(NodeId target);
    void refuseOpcode(std::uint8_t opcode);

    // pickle_calls.cpp, pickle_tensors.cpp: the known functions. `args` is a Tuple node.
    Problem knownCall(KnownCall which, NodeId callee, NodeId args);
    std::size_t argCount(NodeId args) const { return c_.nodes[args].count; }
    NodeId arg(NodeId args, std::size_t i) const;
    bool intArg(NodeId args, std::size_t i, std::int64_t& value) const;
    bool boolArg(NodeId args, std::size_t i) const;
    CkptProblem badArguments(NodeId callee, const std::string& why) const;
    Problem strided(NodeId args, TensorInfo& info, NodeId callee);
    void checkBounds(const TensorInfo& info, const Checkpoint::StorageUse& use);
    void bits(NodeId metadata, TensorInfo& info) const;
    Problem rebuildTensor(KnownCall which, NodeId callee, NodeId args);
    Problem rebuildQuantised(NodeId callee, NodeId args);
    Problem rebuildSparse(NodeId callee, NodeId args);
    Problem rebuildNested(NodeId callee, NodeId args);
    Problem rebuildWrapper(NodeId callee, NodeId args);
    Problem rebuildFromType(NodeId callee, NodeId args);
    Problem rebuildParameter(KnownCall which, NodeId callee, NodeId args);
    Problem callSize(NodeId callee, NodeId args);
    Problem callDevice(NodeId callee, NodeId args);
    Problem callSet(KnownCall which, NodeId callee, NodeId args);
    Problem callComplex(NodeId callee, NodeId args);
    Problem callGetAttr(NodeId callee, NodeId args);
    Problem callReconstructor(NodeId callee, NodeId args);
    Problem callDict(KnownCall which, NodeId callee, NodeId args);
    Problem callBytes(KnownCall which, NodeId callee, NodeId args);
    Problem callNumpy(KnownCall which, NodeId callee, NodeId args);
    Problem buildNumpy(NodeId target, NodeId state);
    Problem loadFromBytes(NodeId callee, NodeId args);
    Problem foreign(NodeId callee, NodeId args);

    PickleSession& s_;
    NodeBuilder& b_;
    Checkpoint& c_;
    PickleInput in_;
    PersistentLoader* loader_;
    std::uint64_t at_ = 0; // next byte
    std::uint64_t opcodeAt_ = 0;
    std::vector<NodeId> stack_;
    std::vector<std::size_t> marks_;
    std::vector<NodeId> memo_;
    std::unordered_map<std::uint64_t, NodeId> sparseMemo_; // indices far beyond the number of entries
    std::size_t memoCount_ = 0;
    std::vector<std::int64_t> dims_; // of the tensor being rebuilt
};

} // namespace lockstep
