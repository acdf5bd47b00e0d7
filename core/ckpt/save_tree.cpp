#include "core/ckpt/save_tree.h"

#include "core/ckpt/element_decode.h"
#include "core/ckpt/float_convert.h"
#include "core/ckpt/prefix.h"
#include "core/ckpt/storage_use.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/ckpt/utf8.h"
#include "core/ckpt/walk.h"

#include <algorithm>
#include <complex>
#include <map>
#include <set>
#include <sys/mman.h>
#include <unordered_map>
#include <unordered_set>

namespace lockstep {
namespace {

constexpr int kMaxDepth = 900; // the writer stops at 1,000

Error unreadable(const CkptProblem& problem)
{
    return problem.toError();
}

// Lets go of the pages of a mapped file that were copied out, so that a large checkpoint does not pile up in memory. Bytes that
// are not in a mapped file of the checkpoint stay as they are.
void releasePages(const Checkpoint& checkpoint, std::span<const std::byte> block)
{
    for (const auto& file : checkpoint.files) {
        if (!file || file->path().empty() || block.data() < file->bytes().data() ||
            block.data() + block.size() > file->bytes().data() + file->size())
            continue;
        // Whole pages only; the halves at both ends belong to neighbours as well.
        const auto first = (reinterpret_cast<std::uintptr_t>(block.data()) + 4095) & ~std::uintptr_t{4095};
        const auto last =
            reinterpret_cast<std::uintptr_t>(block.data() + block.size()) & ~std::uintptr_t{4095};
        if (first < last)
            ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED); // a hint
        return;
    }
}

// Sends the elements of a tensor, converted if wanted.
std::function<Status(const ByteSink&)> elementsOf(const Checkpoint& checkpoint, std::uint32_t index,
                                                  std::optional<DType> to)
{
    return [&checkpoint, index, to](const ByteSink& sink) -> Status {
        const TensorInfo& tensor = checkpoint.tensors[index];
        const auto bytes = TensorBytes::open(checkpoint, tensor);
        if (!bytes.ok())
            return unreadable(bytes.problem());
        Status status;
        std::vector<std::byte> converted;
        bytes->forEachBlock([&](std::span<const std::byte> block) {
            const std::span<const std::byte> source = block;
            if (to) {
                const std::size_t n = block.size() / itemSize(tensor.dtype);
                converted.resize(n * itemSize(*to));
                convertFloats(tensor.dtype, block.data(), n, *to, converted.data());
                block = converted;
            }
            status = sink(block);
            releasePages(checkpoint, source);
            return status.ok();
        });
        return status;
    };
}

std::function<Status(const ByteSink&)> bytesOf(const Checkpoint& checkpoint, std::uint32_t storage)
{
    return [&checkpoint, storage](const ByteSink& sink) -> Status {
        const auto bytes = TensorBytes::openStorage(checkpoint, storage);
        if (!bytes.ok())
            return unreadable(bytes.problem());
        Status status;
        bytes->forEachBlock([&](std::span<const std::byte> block) {
            status = sink(block);
            releasePages(checkpoint, block);
            return status.ok();
        });
        return status;
    };
}

class Builder
{
public:
    Builder(const Checkpoint& checkpoint, const ConvertOptions& options)
        : checkpoint_(checkpoint), options_(options), parts_(findParts(checkpoint))
    {
        for (const ModelPart& part : parts_.models) {
            if (!part.wholeModule)
                stateDicts_.insert(part.dict.id());
            for (const ModelKey& key : part.keys)
                modelTensors_.insert(key.tensor);
        }
        if (options.compact)
            for (const StorageUsage& use : storageUsage(checkpoint))
                if (use.usedBytes < use.storedBytes)
                    wasteful_.insert(use.storage);
    }

