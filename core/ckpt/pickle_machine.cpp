#include "core/ckpt/pickle_machine.h"

#include "core/ckpt/bytes.h"
#include "core/ckpt/pickle_text.h"
#include "core/ckpt/utf8.h"

#include <algorithm>
#include <cstdlib>

namespace lockstep {

CkptProblem PickleMachine::problem(CkptFault fault, std::string why) const
{
    CkptProblem p;
    p.fault = fault;
    p.offset = in_.inflated ? in_.offset : in_.offset + opcodeAt_;
    p.file = in_.file < c_.files.size() ? c_.files[in_.file]->name() : std::string();
    p.record = in_.record;
    p.why = std::move(why);
    if (in_.inflated)
        p.why += " (byte " + std::to_string(opcodeAt_) + " of the inflated record)";
    p.fatal = true;
    return p;
}

CkptProblem PickleMachine::truncated() const
{
    return problem(CkptFault::PickleTruncated, "the pickle ends in the middle of an instruction");
}

bool PickleMachine::takeLine(std::string_view& line)
{
    const std::string_view rest = asText(in_.bytes.subspan(at_));
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos)
        return false;
    line = rest.substr(0, end);
    at_ += end + 1;
    return true;
}

NodeId PickleMachine::pop()
{
    const NodeId id = stack_.back();
    stack_.pop_back();
    return id;
}

std::optional<std::size_t> PickleMachine::popMark()
{
    if (marks_.empty())
        return std::nullopt;
    const std::size_t first = marks_.back();
    marks_.pop_back();
    return first;
}

