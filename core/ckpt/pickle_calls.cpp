// The calls a pickle machine understands. Here those of the standard library, and torch's that make no tensor; pickle_tensors.cpp
// and pickle_numpy.cpp have the others.
#include "core/ckpt/bytes.h"
#include "core/ckpt/legacy_reader.h"
#include "core/ckpt/pickle_machine.h"
#include "core/ckpt/utf8.h"

#include <algorithm>
#include <array>

namespace lockstep {
NodeId PickleMachine::arg(NodeId args, std::size_t i) const
{
    return c_.pool[c_.nodes[args].range.first + i];
}

bool PickleMachine::intArg(NodeId args, std::size_t i, std::int64_t& value) const
{
    if (i >= argCount(args))
        return false;
    const Node& n = c_.nodes[arg(args, i)];
    value = n.integer;
    return n.kind == ValueKind::Int || n.kind == ValueKind::Bool;
}

bool PickleMachine::boolArg(NodeId args, std::size_t i) const
{
    std::int64_t value = 0;
    return intArg(args, i, value) && value != 0;
}

CkptProblem PickleMachine::badArguments(NodeId callee, const std::string& why) const
{
    return problem(CkptFault::PickleArguments, std::string(c_.value(callee).text()) + ": " + why);
}

PickleMachine::Problem PickleMachine::callDict(KnownCall which, NodeId callee, NodeId args)
{
    const DictType type = which == KnownCall::OrderedDict ? DictType::Ordered
                          : which == KnownCall::Counter   ? DictType::Counter
                                                          : DictType::Default;
    const std::size_t first = which == KnownCall::DefaultDict ? 1 : 0; // behind the factory
    if (argCount(args) > first + 1)
        return foreign(callee, args);
    if (argCount(args) <= first) {
        push(b_.dict(type));
        return std::nullopt;
    }
    const Value from = c_.value(arg(args, first));
    if (from.is(ValueKind::Dict)) {
        push(b_.copyDict(from.id(), type));
        return std::nullopt;
    }
    // Python 2 writes an OrderedDict as a list of pairs.
    if (which != KnownCall::OrderedDict || !(from.is(ValueKind::List) || from.is(ValueKind::Tuple)))
        return foreign(callee, args);
    const NodeId dict = b_.dict(type);
    for (std::size_t i = 0; i < from.size(); ++i) {
        const Value pair = from.item(i);
        if (!(pair.is(ValueKind::List) || pair.is(ValueKind::Tuple)) || pair.size() != 2)
            return badArguments(callee, "an entry that is not a pair");
        const NodeId key = pair.item(0).id();
        const NodeId value = pair.item(1).id();
        b_.append(dict, {key, value});
    }
    push(dict);
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::callBytes(KnownCall which, NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    const Value first = count > 0 ? c_.value(arg(args, 0)) : Value();
    const Value second = count > 1 ? c_.value(arg(args, 1)) : Value();
    const ValueKind result = which == KnownCall::ByteArray ? ValueKind::ByteArray : ValueKind::Bytes;
    const bool latin1 =
        second.is(ValueKind::Str) &&
        (second.text() == "latin1" || second.text() == "latin-1" || second.text() == "iso-8859-1");
    if (count == 0 && which != KnownCall::Encode) {
        push(b_.text(result, {}));
        return std::nullopt;
    }
    if (first.is(ValueKind::Str) && latin1) {
        std::string bytes;
        if (!utf8ToLatin1(first.text(), bytes))
            return problem(CkptFault::PickleText, "bytes written as text hold a character beyond Latin-1");
        b_.charge(bytes.size() + sizeof bytes);
        push(b_.text(result, c_.keep(std::move(bytes))));
        return std::nullopt;
    }
    if (count == 1 && which != KnownCall::Encode &&
        (first.is(ValueKind::Bytes) || first.is(ValueKind::ByteArray))) {
        push(b_.text(result, first.text()));
        return std::nullopt;
    }
    return foreign(callee, args);
}

PickleMachine::Problem PickleMachine::loadFromBytes(NodeId callee, NodeId args)
{
    constexpr int kMaxNesting = 4;
    if (argCount(args) != 1 || kind(arg(args, 0)) != ValueKind::Bytes)
        return badArguments(callee, "the argument is not bytes");
    if (s_.nesting >= kMaxNesting)
        return badArguments(callee, "files nested in files nested in files");
    const std::string_view text = c_.value(arg(args, 0)).text();
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(text.data()), text.size());
    std::uint32_t file = in_.file;
    std::uint64_t offset = 0;
    const std::byte* start = in_.bytes.data();
    if (!in_.inflated && bytes.data() >= start && bytes.data() <= start + in_.bytes.size()) {
        offset = in_.offset + static_cast<std::uint64_t>(bytes.data() - start);
    } else {
        file = static_cast<std::uint32_t>(c_.files.size());
        b_.charge(512);
        c_.files.push_back(MappedFile::view(bytes, c_.files[in_.file]->name()));
    }
    b_.charge(bytes.size()); // the same bytes may be loaded many times
    if (!b_.withinBudget())
        return problem(CkptFault::PickleTooLarge, "loads more than a file of this size can justify");
    ++s_.nesting;
    auto value = readLegacy(s_, bytes, file, offset);
    --s_.nesting;
    if (!value)
        return value.problem();
    push(*value);
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::callSize(NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    std::vector<std::int64_t> dims;
    if (count > 1 || (count == 1 && !c_.value(arg(args, 0)).appendNumbers(dims)))
        return foreign(callee, args);
    const Node* from = count == 1 ? &c_.nodes[arg(args, 0)] : nullptr;
    std::vector<NodeId> items;
    for (std::uint32_t i = 0; from && i < from->count; ++i)
        items.push_back(c_.pool[from->range.first + i]);
    push(b_.sequence(ValueKind::Size, items));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::callDevice(NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        const Value v = c_.value(arg(args, i));
        if (!v.is(ValueKind::Str) && !v.is(ValueKind::Int))
            return foreign(callee, args);
        text +=
            (i > 0 ? ":" : "") + (v.is(ValueKind::Str) ? std::string(v.text().substr(0, 200)) : v.decimal());
    }
    b_.charge(text.size() + sizeof text);
    push(b_.text(ValueKind::Device, c_.keep(std::move(text))));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::callSet(KnownCall which, NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    if (count > 1)
        return foreign(callee, args);
    const NodeId set = b_.container(which == KnownCall::Set ? ValueKind::Set : ValueKind::FrozenSet);
    if (count == 1) {
        const Value from = c_.value(arg(args, 0));
        if (!from.is(ValueKind::List) && !from.is(ValueKind::Tuple) && !from.is(ValueKind::Set) &&
            !from.is(ValueKind::FrozenSet))
            return foreign(callee, args);
        std::vector<NodeId> items;
        for (std::size_t i = 0; i < from.size(); ++i)
            items.push_back(from.item(i).id());
        b_.append(set, items);
    }
    push(set);
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::callComplex(NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    std::array<double, 2> parts = {};
    for (std::size_t i = 0; i < count; ++i) {
        const Node& n = c_.nodes[arg(args, i)];
        if (i >= 2 || (n.kind != ValueKind::Float && n.kind != ValueKind::Int))
            return foreign(callee, args);
        parts[i] = n.kind == ValueKind::Float ? n.real : static_cast<double>(n.integer);
    }
    b_.charge(64);
    push(b_.complex(parts[0], parts[1]));
    return std::nullopt;
}

// How protocols below 4 write nested classes, and Python 3.11 enum members: a name behind a name.
PickleMachine::Problem PickleMachine::callGetAttr(NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    if (count == 2 && kind(arg(args, 1)) == ValueKind::Str && kind(arg(args, 0)) == ValueKind::Global) {
        const auto* outer = entryOf(arg(args, 0));
        if (!outer || (outer->meaning.call == KnownCall::None && !outer->meaning.storageClass)) {
            const std::string_view base = c_.value(arg(args, 0)).text();
            const std::string_view name = c_.value(arg(args, 1)).text();
            b_.charge(base.size() + name.size() + 64);
            push(b_.text(ValueKind::Global, c_.keep(std::string(base) + "." + std::string(name))));
            return std::nullopt;
        }
    }
    return foreign(callee, args);
}

// (class, base, state): protocols 0 and 1 write instances this way.
PickleMachine::Problem PickleMachine::callReconstructor(NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    if (count < 1 || kind(arg(args, 0)) != ValueKind::Global)
        return foreign(callee, args);
    const auto* entry = entryOf(arg(args, 0));
    if (entry && entry->meaning.call != KnownCall::None)
        return knownCall(entry->meaning.call == KnownCall::Reconstructor ? KnownCall::None
                                                                         : entry->meaning.call,
                         arg(args, 0), b_.emptyTuple());
    const NodeId id = b_.object(arg(args, 0), b_.emptyTuple());
    if (count > 2 && b_.withinBudget()) {
        auto& record = c_.objects[c_.nodes[id].index];
        if (kind(arg(args, 2)) == ValueKind::Dict)
            record.items = arg(args, 2);
        else if (kind(arg(args, 2)) == ValueKind::List)
            record.list = arg(args, 2);
    }
    push(id);
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::knownCall(KnownCall which, NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    switch (which) {
    case KnownCall::RebuildTensor:
    case KnownCall::RebuildTensorV2:
    case KnownCall::RebuildTensorV3:
        return rebuildTensor(which, callee, args);
    case KnownCall::RebuildParameter:
    case KnownCall::RebuildParameterWithState:
        return rebuildParameter(which, callee, args);
    case KnownCall::RebuildQTensor:
        return rebuildQuantised(callee, args);
    case KnownCall::RebuildSparse:
        return rebuildSparse(callee, args);
    case KnownCall::RebuildMeta:
        if (count != 4)
            return badArguments(callee, "not four arguments");
        return rebuildWrapper(callee, args);
    case KnownCall::RebuildWrapper:
        if (count < 8)
            return badArguments(callee, "arguments are missing");
        return rebuildWrapper(callee, args);
    case KnownCall::RebuildNested:
        return rebuildNested(callee, args);
    case KnownCall::RebuildFromTypeV2:
        return rebuildFromType(callee, args);
    case KnownCall::JitValue:
        if (count < 1)
            return badArguments(callee, "no argument");
        push(arg(args, 0));
        return std::nullopt;
    case KnownCall::OrderedDict:
    case KnownCall::DefaultDict:
    case KnownCall::Counter:
        return callDict(which, callee, args);
    case KnownCall::Size:
        return callSize(callee, args);
    case KnownCall::Device:
        return callDevice(callee, args);
    case KnownCall::GetLayout:
        if (count != 1 || kind(arg(args, 0)) != ValueKind::Str)
            return foreign(callee, args);
        push(b_.text(ValueKind::Layout, c_.value(arg(args, 0)).text()));
        return std::nullopt;
    case KnownCall::Encode:
    case KnownCall::ByteArray:
    case KnownCall::Bytes:
        return callBytes(which, callee, args);
    case KnownCall::Set:
    case KnownCall::FrozenSet:
        return callSet(which, callee, args);
    case KnownCall::Complex:
        return callComplex(callee, args);
    case KnownCall::NumpyReconstruct:
    case KnownCall::NumpyScalar:
    case KnownCall::NumpyDtype:
        return callNumpy(which, callee, args);
    case KnownCall::GetAttr:
        return callGetAttr(callee, args);
    case KnownCall::Reconstructor:
        return callReconstructor(callee, args);
    case KnownCall::LoadFromBytes:
        return loadFromBytes(callee, args);
    case KnownCall::None:
        break;
    }
    return foreign(callee, args);
}

} // namespace lockstep