    Result<SaveTree> build();

private:
    SaveValue value(Value from, const std::string& path, int depth);
    SaveValue dict(Value from, const std::string& path, int depth);
    SaveValue object(Value from, const std::string& path, int depth);
    SaveValue tensor(std::uint32_t index, const std::string& path, int depth);
    SaveValue quantised(const TensorInfo& info, SaveTensor dense, const std::string& path, int depth);
    SaveValue sparse(const TensorInfo& info, const std::string& path, int depth);
    SaveValue numpyArray(Value from, const std::string& path);
    SaveValue numpyScalar(Value from, const std::string& path);
    SaveTensor dense(std::uint32_t index);
    SaveStoragePtr storage(std::uint32_t index);
    std::string device(std::string_view tag) const
    {
        return options_.cpu && tag != "meta" ? "cpu" : std::string(tag);
    }
    std::string rename(const std::string& name) const;
    SaveValue renameMetadata(Value state);
    SaveDict stateDict(const ModelPart& part);
    void collectFlat(SaveTree& tree);
    bool keep(std::uint32_t index) const
    {
        return !options_.keep || options_.keep(checkpoint_.tensors[index]);
    }
    std::optional<DType> newType(std::uint32_t index) const;
    void note(std::string text)
    {
        if (text.starts_with(" "))
            text = "The root object" + text; // its path is empty

        if (std::find(notes_.begin(), notes_.end(), text) == notes_.end() && notes_.size() < 200)
            notes_.push_back(text);
    }
    void fail(Error error)
    {
        if (!error_)
            error_ = std::move(error);
    }

