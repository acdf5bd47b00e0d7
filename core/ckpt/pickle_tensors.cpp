// The rebuild functions of torch._utils and torch._tensor: their arguments become descriptions of tensors.
// Signatures: torch 1.7 to 2.15.
#include "core/ckpt/bytes.h"
#include "core/ckpt/pickle_machine.h"
#include "core/ckpt/strides.h"

namespace lockstep {
namespace {

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

// (storage, offset, size, stride, ...) of every strided tensor.
PickleMachine::Problem PickleMachine::strided(NodeId args, TensorInfo& info, NodeId callee)
{
    if (argCount(args) < 4 || kind(arg(args, 0)) != ValueKind::Storage)
        return badArguments(callee, "the first argument is not a storage");
    const Checkpoint::StorageUse use = c_.storageUses[c_.nodes[arg(args, 0)].index];
    dims_.clear();
    if (!intArg(args, 1, info.offset) || !c_.value(arg(args, 2)).appendNumbers(dims_))
        return badArguments(callee, "offset or size is not made of whole numbers");
    const std::size_t rank = dims_.size();
    if (!c_.value(arg(args, 3)).appendNumbers(dims_))
        return badArguments(callee, "the stride is not made of whole numbers");
    if (dims_.size() != 2 * rank)
        return problem(CkptFault::TensorShape, "size has " + std::to_string(rank) +
                                                   " dimensions, stride has " +
                                                   std::to_string(dims_.size() - rank));
    info.rank = static_cast<std::uint8_t>(rank);
    info.storage = use.storage;
    info.dtype = use.dtype.value_or(DType::UInt8);
    for (const std::int64_t n : dims_)
        if (n < 0)
            return problem(CkptFault::TensorShape, "a size or stride of " + std::to_string(n));
    b_.charge(dims_.size() * sizeof(std::int64_t));
    info.dims = b_.addDims(dims_);
    return std::nullopt;
}

// What the pickle announces counts here; whether the record is as long is a question of its own.
void PickleMachine::checkBounds(const TensorInfo& info, const Checkpoint::StorageUse& use)
{
    const StorageInfo& storage = c_.storages[use.storage];
    if (storage.meta)
        return;
    const auto end = viewEnd(c_.shape(info), c_.stride(info), info.offset);
    const std::int64_t unit = use.dtype ? static_cast<std::int64_t>(itemSize(*use.dtype)) : 1;
    std::int64_t announced = 0, need = 0;
    if (end && mulInto(use.elements, unit, announced) &&
        mulInto(*end, static_cast<std::int64_t>(itemSize(info.dtype)), need) && need <= announced)
        return;
    CkptProblem p =
        problem(CkptFault::TensorBounds, "a tensor reaches element " +
                                             (end ? std::to_string(*end - 1) : std::string("2^63")) +
                                             " of a storage of " + std::to_string(use.elements));
    p.fatal = false;
    p.record = "storage " + std::string(storage.key);
    c_.report(std::move(p));
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
    checkBounds(info, c_.storageUses[c_.nodes[arg(args, 0)].index]);
    push(b_.tensor(info));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::rebuildParameter(KnownCall which, NodeId callee, NodeId args)
{
    const std::size_t count = argCount(args);
    if (count < 3)
        return badArguments(callee, "arguments are missing");
    if (kind(arg(args, 0)) != ValueKind::Tensor)
        return foreign(callee, args);
    TensorInfo info = c_.value(arg(args, 0)).tensor();
    info.parameter = true;
    info.requiresGrad = boolArg(args, 1);
    if (which == KnownCall::RebuildParameterWithState && count > 3 && kind(arg(args, 3)) != ValueKind::None)
        info.attributes = arg(args, 3);
    push(b_.tensor(info));
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
    checkBounds(info, c_.storageUses[c_.nodes[arg(args, 0)].index]);
    b_.charge(sizeof extra + 64);
    info.extra = static_cast<std::uint32_t>(c_.extras.size());
    c_.extras.push_back(std::move(extra));
    push(b_.tensor(info));
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
    if (!c_.value(arg(parts, count)).appendNumbers(dims))
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
    push(b_.tensor(info));
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
    push(b_.tensor(info));
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
    if (!c_.value(arg(args, at + 1)).appendNumbers(dims))
        return badArguments(callee, "the size is not made of whole numbers");
    const std::size_t rank = dims.size();
    if (kind(arg(args, at + 2)) == ValueKind::None)
        info.strides = false;
    else if (!c_.value(arg(args, at + 2)).appendNumbers(dims))
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
    push(b_.tensor(info));
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
    stack_.back() = b_.tensor(info);
    return std::nullopt;
}

} // namespace lockstep