PickleMachine::Problem PickleMachine::pushTuple(std::size_t count)
{
    if (!has(count))
        return problem(CkptFault::PickleStack, "a tuple of more values than are on the stack");
    const NodeId id = b_.sequence(ValueKind::Tuple, std::span<const NodeId>(stack_).last(count));
    stack_.resize(stack_.size() - count);
    push(id);
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::memoPut(std::uint64_t index)
{
    if (!has(1))
        return problem(CkptFault::PickleStack, "nothing to remember");
    const NodeId id = stack_.back();
    if (index == memo_.size()) { // what every writer does
        memo_.push_back(id);
        ++memoCount_;
        return std::nullopt;
    }
    if (index < memo_.size()) {
        if (memo_[index] == kNone)
            ++memoCount_;
        memo_[index] = id;
        return std::nullopt;
    }
    // Dense up to twice the number of entries; anything else must not reserve what it merely announces.
    if (index < 2 * memoCount_ + 1024) {
        memo_.resize(static_cast<std::size_t>(index) + 1, kNone);
        memo_[index] = id;
        ++memoCount_;
    } else if (sparseMemo_.insert_or_assign(index, id).second) {
        ++memoCount_;
        b_.charge(32);
    }
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::memoGet(std::uint64_t index)
{
    NodeId id = index < memo_.size() ? memo_[index] : kNone;
    if (id == kNone)
        if (const auto it = sparseMemo_.find(index); it != sparseMemo_.end())
            id = it->second;
    if (id == kNone)
        return problem(CkptFault::PickleMemo, "memo slot " + std::to_string(index) + " was never written");
    push(id);
    return std::nullopt;
}

NodeId PickleMachine::globalNode(std::string_view module, std::string_view name)
{
    std::string key;
    key.reserve(module.size() + name.size() + 1);
    key.append(module).append(1, '\0').append(name);
    const auto found = s_.globals.find(key);
    if (found != s_.globals.end()) {
        ++c_.globals[found->second.use].uses;
        return found->second.node;
    }
    PickleSession::Entry entry;
    entry.meaning = meaningOfGlobal(module, name);
    const GlobalMeaning& m = entry.meaning;
    b_.charge(4 * key.size() + 256);
    if (!m.dtype.empty())
        entry.node = b_.text(ValueKind::DtypeRef, m.dtype);
    else if (!m.scheme.empty())
        entry.node = b_.text(ValueKind::QScheme, m.scheme);
    else
        entry.node = b_.text(ValueKind::Global, c_.keep(m.name));
    GlobalUse use;
    use.name = m.name;
    use.allowed = m.allowed;
    use.offset = in_.inflated ? in_.offset : in_.offset + opcodeAt_;
    use.uses = 1;
    entry.use = static_cast<std::uint32_t>(c_.globals.size());
    c_.globals.push_back(std::move(use));
    const auto it = s_.globals.emplace(c_.keep(std::move(key)), std::move(entry)).first;
    s_.byNode[it->second.node] = &it->second;
    return it->second.node;
}

PickleMachine::Problem PickleMachine::global(std::string_view module, std::string_view name)
{
    if (!validUtf8(module) || !validUtf8(name))
        return problem(CkptFault::PickleText, "a global whose name is not UTF-8");
    const NodeId id = globalNode(module, name);
    if (!allowedGlobal(id)) {
        const auto* entry = entryOf(id);
        const std::string& full = entry ? entry->meaning.name : std::string();
        if (full.starts_with("torch.distributed.tensor.") ||
            full == "torch.distributed.device_mesh.DeviceMesh")
            s_.refuse("``torch.distributed.tensor`` must be imported to load DTensors");
        else
            s_.refuse("Unsupported global: GLOBAL " +
                      (full.starts_with("builtins.") ? full.substr(9) : full).substr(0, 400) +
                      " was not an allowed global by default.");
    }
    push(id);
    return std::nullopt;
}

const PickleSession::Entry* PickleMachine::entryOf(NodeId id) const
{
    const auto it = s_.byNode.find(id);
    return it == s_.byNode.end() ? nullptr : it->second;
}

bool PickleMachine::allowedGlobal(NodeId id) const
{
    const auto* entry = entryOf(id);
    return entry && entry->meaning.allowed;
}

PickleMachine::Problem PickleMachine::appendItems(NodeId target, std::size_t first)
{
    const auto items = std::span<const NodeId>(stack_).subspan(first);
    NodeId list = target;
    if (kind(target) == ValueKind::Object) {
        s_.refuse("Can only append to lists");
        NodeId& own = c_.objects[c_.nodes[target].index].list;
        if (own == kNone)
            own = b_.container(ValueKind::List);
        list = own;
    } else if (kind(target) != ValueKind::List) {
        return problem(CkptFault::PickleType, "appends to something that is not a list");
    }
    b_.append(list, items);
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::setItems(NodeId target, std::size_t first)
{
    const auto items = std::span<const NodeId>(stack_).subspan(first);
    if (items.size() % 2 != 0)
        return problem(CkptFault::PickleStack, "a key without a value");
    NodeId dict = target;
    if (kind(target) == ValueKind::Object) {
        s_.refuse("Can only SETITEM for dict, collections.OrderedDict, collections.Counter");
        NodeId& own = c_.objects[c_.nodes[target].index].items;
        if (own == kNone)
            own = b_.dict(DictType::Plain);
        dict = own;
    } else if (kind(target) != ValueKind::Dict) {
        return problem(CkptFault::PickleType, "sets an item of something that is not a dict");
    } else if (c_.nodes[target].flags == static_cast<std::uint8_t>(DictType::Default)) {
        s_.refuse("Can only SETITEM for dict, collections.OrderedDict, collections.Counter");
    }
    b_.append(dict, items);
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::addItems(NodeId target, std::size_t first)
{
    const auto items = std::span<const NodeId>(stack_).subspan(first);
    NodeId set = target;
    if (kind(target) == ValueKind::Object) {
        NodeId& own = c_.objects[c_.nodes[target].index].list;
        if (own == kNone)
            own = b_.container(ValueKind::List);
        set = own;
    } else if (kind(target) != ValueKind::Set) {
        return problem(CkptFault::PickleType, "adds to something that is not a set");
    }
    b_.append(set, items);
    return std::nullopt;
}

void PickleMachine::judgeBuild(NodeId target)
{
    const Node& n = c_.nodes[target];
    bool fine = false;
    switch (n.kind) {
    case ValueKind::Tensor:
        fine = c_.tensors[n.index].pyClass == kNone;
        break;
    case ValueKind::Dict:
        fine = n.flags == static_cast<std::uint8_t>(DictType::Ordered) ||
               n.flags == static_cast<std::uint8_t>(DictType::Counter);
        break;
    case ValueKind::Object:
        fine = allowedGlobal(c_.objects[n.index].cls);
        break;
    default:
        break;
    }
    if (!fine)
        s_.refuse(
            "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`");
}

PickleMachine::Problem PickleMachine::build()
{
    if (!has(2))
        return problem(CkptFault::PickleStack, "no object or no state to build it from");
    const NodeId state = pop();
    const NodeId target = stack_.back();
    judgeBuild(target);
    const Node& n = c_.nodes[target];
    switch (n.kind) {
    case ValueKind::Object:
        c_.objects[n.index].state = state;
        return std::nullopt;
    case ValueKind::Tensor:
        c_.tensors[n.index].attributes = state;
        return std::nullopt;
    case ValueKind::NumpyArray:
    case ValueKind::NumpyDtype:
        return buildNumpy(target, state);
    case ValueKind::Dict:
        if (n.flags == static_cast<std::uint8_t>(DictType::Ordered) ||
            n.flags == static_cast<std::uint8_t>(DictType::Counter)) {
            b_.charge(8);
            c_.dictStates.emplace_back(target, state);
            return std::nullopt;
        }
        [[fallthrough]];
    default:
        return problem(CkptFault::PickleType, "gives a state to a value that has none");
    }
}

PickleMachine::Problem PickleMachine::persistent(NodeId id)
{
    const ValueKind k = kind(id);
    const bool tuple = k == ValueKind::Tuple && c_.nodes[id].count > 0;
    const Value first = tuple ? c_.value(c_.pool[c_.nodes[id].range.first]) : Value();
    if (!(k == ValueKind::Int ||
          (tuple && (first.is(ValueKind::Str) || first.is(ValueKind::Bytes)) && first.text() == "storage")))
        s_.refuse("Only persistent_load of storage is allowed");
    if (!loader_)
        return problem(CkptFault::PicklePersistentId,
                       "a persistent id, which this kind of file does not have");
    auto value = loader_->load(id);
    if (!value) {
        CkptProblem p = value.problem();
        if (p.why.empty())
            return problem(p.fault, "a persistent id of unknown form");
        CkptProblem placed = problem(p.fault, p.why);
        if (!p.record.empty())
            placed.record = p.record;
        placed.detail = p.detail;
        return placed;
    }
    push(*value);
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::call(NodeId callee, NodeId args, bool create)
{
    if (kind(args) != ValueKind::Tuple)
        return problem(CkptFault::PickleType, "arguments that are not a tuple");
    if (!allowedGlobal(callee))
        s_.refuse(
            create
                ? "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals`"
                : "Trying to call reduce for unrecognized function");
    const auto* entry = entryOf(callee);
    if (entry && entry->meaning.call != KnownCall::None)
        return knownCall(entry->meaning.call, callee, args);
    return foreign(callee, args);
}

PickleMachine::Problem PickleMachine::foreign(NodeId callee, NodeId args)
{
    switch (kind(callee)) {
    case ValueKind::Global:
        break;
    case ValueKind::Object: {
        // A bound method or the like that a foreign call returned: keep that it was called.
        const std::string_view inner = c_.value(callee).className();
        b_.charge(inner.size() + 48);
        callee = b_.text(ValueKind::Global, c_.keep("result of " + std::string(inner.substr(0, 200))));
        break;
    }
    default:
        return problem(CkptFault::PickleType, "calls a value that is neither a class nor a function");
    }
    push(b_.object(callee, args));
    return std::nullopt;
}

CkptResult<NodeId> PickleMachine::run(std::uint64_t start)
{
    const auto firstNode = static_cast<NodeId>(c_.nodes.size());
    at_ = std::min<std::uint64_t>(start, in_.bytes.size());
    stack_.clear();
    marks_.clear();
    memo_.clear();
    sparseMemo_.clear();
    memoCount_ = 0;
    memo_.reserve(std::min<std::size_t>((in_.bytes.size() - at_) / 16, 1u << 20));
    for (;;) {
        opcodeAt_ = at_;
        if (at_ >= in_.bytes.size())
            return problem(CkptFault::PickleTruncated, "the pickle ends without STOP");
        const auto op = static_cast<std::uint8_t>(in_.bytes[at_++]);
        if (op == '.') // STOP
            break;
        if (auto failed = step(op))
            return *failed;
        if (!b_.withinBudget())
            return problem(CkptFault::PickleTooLarge, "builds more than a file of this size can justify");
    }
    if (!has(1))
        return problem(CkptFault::PickleStack, "STOP without a value");
    c_.pickleBytes += at_ - start;
    b_.mergeKeys(firstNode);
    return stack_.back();
}

} // namespace lockstep