    const Checkpoint& checkpoint_;
    const ConvertOptions& options_;
    const Parts parts_;
    std::unordered_set<NodeId> stateDicts_;
    std::unordered_set<std::uint32_t> modelTensors_;
    std::unordered_set<std::uint32_t> wasteful_;
    std::unordered_map<NodeId, SaveValue> made_;
    std::unordered_set<NodeId> open_;
    std::unordered_map<std::uint32_t, SaveStoragePtr> storages_;
    std::map<std::tuple<std::uint32_t, std::int64_t, std::vector<std::int64_t>>, SaveStoragePtr> ownStorages_;
    std::vector<std::pair<std::string, std::string>> renamed_;
    std::vector<std::string> keys_;
    std::vector<std::string> notes_;
    std::optional<Error> error_;
    std::size_t converted_ = 0;
};

std::string Builder::rename(const std::string& name) const
{
    std::string result = name;
    for (const std::string& prefix : options_.strip)
        if (result.size() > prefix.size() && result.starts_with(prefix))
            result.erase(0, prefix.size());
    if (options_.dropWrappers)
        result = withoutWrappers(result);
    return options_.addPrefix + result;
}

std::optional<DType> Builder::newType(std::uint32_t index) const
{
    const TensorInfo& info = checkpoint_.tensors[index];
    const bool wanted = options_.dtype && isFloat(info.dtype) && info.dtype != *options_.dtype;
    // Optimizer states keep their type: the option is about the weights.
    return wanted && (modelTensors_.empty() || modelTensors_.contains(index)) ? options_.dtype : std::nullopt;
}

SaveStoragePtr Builder::storage(std::uint32_t index)
{
    SaveStoragePtr& made = storages_[index];
    if (!made) {
        const StorageInfo& info = checkpoint_.storages[index];
        auto fresh = std::make_shared<SaveStorage>();
        fresh->size = info.bytes;
        fresh->produce = bytesOf(checkpoint_, index);
        fresh->device = device(info.device.empty() ? "cpu" : info.device);
        made = std::move(fresh);
    }
    return made;
}

// A strided tensor, over the storage it had, or over one of its own where it has none, wastes it, or changes its type.
SaveTensor Builder::dense(std::uint32_t index)
{
    const TensorInfo& info = checkpoint_.tensors[index];
    const auto shape = checkpoint_.shape(info), stride = checkpoint_.stride(info);
    const std::optional<DType> type = newType(index);
    SaveTensor result;
    result.dtype = type.value_or(info.dtype);
    result.shape.assign(shape.begin(), shape.end());
    result.requiresGrad = info.requiresGrad;
    result.parameter = info.parameter;
    const bool own = info.storage == kNone || type || wasteful_.contains(info.storage);
    if (!own) {
        result.storage = storage(info.storage);
        result.stride.assign(stride.begin(), stride.end());
        result.offset = info.offset;
        result.conjugate = info.conj;
        result.negative = info.neg;
        return result;
    }
    result.stride = rowMajorStride(shape);
    const std::uint64_t elements = static_cast<std::uint64_t>(checkpoint_.elements(info).value_or(-1));
    std::uint64_t size = 0;
    if (repeatsBeyondReason(checkpoint_, info) ||
        __builtin_mul_overflow(elements, std::uint64_t{itemSize(result.dtype)}, &size) ||
        size > (1ULL << 48)) {
        fail({ErrorKind::Corrupt, "A tensor cannot be written",
              "its shape " + shapeText(shape) + " asks for more than any file holds", ""});
        return result;
    }
    std::vector<std::int64_t> layout = result.shape;
    layout.insert(layout.end(), stride.begin(), stride.end());
    layout.push_back(info.conj * 2 + info.neg);
    SaveStoragePtr fresh;
    SaveStoragePtr& made = info.storage == kNone ? fresh : ownStorages_[{info.storage, info.offset, layout}];
    if (!made) {
        auto own = std::make_shared<SaveStorage>();
        own->size = size;
        own->produce = elementsOf(checkpoint_, index, type);
        own->device = device(info.storage == kNone || checkpoint_.storages[info.storage].device.empty()
                                 ? "cpu"
                                 : checkpoint_.storages[info.storage].device);
        made = std::move(own);
    }
    converted_ += type.has_value();
    result.storage = made;
    return result;
}

SaveValue Builder::quantised(const TensorInfo& info, SaveTensor dense, const std::string& path, int depth)
{
    const TensorExtra& extra = checkpoint_.extras[info.extra];
    const auto sizes = [](const std::vector<std::int64_t>& numbers) {
        SaveTuple tuple;
        for (const std::int64_t n : numbers)
            tuple.items.emplace_back(n);
        return SaveValue(std::move(tuple));
    };
    SaveTuple scheme;
    scheme.items.emplace_back(SaveGlobal{"torch", std::string(extra.scheme)});
    const auto part = [&](std::string_view name) {
        for (const auto& [label, node] : extra.parts)
            if (label == name)
                return value(checkpoint_.value(node), path, depth + 1);
        return SaveValue();
    };
    if (extra.scheme == "per_tensor_affine") {
        scheme.items.emplace_back(extra.scale);
        scheme.items.emplace_back(extra.zeroPoint);
    } else {
        scheme.items.push_back(part("scales"));
        scheme.items.push_back(part("zero_points"));
        scheme.items.emplace_back(extra.axis);
    }
    SaveCall call;
    call.callee = {"torch._utils", "_rebuild_qtensor"};
    SaveDict hooks;
    hooks.ordered = true;
    call.arguments = {SaveStorageRef{dense.storage, dense.dtype},
                      dense.offset,
                      sizes(dense.shape),
                      sizes(dense.stride),
                      SaveValue(std::move(scheme)),
                      dense.requiresGrad,
                      SaveValue(std::move(hooks))};
    return call;
}

SaveValue Builder::sparse(const TensorInfo& info, const std::string& path, int depth)
{
    const TensorExtra& extra = checkpoint_.extras[info.extra];
    const auto part = [&](std::string_view name) {
        for (const auto& [label, node] : extra.parts)
            if (label == name)
                return value(checkpoint_.value(node), path, depth + 1);
        return SaveValue();
    };
    if (info.layout == Layout::Nested) {
        // weights_only=True refuses the function that would put it together again.
        note(path + " was a nested tensor and is written as a dict of its parts");
        SaveDict parts;
        for (const char* name : {"buffer", "sizes", "strides", "offsets"})
            parts.set(name, part(name));
        return parts;
    }
    SaveCall call;
    SaveCall layout;
    layout.callee = {"torch.serialization", "_get_layout"};
    layout.arguments = {"torch." + std::string(layoutName(info.layout))};
    SaveTuple size;
    for (const std::int64_t n : checkpoint_.shape(info))
        size.items.emplace_back(n);
    SaveCall shape;
    shape.callee = {"torch", "Size"};
    shape.arguments = {SaveValue(std::move(size))};
    SaveTuple data;
    if (info.layout == Layout::SparseCoo) {
        data.items = {part("indices"), part("values"), SaveValue(std::move(shape))};
    } else {
        const bool columns = info.layout == Layout::SparseCsc || info.layout == Layout::SparseBsc;
        data.items = {part(columns ? "ccol_indices" : "crow_indices"),
                      part(columns ? "row_indices" : "col_indices"), part("values"),
                      SaveValue(std::move(shape))};
    }
    call.callee = {"torch._utils", "_rebuild_sparse_tensor"};
    call.arguments = {SaveValue(std::move(layout)), SaveValue(std::move(data))};
    return call;
}

SaveValue Builder::tensor(std::uint32_t index, const std::string& path, int depth)
{
    const TensorInfo& info = checkpoint_.tensors[index];
    if (info.wrapper) {
        note(path + " is a distributed tensor of which this file holds one part; it was left out");
        return {};
    }
    if (info.pyClass != kNone)
        note(path + " was a subclass (" + std::string(checkpoint_.value(info.pyClass).text()) +
             ") and is written as a plain tensor");
    if (info.layout != Layout::Strided)
        return info.extra == kNone ? SaveValue() : sparse(info, path, depth);
    if (info.meta || (info.storage != kNone && checkpoint_.storages[info.storage].meta)) {
        note(path + " is a meta tensor without values; it was left out");
        return {};
    }
    keys_.push_back(path);
    SaveTensor plain = dense(index);
    if (info.extra != kNone && !checkpoint_.extras[info.extra].scheme.empty())
        return quantised(info, std::move(plain), path, depth);
    return plain;
}

// Module paths in _metadata follow the keys: "module.features" becomes "features".
SaveValue Builder::renameMetadata(Value state)
{
    SaveDict result;
    for (std::size_t i = 0; state.is(ValueKind::Dict) && i < state.size(); ++i) {
        const Value key = state.key(i);
        if (!key.is(ValueKind::Str) || key.text() != "_metadata" || !state.item(i).is(ValueKind::Dict)) {
            if (key.is(ValueKind::Str))
                result.set(std::string(key.text()), value(state.item(i), "_metadata", 1));
            continue;
        }
        SaveDict modules;
        modules.ordered = state.item(i).dictType() == DictType::Ordered;
        std::set<std::string> used;
        for (std::size_t k = 0; k < state.item(i).size(); ++k) {
            if (!state.item(i).key(k).is(ValueKind::Str))
                continue;
            std::string name(state.item(i).key(k).text());
            if (!name.empty()) {
                // The renaming works on keys, which go on behind the module's path.
                const std::string probe = rename(name + ".x");
                name = probe.size() > 2 ? probe.substr(0, probe.size() - 2) : "";
            }
            if (used.insert(name).second)
                modules.set(name, value(state.item(i).item(k), "_metadata", 1));
        }
        result.set("_metadata", std::move(modules));
    }
    return result;
}

SaveValue Builder::dict(Value from, const std::string& path, int depth)
{
    SaveDict result;
    result.ordered = from.dictType() == DictType::Ordered;
    if (from.dictType() == DictType::Default)
        note(path + " was a defaultdict and is written as a dict");
    if (from.dictType() == DictType::Counter)
        note(path + " was a Counter and is written as a dict");
    const bool isStateDict = stateDicts_.contains(from.id());
    std::set<std::string> names;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const Value key = from.key(i), item = from.item(i);
        if (item.is(ValueKind::Tensor) && !keep(item.tensorIndex()))
            continue;
        const std::string text = key.is(ValueKind::Str)   ? std::string(key.text())
                                 : key.is(ValueKind::Int) ? key.decimal()
                                                          : "?";
        SaveValue name = value(key, path, depth + 1);
        std::string shown = text;
        if (isStateDict && key.is(ValueKind::Str)) {
            shown = rename(text);
            name = shown;
            if (!names.insert(shown).second)
                fail({ErrorKind::Usage, "The keys cannot be renamed so", "two of them would become " + shown,
                      "Strip another prefix, or fewer"});
            if (shown != text)
                renamed_.emplace_back(text, shown);
        }
        const std::string below = path.empty() ? shown : path + "." + shown;
        const std::size_t before = notes_.size();
        SaveValue made = value(item, below, depth + 1);
        // A tensor that could not be written leaves no key behind.
        if (item.is(ValueKind::Tensor) && std::holds_alternative<std::monostate>(made.get()) &&
            notes_.size() >= before)
            continue;
        result.set(std::move(name), std::move(made));
    }
    if (const Value state = from.dictState(); result.ordered && state.is(ValueKind::Dict)) {
        const SaveValue attributes = renameMetadata(state);
        result.attributes = std::get<std::shared_ptr<const SaveDict>>(attributes.get());
    }
    return result;
}

