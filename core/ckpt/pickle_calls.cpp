// The calls a pickle machine understands: torch's rebuild functions, a few containers of the standard library, numpy arrays.
// Signatures: torch/_utils.py and torch/_tensor.py of torch 1.7 to 2.15, numpy/_core/multiarray.
#include "core/ckpt/bytes.h"
#include "core/ckpt/legacy_reader.h"
#include "core/ckpt/pickle_machine.h"
#include "core/ckpt/utf8.h"

#include <algorithm>
#include <array>

namespace lockstep {
namespace {

constexpr std::size_t kMaxRank = 255;
constexpr std::size_t kMaxProblems = 1000;

bool textKind(ValueKind kind)
{
    return kind == ValueKind::Str || kind == ValueKind::Bytes;
}

std::string_view withoutTorch(std::string_view name)
{
    if (name.starts_with("torch."))
        name.remove_prefix(6);
    return name;
}

std::optional<Layout> layoutFromName(std::string_view name)
{
    name = withoutTorch(name);
    for (int i = 0; i <= static_cast<int>(Layout::SparseBsc); ++i)
        if (layoutName(static_cast<Layout>(i)) == name)
            return static_cast<Layout>(i);
    return std::nullopt;
}

} // namespace

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

bool PickleMachine::dimsArg(NodeId id, std::vector<std::int64_t>& dims) const
{
    const Node& n = c_.nodes[id];
    if (n.kind != ValueKind::Tuple && n.kind != ValueKind::List && n.kind != ValueKind::Size)
        return false;
    if (n.count > kMaxRank)
        return false;
    for (std::uint32_t i = 0; i < n.count; ++i) {
        const Node& item = c_.nodes[c_.pool[n.range.first + i]];
        if (item.kind != ValueKind::Int)
            return false;
        dims.push_back(item.integer);
    }
    return true;
}

CkptProblem PickleMachine::badArguments(NodeId callee, const std::string& why) const
{
    return problem(CkptFault::PickleArguments, std::string(c_.value(callee).text()) + ": " + why);
}

NodeId PickleMachine::addTensor(const TensorInfo& info)
{
    b_.charge(sizeof info);
    c_.tensors.push_back(info);
    return b_.reference(ValueKind::Tensor, static_cast<std::uint32_t>(c_.tensors.size() - 1));
}

// (storage, offset, size, stride, ...) of every strided tensor.
PickleMachine::Problem PickleMachine::strided(NodeId args, TensorInfo& info, NodeId callee)
{
    if (argCount(args) < 4 || kind(arg(args, 0)) != ValueKind::Storage)
        return badArguments(callee, "the first argument is not a storage");
    const Checkpoint::StorageUse use = c_.storageUses[c_.nodes[arg(args, 0)].index];
    std::vector<std::int64_t> dims;
    if (!intArg(args, 1, info.offset) || !dimsArg(arg(args, 2), dims))
        return badArguments(callee, "offset or size is not made of whole numbers");
    const std::size_t rank = dims.size();
    if (!dimsArg(arg(args, 3), dims))
        return badArguments(callee, "the stride is not made of whole numbers");
    if (dims.size() != 2 * rank)
        return problem(CkptFault::TensorShape, "size has " + std::to_string(rank) +
                                                   " dimensions, stride has " +
                                                   std::to_string(dims.size() - rank));
    info.rank = static_cast<std::uint8_t>(rank);
    info.storage = use.storage;
    info.dtype = use.dtype.value_or(DType::UInt8);
    for (const std::int64_t n : dims)
        if (n < 0)
            return problem(CkptFault::TensorShape, "a size or stride of " + std::to_string(n));
    b_.charge(dims.size() * sizeof(std::int64_t));
    info.dims = b_.addDims(dims);
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::checkBounds(const TensorInfo& info, const Checkpoint::StorageUse& use,
                                                  NodeId)
{
    const StorageInfo& storage = c_.storages[use.storage];
    if (storage.meta)
        return std::nullopt;
    std::int64_t last = info.offset;
    bool fits = info.offset >= 0;
    bool empty = false;
    const auto shape = c_.shape(info);
    const auto stride = c_.stride(info);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        std::int64_t reach = 0;
        empty = empty || shape[d] == 0;
        fits = fits && mulInto<std::int64_t>(shape[d] - 1, stride[d], reach) && addInto(last, reach, last);
    }
    if (empty && info.offset >= 0)
        return std::nullopt;
    // What the pickle announces counts here; whether the record is as long is a question of its own.
    std::int64_t announced = 0;
    const std::int64_t unit = use.dtype ? static_cast<std::int64_t>(itemSize(*use.dtype)) : 1;
    const auto size = static_cast<std::int64_t>(itemSize(info.dtype));
    std::int64_t need = 0;
    fits = fits && mulInto(use.elements, unit, announced) && addInto<std::int64_t>(last, 1, need) &&
           mulInto(need, size, need) && need <= announced;
    if (fits || c_.problems.size() >= kMaxProblems)
        return std::nullopt;
    CkptProblem p = problem(CkptFault::TensorBounds, "a tensor reaches element " + std::to_string(last) +
                                                         " of a storage of " + std::to_string(use.elements));
    p.fatal = false;
    p.record = "storage " + std::string(storage.key);
    c_.problems.push_back(std::move(p));
    return std::nullopt;
}

void PickleMachine::bits(NodeId metadata, TensorInfo& info) const
{
    const Value v = c_.value(metadata);
    const auto set = [&](std::string_view name) {
        const Value flag = v.get(name);
        return flag.is(ValueKind::Bool) && flag.boolean();
    };
    info.conj = set("conj");
    info.neg = set("neg");
}

PickleMachine::Problem PickleMachine::rebuildTensor(KnownCall which, NodeId callee, NodeId args)
{
    TensorInfo info;
    if (auto failed = strided(args, info, callee))
        return failed;
    std::size_t metadata = 6;
    if (which == KnownCall::RebuildTensorV3) {
        if (argCount(args) < 7 || kind(arg(args, 6)) != ValueKind::DtypeRef)
            return badArguments(callee, "the seventh argument is not an element type");
        const std::string_view name = c_.value(arg(args, 6)).text();
        const auto type = dtypeFromName(name);
        if (!type)
            return problem(CkptFault::TensorType, "element type " + std::string(name) + " is not known");
        info.dtype = *type;
        metadata = 7;
    }
    if (which != KnownCall::RebuildTensor) {
        if (argCount(args) < 6)
            return badArguments(callee, "arguments are missing");
        info.requiresGrad = boolArg(args, 4);
        if (argCount(args) > metadata)
            bits(arg(args, metadata), info);
    }
    if (auto failed = checkBounds(info, c_.storageUses[c_.nodes[arg(args, 0)].index], callee))
        return failed;
    push(addTensor(info));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::rebuildQuantised(NodeId callee, NodeId args)
{
    TensorInfo info;
    if (auto failed = strided(args, info, callee))
        return failed;
    if (argCount(args) < 5 || kind(arg(args, 4)) != ValueKind::Tuple || argCount(arg(args, 4)) < 3)
        return badArguments(callee, "no quantiser");
    const NodeId q = arg(args, 4);
    if (kind(arg(q, 0)) != ValueKind::QScheme)
        return badArguments(callee, "no quantisation scheme");
    TensorExtra extra;
    extra.scheme = c_.value(arg(q, 0)).text();
    if (extra.scheme.starts_with("per_tensor")) {
        const Node& scale = c_.nodes[arg(q, 1)];
        if ((scale.kind != ValueKind::Float && scale.kind != ValueKind::Int) ||
            !intArg(q, 2, extra.zeroPoint))
            return badArguments(callee, "scale or zero point is not a number");
        extra.scale = scale.kind == ValueKind::Float ? scale.real : static_cast<double>(scale.integer);
    } else {
        if (!intArg(q, 3, extra.axis) || extra.axis < 0 || extra.axis >= info.rank)
            return badArguments(callee, "the axis lies outside the tensor");
        // One scale and one zero point per index of the axis: an unchecked count is how pytorch#184652 read past the end.
        for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
            const Value v = c_.value(arg(q, i));
            const auto count = v.is(ValueKind::Tensor) ? c_.elements(v.tensor())
                               : v.is(ValueKind::List) ? std::optional<std::int64_t>(v.size())
                                                       : std::nullopt;
            if (!count || *count != c_.shape(info)[static_cast<std::size_t>(extra.axis)])
                return badArguments(callee, "scales or zero points do not match the axis");
        }
        extra.parts = {{"scales", arg(q, 1)}, {"zero_points", arg(q, 2)}};
    }
    info.requiresGrad = boolArg(args, 5);
    if (auto failed = checkBounds(info, c_.storageUses[c_.nodes[arg(args, 0)].index], callee))
        return failed;
    b_.charge(sizeof extra + 64);
    info.extra = static_cast<std::uint32_t>(c_.extras.size());
    c_.extras.push_back(std::move(extra));
    push(addTensor(info));
    return std::nullopt;
}

// (layout, (indices, values, size[, coalesced])) or (layout, (compressed, plain, values, size)).
PickleMachine::Problem PickleMachine::rebuildSparse(NodeId callee, NodeId args)
{
    if (argCount(args) < 2 || kind(arg(args, 1)) != ValueKind::Tuple)
        return badArguments(callee, "no layout or no parts");
    const Value layoutValue = c_.value(arg(args, 0));
    const auto layout = layoutValue.is(ValueKind::Layout) || layoutValue.is(ValueKind::Str)
                            ? layoutFromName(layoutValue.text())
                            : std::nullopt;
    if (!layout || *layout == Layout::Strided)
        return badArguments(callee, "not a sparse layout");
    const NodeId parts = arg(args, 1);
    const bool coo = *layout == Layout::SparseCoo;
    const std::size_t count = coo ? 2 : 3; // tensors in front of the size
    if (argCount(parts) < count + 1)
        return badArguments(callee, "parts are missing");
    for (std::size_t i = 0; i < count; ++i)
        if (kind(arg(parts, i)) != ValueKind::Tensor)
            return badArguments(callee, "a part is not a tensor");
    const bool rows = *layout == Layout::SparseCsr || *layout == Layout::SparseBsr;
    const TensorInfo& values = c_.value(arg(parts, count - 1)).tensor();
    TensorInfo info;
    info.layout = *layout;
    info.strides = false;
    info.dtype = values.dtype;
    std::vector<std::int64_t> dims;
    if (!dimsArg(arg(parts, count), dims))
        return badArguments(callee, "the size is not made of whole numbers");
    for (const std::int64_t n : dims)
        if (n < 0)
            return problem(CkptFault::TensorShape, "a size of " + std::to_string(n));
    info.rank = static_cast<std::uint8_t>(dims.size());
    info.device =
        values.storage != kNone ? b_.text(ValueKind::Str, c_.storages[values.storage].device) : values.device;
    TensorExtra extra;
    if (coo)
        extra.parts = {{"indices", arg(parts, 0)}, {"values", arg(parts, 1)}};
    else
        extra.parts = {{rows ? "crow_indices" : "ccol_indices", arg(parts, 0)},
                       {rows ? "col_indices" : "row_indices", arg(parts, 1)},
                       {"values", arg(parts, 2)}};
    b_.charge(sizeof extra + 96 + dims.size() * sizeof(std::int64_t));
    info.dims = b_.addDims(dims);
    info.extra = static_cast<std::uint32_t>(c_.extras.size());
    c_.extras.push_back(std::move(extra));
    push(addTensor(info));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::rebuildNested(NodeId callee, NodeId args)
{
    if (argCount(args) < 4 || kind(arg(args, 0)) != ValueKind::Tensor)
        return badArguments(callee, "no buffer");
    const TensorInfo& buffer = c_.value(arg(args, 0)).tensor();
    TensorInfo info;
    info.layout = Layout::Nested;
    info.strides = false;
    info.shapeKnown = false;
    info.dtype = buffer.dtype;
    info.device =
        buffer.storage != kNone ? b_.text(ValueKind::Str, c_.storages[buffer.storage].device) : buffer.device;
    TensorExtra extra;
    extra.parts = {{"buffer", arg(args, 0)},
                   {"sizes", arg(args, 1)},
                   {"strides", arg(args, 2)},
                   {"offsets", arg(args, 3)}};
    b_.charge(sizeof extra + 128);
    info.extra = static_cast<std::uint32_t>(c_.extras.size());
    c_.extras.push_back(std::move(extra));
    push(addTensor(info));
    return std::nullopt;
}

// (class, dtype, size, stride, offset, layout, device, requires_grad): DTensor, ShardedTensor. Also the meta tensors'
// (dtype, size, stride, requires_grad).
PickleMachine::Problem PickleMachine::rebuildWrapper(NodeId callee, NodeId args)
{
    const bool meta = argCount(args) < 8;
    const std::size_t at = meta ? 0 : 1;
    if (argCount(args) < 4 || kind(arg(args, at)) != ValueKind::DtypeRef)
        return badArguments(callee, "no element type");
    TensorInfo info;
    const auto type = dtypeFromName(c_.value(arg(args, at)).text());
    if (!type)
        return problem(CkptFault::TensorType,
                       "element type " + std::string(c_.value(arg(args, at)).text()) + " is not known");
    info.dtype = *type;
    std::vector<std::int64_t> dims;
    if (!dimsArg(arg(args, at + 1), dims))
        return badArguments(callee, "the size is not made of whole numbers");
    const std::size_t rank = dims.size();
    if (kind(arg(args, at + 2)) == ValueKind::None)
        info.strides = false;
    else if (!dimsArg(arg(args, at + 2), dims))
        return badArguments(callee, "the stride is not made of whole numbers");
    if (info.strides && dims.size() != 2 * rank)
        return problem(CkptFault::TensorShape, "size and stride differ in length");
    for (const std::int64_t n : dims)
        if (n < 0)
            return problem(CkptFault::TensorShape, "a size or stride of " + std::to_string(n));
    info.rank = static_cast<std::uint8_t>(rank);
    b_.charge(dims.size() * sizeof(std::int64_t));
    info.dims = b_.addDims(dims);
    if (meta) {
        info.meta = true;
        info.requiresGrad = boolArg(args, 3);
        info.device = b_.text(ValueKind::Str, "meta");
    } else {
        info.wrapper = true;
        info.pyClass = arg(args, 0);
        intArg(args, 4, info.offset);
        const Value layout = c_.value(arg(args, 5));
        if (layout.is(ValueKind::Layout))
            info.layout = layoutFromName(layout.text()).value_or(Layout::Strided);
        const Value device = c_.value(arg(args, 6));
        if (device.is(ValueKind::Device) || device.is(ValueKind::Str))
            info.device = b_.text(ValueKind::Str, device.text());
        info.requiresGrad = boolArg(args, 7);
        if (kind(info.pyClass) != ValueKind::Global)
            return badArguments(callee, "no class");
    }
    push(addTensor(info));
    return std::nullopt;
}

// (function, class, arguments, state): a subclass, or a tensor with attributes.
PickleMachine::Problem PickleMachine::rebuildFromType(NodeId callee, NodeId args)
{
    if (argCount(args) < 4 || kind(arg(args, 2)) != ValueKind::Tuple ||
        kind(arg(args, 0)) != ValueKind::Global || kind(arg(args, 1)) != ValueKind::Global)
        return badArguments(callee, "no function, class or arguments");
    const auto* function = entryOf(arg(args, 0));
    const KnownCall which = function ? function->meaning.call : KnownCall::None;
    if (which == KnownCall::RebuildFromTypeV2)
        return badArguments(callee, "rebuilds itself");
    const auto failed = which == KnownCall::None ? foreign(arg(args, 0), arg(args, 2))
                                                 : knownCall(which, arg(args, 0), arg(args, 2));
    if (failed || stack_.empty() || kind(stack_.back()) != ValueKind::Tensor)
        return failed;
    TensorInfo info = c_.value(stack_.back()).tensor();
    const std::string_view name = c_.value(arg(args, 1)).text();
    info.pyClass = name == "torch.Tensor" || name == "torch.nn.parameter.Parameter" ? kNone : arg(args, 1);
    if (kind(arg(args, 3)) != ValueKind::None)
        info.attributes = arg(args, 3);
    stack_.back() = addTensor(info);
    return std::nullopt;
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

PickleMachine::Problem PickleMachine::callNumpy(KnownCall which, NodeId callee, NodeId args)
{
    if (which == KnownCall::NumpyDtype) {
        if (argCount(args) < 1 || !textKind(kind(arg(args, 0))))
            return foreign(callee, args);
        const std::string_view name = c_.value(arg(args, 0)).text();
        // One byte has no order; numpy writes the order of wider types with BUILD.
        const bool wide = !(name.ends_with("1") && name.size() == 2) && !name.starts_with('O');
        b_.charge(48 + name.size());
        push(b_.text(ValueKind::NumpyDtype, c_.keep((wide ? "<" : "|") + std::string(name.substr(0, 64)))));
        return std::nullopt;
    }
    NumpyInfo info;
    if (which == KnownCall::NumpyScalar) {
        if (argCount(args) < 1 || kind(arg(args, 0)) != ValueKind::NumpyDtype)
            return foreign(callee, args);
        info.dtype = c_.value(arg(args, 0)).text();
        const Value bytes = argCount(args) > 1 ? c_.value(arg(args, 1)) : Value();
        info.objects = !bytes.is(ValueKind::Bytes);
        if (bytes.is(ValueKind::Bytes))
            info.bytes = bytes.text();
    }
    b_.charge(sizeof info);
    c_.numpy.push_back(info);
    push(b_.reference(which == KnownCall::NumpyScalar ? ValueKind::NumpyScalar : ValueKind::NumpyArray,
                      static_cast<std::uint32_t>(c_.numpy.size() - 1)));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::buildNumpy(NodeId target, NodeId state)
{
    const Value v = c_.value(state);
    if (!v.is(ValueKind::Tuple))
        return problem(CkptFault::PickleType, "the state of a numpy object is not a tuple");
    if (kind(target) == ValueKind::NumpyDtype) {
        // (version, byte order, subtype, names, fields, size, alignment, flags[, metadata])
        if (v.size() < 2 || !textKind(v.item(1).kind()) || v.item(1).text().size() != 1)
            return problem(CkptFault::PickleType, "a numpy element type without a byte order");
        std::string text(c_.value(target).text());
        const char order = v.item(1).text()[0];
        if (!text.empty())
            text[0] = order == '=' ? '<' : order;
        b_.charge(48 + text.size());
        c_.nodes[target].text = c_.keep(std::move(text)).data();
        return std::nullopt;
    }
    // ([version,] shape, dtype, is_fortran, data)
    const std::size_t at = v.size() == 5 ? 1 : 0;
    std::vector<std::int64_t> dims;
    if (v.size() != at + 4 || !dimsArg(v.item(at).id(), dims))
        return problem(CkptFault::PickleType, "a numpy array without shape, element type, order and data");
    NumpyInfo& info = c_.numpy[c_.nodes[target].index];
    if (v.item(at + 1).is(ValueKind::NumpyDtype))
        info.dtype = v.item(at + 1).text();
    info.fortran = v.item(at + 2).is(ValueKind::Bool) && v.item(at + 2).boolean();
    b_.charge(dims.size() * sizeof(std::int64_t));
    info.dims = b_.addDims(dims);
    info.rank = static_cast<std::uint32_t>(dims.size());
    const Value data = v.item(at + 3);
    info.objects = !textKind(data.kind()) && !data.is(ValueKind::ByteArray);
    if (data.is(ValueKind::Str)) { // Python 2 wrote the bytes as text
        std::string bytes;
        if (utf8ToLatin1(data.text(), bytes)) {
            b_.charge(bytes.size() + sizeof bytes);
            info.bytes = c_.keep(std::move(bytes));
        }
    } else if (!info.objects) {
        info.bytes = data.text();
    }
    return std::nullopt;
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

PickleMachine::Problem PickleMachine::knownCall(KnownCall which, NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    switch (which) {
    case KnownCall::RebuildTensor:
    case KnownCall::RebuildTensorV2:
    case KnownCall::RebuildTensorV3:
        return rebuildTensor(which, callee, args);
    case KnownCall::RebuildParameter:
    case KnownCall::RebuildParameterWithState: {
        if (count < 3)
            return badArguments(callee, "arguments are missing");
        if (kind(arg(args, 0)) != ValueKind::Tensor)
            return foreign(callee, args);
        TensorInfo info = c_.value(arg(args, 0)).tensor();
        info.parameter = true;
        info.requiresGrad = boolArg(args, 1);
        if (which == KnownCall::RebuildParameterWithState && count > 3 &&
            kind(arg(args, 3)) != ValueKind::None)
            info.attributes = arg(args, 3);
        push(addTensor(info));
        return std::nullopt;
    }
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
    case KnownCall::Size: {
        std::vector<std::int64_t> dims;
        if (count > 1 || (count == 1 && !dimsArg(arg(args, 0), dims)))
            return foreign(callee, args);
        const Node* from = count == 1 ? &c_.nodes[arg(args, 0)] : nullptr;
        std::vector<NodeId> items;
        for (std::uint32_t i = 0; from && i < from->count; ++i)
            items.push_back(c_.pool[from->range.first + i]);
        push(b_.sequence(ValueKind::Size, items));
        return std::nullopt;
    }
    case KnownCall::Device: {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            const Value v = c_.value(arg(args, i));
            if (!v.is(ValueKind::Str) && !v.is(ValueKind::Int))
                return foreign(callee, args);
            text += (i > 0 ? ":" : "") +
                    (v.is(ValueKind::Str) ? std::string(v.text().substr(0, 200)) : v.decimal());
        }
        b_.charge(text.size() + sizeof text);
        push(b_.text(ValueKind::Device, c_.keep(std::move(text))));
        return std::nullopt;
    }
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
    case KnownCall::FrozenSet: {
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
    case KnownCall::Complex: {
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
    case KnownCall::NumpyReconstruct:
    case KnownCall::NumpyScalar:
    case KnownCall::NumpyDtype:
        return callNumpy(which, callee, args);
    case KnownCall::GetAttr: {
        // How protocols below 4 write nested classes, and Python 3.11 enum members: a name behind a name.
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
    case KnownCall::Reconstructor: {
        // (class, base, state): protocols 0 and 1 write instances this way.
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
    case KnownCall::LoadFromBytes:
        return loadFromBytes(callee, args);
    case KnownCall::None:
        break;
    }
    return foreign(callee, args);
}

} // namespace lockstep