SaveValue Builder::object(Value from, const std::string& path, int depth)
{
    const std::string cls(from.className());
    const Value state = from.state();
    if (state.is(ValueKind::Dict)) {
        note(path + " was a " + cls + " and is written as a dict of its attributes");
        return value(state, path, depth + 1);
    }
    if (from.items().valid() && from.items().is(ValueKind::Dict) && from.items().size() > 0) {
        note(path + " was a " + cls + " and is written as a dict");
        return value(from.items(), path, depth + 1);
    }
    if (from.list().valid() && from.list().is(ValueKind::List) && from.list().size() > 0) {
        note(path + " was a " + cls + " and is written as a list");
        return value(from.list(), path, depth + 1);
    }
    // Paths keep their parts, enums their value, wrappers their only argument.
    const Value args = from.args();
    if (args.is(ValueKind::Tuple) && args.size() > 0) {
        if (cls.starts_with("pathlib")) {
            std::string joined;
            for (std::size_t i = 0; i < args.size(); ++i)
                if (args.item(i).is(ValueKind::Str)) {
                    if (!joined.empty() && joined.back() != '/')
                        joined += '/';
                    joined += args.item(i).text();
                }
            note(path + " was a path and is written as text");
            return joined;
        }
        if (args.size() == 1) {
            note(path + " was a " + cls + " and is written as its argument");
            return value(args.item(0), path, depth + 1);
        }
        note(path + " was a " + cls + " and is written as a tuple of its arguments");
        return value(args, path, depth + 1);
    }
    note(path + " was a " + cls + " without plain contents and is written as None");
    return {};
}

std::optional<DType> numpyType(std::string_view dtype)
{
    if (dtype.empty() || dtype[0] == '>')
        return std::nullopt;
    static const std::map<std::string_view, DType> types = {
        {"f8", DType::Float64},     {"f4", DType::Float32},  {"f2", DType::Float16}, {"i8", DType::Int64},
        {"i4", DType::Int32},       {"i2", DType::Int16},    {"i1", DType::Int8},    {"u8", DType::UInt64},
        {"u4", DType::UInt32},      {"u2", DType::UInt16},   {"u1", DType::UInt8},   {"b1", DType::Bool},
        {"c16", DType::Complex128}, {"c8", DType::Complex64}};
    const std::string_view code =
        dtype[0] == '<' || dtype[0] == '|' || dtype[0] == '=' ? dtype.substr(1) : dtype;
    const auto found = types.find(code);
    return found == types.end() ? std::nullopt : std::optional(found->second);
}

SaveValue Builder::numpyArray(Value from, const std::string& path)
{
    const NumpyInfo& array = from.numpy();
    const auto type = numpyType(array.dtype);
    std::uint64_t elements = 1;
    bool sane = type.has_value() && !array.objects;
    std::vector<std::int64_t> shape;
    for (std::uint32_t i = 0; i < array.rank; ++i) {
        shape.push_back(checkpoint_.dims[array.dims + i]);
        sane = sane && shape.back() >= 0 &&
               !__builtin_mul_overflow(elements, static_cast<std::uint64_t>(shape.back()), &elements);
    }
    if (!sane || elements * itemSize(*type) != array.bytes.size()) {
        note(path + " was a numpy array of type " + std::string(array.dtype) + " and is written as None");
        return {};
    }
    note(path + " was a numpy array and is written as a tensor");
    SaveTensor tensor =
        SaveTensor::dense(*type, shape, std::as_bytes(std::span(array.bytes.data(), array.bytes.size())));
    if (array.fortran) {
        std::int64_t step = 1;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            tensor.stride[i] = step;
            step *= std::max<std::int64_t>(shape[i], 1);
        }
    }
    keys_.push_back(path);
    return tensor;
}

SaveValue Builder::numpyScalar(Value from, const std::string& path)
{
    const NumpyInfo& scalar = from.numpy();
    const auto type = numpyType(scalar.dtype);
    if (!type || scalar.bytes.size() != itemSize(*type)) {
        note(path + " was a numpy scalar of type " + std::string(scalar.dtype) + " and is written as None");
        return {};
    }
    note(path + " was a numpy scalar and is written as a number");
    const auto* p = reinterpret_cast<const std::byte*>(scalar.bytes.data());
    if (*type == DType::Bool)
        return *p != std::byte{0};
    if (isComplex(*type)) {
        double parts[2];
        decodeComplex(*type, p, 1, parts);
        SaveCall call;
        call.callee = {"__builtin__", "complex"};
        call.arguments = {parts[0], parts[1]};
        return call;
    }
    if (isFloat(*type)) {
        double number = 0;
        decodeToDouble(*type, p, 1, &number);
        return number;
    }
    SaveValue result;
    withIntegerType(*type, [&](auto zero) {
        const auto number = loadUnaligned<decltype(zero)>(p);
        if constexpr (std::is_same_v<decltype(zero), std::uint64_t>) {
            if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                SaveBigInt big;
                big.bytes.assign(reinterpret_cast<const char*>(p), 8);
                big.bytes += '\0';
                result = std::move(big);
                return;
            }
        }
        result = static_cast<std::int64_t>(number);
    });
    return result;
}

SaveValue Builder::value(Value from, const std::string& path, int depth)
{
    if (!from.valid())
        return {};
    if (depth > kMaxDepth) {
        fail({ErrorKind::Input, "The checkpoint cannot be written anew",
              "it is nested deeper than " + std::to_string(kMaxDepth) + " levels", ""});
        return {};
    }
    const auto call = [](std::string module, std::string name, std::vector<SaveValue> arguments) {
        SaveCall made;
        made.callee = {std::move(module), std::move(name)};
        made.arguments = std::move(arguments);
        return SaveValue(std::move(made));
    };
    switch (from.kind()) {
    case ValueKind::None:
        return {};
    case ValueKind::Bool:
        return from.boolean();
    case ValueKind::Int:
        return from.integer();
    case ValueKind::BigInt:
        return SaveBigInt{std::string(from.text())};
    case ValueKind::Float:
        return from.real();
    case ValueKind::Str:
        return std::string(from.text());
    case ValueKind::Complex:
        return call("__builtin__", "complex", {from.complexValue().real(), from.complexValue().imag()});
    case ValueKind::Bytes:
        return call("_codecs", "encode", {latin1ToUtf8(from.text()), "latin1"});
    case ValueKind::ByteArray:
        return call("__builtin__", "bytearray", {latin1ToUtf8(from.text()), "latin-1"});
    case ValueKind::DtypeRef:
        return SaveGlobal{"torch", std::string(from.text().substr(from.text().rfind('.') + 1))};
    case ValueKind::Device:
        return call("torch", "device", {device(from.text())});
    case ValueKind::Layout: {
        const std::string text(from.text());
        return call("torch.serialization", "_get_layout",
                    {text.starts_with("torch.") ? text : "torch." + text});
    }
    case ValueKind::QScheme:
        return SaveGlobal{"torch", std::string(from.text().substr(from.text().rfind('.') + 1))};
    case ValueKind::Global:
        note(path + " was a reference to " + std::string(from.text()) + " and is written as its name");
        return std::string(from.text());
    case ValueKind::NumpyDtype:
        note(path + " was a numpy dtype and is written as its name");
        return std::string(from.text());
    default:
        break;
    }
    // What follows can be shared or contain itself.
    if (const auto found = made_.find(from.id()); found != made_.end())
        return found->second;
    if (!open_.insert(from.id()).second) {
        note(path + " contains itself; the inner reference is written as None");
        return {};
    }
    SaveValue result;
    switch (from.kind()) {
    case ValueKind::List:
    case ValueKind::Tuple:
    case ValueKind::Set:
    case ValueKind::FrozenSet:
    case ValueKind::Size: {
        std::vector<SaveValue> items;
        for (std::size_t i = 0; i < from.size(); ++i)
            items.push_back(value(from.item(i), path + "." + std::to_string(i), depth + 1));
        if (from.is(ValueKind::List)) {
            result = SaveList{std::move(items)};
        } else if (from.is(ValueKind::Set)) {
            result = call("__builtin__", "set", {SaveList{std::move(items)}});
        } else if (from.is(ValueKind::Size)) {
            result = call("torch", "Size", {SaveTuple{std::move(items)}});
        } else {
            if (from.is(ValueKind::FrozenSet))
                note(path + " was a frozenset and is written as a tuple");
            result = SaveTuple{std::move(items)};
        }
        break;
    }
    case ValueKind::Dict:
        result = dict(from, path, depth);
        break;
    case ValueKind::Object:
        result = object(from, path, depth);
        break;
    case ValueKind::Tensor:
        result = keep(from.tensorIndex()) ? tensor(from.tensorIndex(), path, depth) : SaveValue();
        break;
    case ValueKind::Storage: {
        const auto& use = from.storageUse();
        result = SaveStorageRef{storage(use.storage), use.dtype.value_or(DType::UInt8)};
        break;
    }
    case ValueKind::NumpyArray:
        result = numpyArray(from, path);
        break;
    case ValueKind::NumpyScalar:
        result = numpyScalar(from, path);
        break;
    default:
        break;
    }
    open_.erase(from.id());
    made_.emplace(from.id(), result);
    return result;
}

// The state dict alone, also of a pickled module.
SaveDict Builder::stateDict(const ModelPart& part)
{
    SaveDict result;
    result.ordered = true;
    if (!part.wholeModule) {
        const SaveValue made = value(part.dict, "", 0);
        return *std::get<std::shared_ptr<const SaveDict>>(made.get());
    }
    for (const ModelKey& key : part.keys) {
        if (!keep(key.tensor))
            continue;
        const std::string name = rename(key.name);
        if (name != key.name)
            renamed_.emplace_back(key.name, name);
        SaveValue made = tensor(key.tensor, name, 1);
        if (!std::holds_alternative<std::monostate>(made.get()))
            result.set(name, std::move(made));
    }
    note("The state dict was rebuilt from the modules of class " + part.moduleClass);
    return result;
}

void Builder::collectFlat(SaveTree& tree)
{
    const ModelPart* model = parts_.model();
    const auto add = [&](const std::string& name, std::uint32_t index) {
        const TensorInfo& info = checkpoint_.tensors[index];
        if (!keep(index) || info.wrapper || info.meta || info.layout != Layout::Strided ||
            info.extra != kNone)
            return;
        if (repeatsBeyondReason(checkpoint_, info)) {
            note(name + " repeats its bytes more often than can be written out; it was left out");
            return;
        }
        tree.tensors.push_back({name, dense(index), index});
    };
    if (model) {
        for (const ModelKey& key : model->keys)
            add(rename(key.name), key.tensor);
        return;
    }
    for (const TensorLeaf& leaf : listTensors(checkpoint_))
        add(rename(leaf.name), static_cast<std::uint32_t>(leaf.tensor - checkpoint_.tensors.data()));
}

Result<SaveTree> Builder::build()
{
    if (checkpoint_.root == kNone) {
        const CkptProblem* problem = checkpoint_.fatal();
        return problem ? problem->toError()
                       : Error{ErrorKind::Input, checkpoint_.path + " cannot be converted",
                               "nothing could be read", "Run ckpt verify"};
    }
    if (options_.dtype && !canConvertTo(*options_.dtype))
        return Error{ErrorKind::Usage,
                     "Values cannot be converted to " + std::string(dtypeInfo(*options_.dtype).name),
                     "only float64, float32, float16 and bfloat16 are written", ""};
    SaveTree tree;
    if (options_.format == OutputFormat::Safetensors) {
        collectFlat(tree);
        if (tree.tensors.empty())
            return Error{ErrorKind::Input, checkpoint_.path + " cannot be written as safetensors",
                         "it holds no plain tensor", ""};
        std::set<std::string> names;
        for (const SaveEntry& entry : tree.tensors) {
            keys_.push_back(entry.name);
            if (!names.insert(entry.name).second)
                fail({ErrorKind::Usage, "The keys cannot be renamed so",
                      "two of them would become " + entry.name, "Strip another prefix, or fewer"});
        }
        const std::size_t all = listTensors(checkpoint_).size();
        if (all > tree.tensors.size())
            note(std::to_string(all - tree.tensors.size()) +
                 " other tensors and everything that is no tensor were left out");
    } else if (options_.modelOnly) {
        const ModelPart* model = parts_.model();
        if (!model)
            return Error{ErrorKind::Input, checkpoint_.path + " holds no model part",
                         "no dict of tensors was found", "Convert the whole file instead"};
        tree.root = stateDict(*model);
        if (!model->path.empty())
            note("The state dict was taken from " + model->path);
    } else {
        tree.root = value(checkpoint_.rootValue(), "", 0);
    }
    if (error_)
        return *error_;
    for (const std::string& prefix : options_.strip) {
        const bool met = std::any_of(renamed_.begin(), renamed_.end(), [&](const auto& pair) {
            return pair.first.find(prefix) != std::string::npos;
        });
        if (!met && options_.format == OutputFormat::Torch)
            note("No key begins with " + prefix);
    }
    if (converted_ > 0)
        note(std::to_string(converted_) + " tensors were converted to " +
             std::string(dtypeInfo(*options_.dtype).name));
    tree.report.renamed = std::move(renamed_);
    tree.report.notes = std::move(notes_);
    tree.report.keys = std::move(keys_);
    return tree;
}

} // namespace

Result<SaveTree> buildSaveTree(const Checkpoint& checkpoint, const ConvertOptions& options)
{
    return Builder(checkpoint, options).build();
}

} // namespace lockstep
