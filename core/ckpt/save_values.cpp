#include "core/ckpt/save_values.h"

#include "core/ckpt/prefix.h"
#include "core/ckpt/save_numpy.h"
#include "core/ckpt/utf8.h"

#include <algorithm>
#include <set>

namespace lockstep {
namespace {

constexpr int kMaxDepth = 900; // the writer stops at 1,000
constexpr std::size_t kMaxNotes = 200;
constexpr std::size_t kMostShown = 1000; // letters of a key in notes and lists

std::unordered_set<std::uint32_t> weightsOf(const Parts& parts)
{
    std::unordered_set<std::uint32_t> weights;
    for (const ModelPart& part : parts.models)
        for (const ModelKey& key : part.keys)
            weights.insert(key.tensor);
    return weights;
}

bool isNothing(const SaveValue& value)
{
    return std::holds_alternative<std::monostate>(value.get());
}

// "torch.float32" and "float32" alike.
SaveGlobal torchName(std::string_view text)
{
    return {"torch", std::string(text.substr(text.rfind('.') + 1))};
}

// The parts of a pathlib path, joined.
std::string joinedPath(Value parts)
{
    std::string joined;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!parts.item(i).is(ValueKind::Str))
            continue;
        if (!joined.empty() && joined.back() != '/')
            joined += '/';
        joined += parts.item(i).text();
    }
    return joined;
}

} // namespace

ValueSaver::ValueSaver(const Checkpoint& checkpoint, const ConvertOptions& options, const Parts& parts)
    : checkpoint_(checkpoint), options_(options), tensors_(checkpoint, options, weightsOf(parts))
{
    for (const ModelPart& part : parts.models)
        if (!part.wholeModule)
            stateDicts_.insert(part.dict.id());
}

void ValueSaver::note(std::string text)
{
    if (text.starts_with(" "))
        text = "The root object" + text; // its path is empty
    std::vector<std::string>& notes = report_.notes;
    if (notes.size() < kMaxNotes && std::find(notes.begin(), notes.end(), text) == notes.end())
        notes.push_back(std::move(text));
}

void ValueSaver::fail(Error error)
{
    if (!error_)
        error_ = std::move(error);
}

ConvertReport ValueSaver::takeReport()
{
    return std::move(report_);
}

Error ValueSaver::collision(const std::string& name)
{
    return {ErrorKind::Usage, "The keys cannot be renamed so", "two of them would become " + name,
            "Strip another prefix, or fewer"};
}

std::string ValueSaver::rename(const std::string& name) const
{
    std::string result = name;
    for (const std::string& prefix : options_.strip)
        result = withoutPrefix(result, prefix);
    if (options_.dropWrappers)
        result = withoutWrappers(result);
    return options_.addPrefix + result;
}

SaveValue ValueSaver::value(Value from, const std::string& path, int depth)
{
    if (!from.valid())
        return {};
    if (depth > kMaxDepth) {
        fail({ErrorKind::Input, "The checkpoint cannot be written anew",
              "it is nested deeper than " + std::to_string(kMaxDepth) + " levels", ""});
        return {};
    }
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
        return SaveCall{{"__builtin__", "complex"}, {from.complexValue().real(), from.complexValue().imag()}};
    case ValueKind::Bytes:
        return SaveCall{{"_codecs", "encode"}, {latin1ToUtf8(from.text()), "latin1"}};
    case ValueKind::ByteArray:
        return SaveCall{{"__builtin__", "bytearray"}, {latin1ToUtf8(from.text()), "latin-1"}};
    case ValueKind::DtypeRef:
    case ValueKind::QScheme:
        return torchName(from.text());
    case ValueKind::Device:
        return SaveCall{{"torch", "device"}, {tensors_.device(from.text())}};
    case ValueKind::Layout: {
        const std::string text(from.text());
        return SaveCall{{"torch.serialization", "_get_layout"},
                        {text.starts_with("torch.") ? text : "torch." + text}};
    }
    case ValueKind::Global:
        return named(from, "a reference to " + std::string(from.text()), path);
    case ValueKind::NumpyDtype:
        return named(from, "a numpy dtype", path);
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
    SaveValue result = container(from, path, depth);
    open_.erase(from.id());
    made_.emplace(from.id(), result);
    return result;
}

SaveValue ValueSaver::container(Value from, const std::string& path, int depth)
{
    switch (from.kind()) {
    case ValueKind::List:
    case ValueKind::Tuple:
    case ValueKind::Set:
    case ValueKind::FrozenSet:
    case ValueKind::Size:
        return sequence(from, path, depth);
    case ValueKind::Dict:
        return dict(from, path, depth);
    case ValueKind::Object:
        return object(from, path, depth);
    case ValueKind::Tensor:
        return keeps(from.tensorIndex()) ? tensor(from.tensorIndex(), path, depth) : SaveValue();
    case ValueKind::Storage: {
        const auto& use = from.storageUse();
        return SaveStorageRef{tensors_.storage(use.storage), use.dtype.value_or(DType::UInt8)};
    }
    case ValueKind::NumpyArray:
    case ValueKind::NumpyScalar:
        return numpy(from, path);
    default:
        return {};
    }
}

SaveValue ValueSaver::named(Value from, const std::string& what, const std::string& path)
{
    note(path + " was " + what + " and is written as its name");
    return std::string(from.text());
}

SaveValue ValueSaver::sequence(Value from, const std::string& path, int depth)
{
    std::vector<SaveValue> items;
    for (std::size_t i = 0; i < from.size(); ++i)
        items.push_back(value(from.item(i), path + "." + std::to_string(i), depth + 1));
    switch (from.kind()) {
    case ValueKind::List:
        return SaveList{std::move(items)};
    case ValueKind::Set:
        return SaveCall{{"__builtin__", "set"}, {SaveList{std::move(items)}}};
    case ValueKind::Size:
        return SaveCall{{"torch", "Size"}, {SaveTuple{std::move(items)}}};
    case ValueKind::FrozenSet:
        note(path + " was a frozenset and is written as a tuple");
        [[fallthrough]];
    default:
        return SaveTuple{std::move(items)};
    }
}

SaveValue ValueSaver::dict(Value from, const std::string& path, int depth)
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
        if (item.is(ValueKind::Tensor) && !keeps(item.tensorIndex()))
            continue;
        std::string shown = key.is(ValueKind::Str)   ? std::string(key.text())
                            : key.is(ValueKind::Int) ? key.decimal()
                                                     : "?";
        SaveValue name = value(key, path, depth + 1);
        if (isStateDict && key.is(ValueKind::Str)) {
            const std::string renamed = rename(shown);
            if (!names.insert(renamed).second)
                fail(collision(renamed));
            if (renamed != shown)
                report_.renamed.emplace_back(shown, renamed);
            name = renamed;
            shown = renamed;
        }
        if (shown.size() > kMostShown)
            shown.resize(kMostShown);
        SaveValue made = value(item, path.empty() ? shown : path + "." + shown, depth + 1);
        // A tensor that could not be written leaves no key behind.
        if (!item.is(ValueKind::Tensor) || !isNothing(made))
            result.set(std::move(name), std::move(made));
    }
    if (const Value state = from.dictState(); result.ordered && state.is(ValueKind::Dict)) {
        result.attributes = std::make_shared<const SaveDict>(metadata(state));
    }
    return result;
}

// Attributes of a state dict: {"_metadata": {module path: {"version": 1}}}.
SaveDict ValueSaver::metadata(Value state)
{
    SaveDict result;
    for (std::size_t i = 0; i < state.size(); ++i) {
        const Value key = state.key(i), item = state.item(i);
        if (!key.is(ValueKind::Str))
            continue;
        result.set(std::string(key.text()), key.text() == "_metadata" && item.is(ValueKind::Dict)
                                                ? renamedModules(item)
                                                : value(item, "_metadata", 1));
    }
    return result;
}

// Module paths in _metadata follow the keys: "module.features" becomes "features".
SaveValue ValueSaver::renamedModules(Value modules)
{
    SaveDict result;
    result.ordered = modules.dictType() == DictType::Ordered;
    std::set<std::string> used;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        if (!modules.key(i).is(ValueKind::Str))
            continue;
        std::string name(modules.key(i).text());
        if (!name.empty()) {
            // The renaming works on keys, which go on behind the module's path.
            const std::string probe = rename(name + ".x");
            name = probe.size() > 2 ? probe.substr(0, probe.size() - 2) : "";
        }
        if (used.insert(name).second)
            result.set(name, value(modules.item(i), "_metadata", 1));
    }
    return result;
}

SaveValue ValueSaver::object(Value from, const std::string& path, int depth)
{
    const auto writtenAs = [&](const std::string& what, Value contents) {
        note(path + " was a " + std::string(from.className()) + " and is written as " + what);
        return value(contents, path, depth + 1);
    };
    if (from.state().is(ValueKind::Dict))
        return writtenAs("a dict of its attributes", from.state());
    if (from.items().is(ValueKind::Dict) && from.items().size() > 0)
        return writtenAs("a dict", from.items());
    if (from.list().is(ValueKind::List) && from.list().size() > 0)
        return writtenAs("a list", from.list());
    // Paths keep their parts, enums their value, wrappers their only argument.
    const Value args = from.args();
    if (!args.is(ValueKind::Tuple) || args.size() == 0) {
        note(path + " was a " + std::string(from.className()) +
             " without plain contents and is written as None");
        return {};
    }
    if (from.className().starts_with("pathlib")) {
        note(path + " was a path and is written as text");
        return joinedPath(args);
    }
    return args.size() == 1 ? writtenAs("its argument", args.item(0))
                            : writtenAs("a tuple of its arguments", args);
}

SaveValue ValueSaver::tensor(std::uint32_t index, const std::string& path, int depth)
{
    const TensorInfo& info = checkpoint_.tensors[index];
    if (info.wrapper) {
        note(path + " is a distributed tensor of which this file holds one part; it was left out");
        return {};
    }
    if (info.pyClass != kNone)
        note(path + " was a subclass (" + std::string(checkpoint_.value(info.pyClass).text()) +
             ") and is written as a plain tensor");
    if (const Value attributes = checkpoint_.value(info.attributes);
        attributes.is(ValueKind::Dict) && attributes.size() > 0)
        note(path + " had attributes of its own, which were left out");
    const TensorExtra* extra = info.extra == kNone ? nullptr : &checkpoint_.extras[info.extra];
    const PartSaver part = [&](std::string_view name) {
        for (const auto& [label, node] : extra->parts)
            if (label == name)
                return value(checkpoint_.value(node), path, depth + 1);
        return SaveValue();
    };
    if (info.layout == Layout::Nested && extra) {
        // weights_only=True refuses the function that would put it together again.
        note(path + " was a nested tensor and is written as a dict of its parts");
        SaveDict parts;
        for (const char* name : {"buffer", "sizes", "strides", "offsets"})
            parts.set(name, part(name));
        return parts;
    }
    if (info.layout != Layout::Strided)
        return extra ? sparseCall(checkpoint_, info, part) : SaveValue();
    if (info.meta || (info.storage != kNone && checkpoint_.storages[info.storage].meta)) {
        note(path + " is a meta tensor without values; it was left out");
        return {};
    }
    report_.keys.push_back(path);
    Result<SaveTensor> dense = tensors_.dense(index);
    if (!dense) {
        fail(dense.error());
        return {};
    }
    if (extra && !extra->scheme.empty())
        return quantisedCall(*extra, *dense, part);
    return std::move(*dense);
}

SaveValue ValueSaver::numpy(Value from, const std::string& path)
{
    const bool array = from.is(ValueKind::NumpyArray);
    const std::string what = array ? " was a numpy array" : " was a numpy scalar";
    if (array) {
        if (auto made = tensorFromNumpy(checkpoint_, from.numpy())) {
            note(path + what + " and is written as a tensor");
            report_.keys.push_back(path);
            return std::move(*made);
        }
    } else if (auto made = numberFromNumpy(from.numpy())) {
        note(path + what + " and is written as a number");
        return std::move(*made);
    }
    note(path + what + " of type " + std::string(from.numpy().dtype) + " and is written as None");
    return {};
}

SaveDict ValueSaver::stateDict(const ModelPart& part)
{
    if (!part.wholeModule) {
        const SaveValue made = value(part.dict, "", 0);
        return *std::get<std::shared_ptr<const SaveDict>>(made.get());
    }
    SaveDict result;
    result.ordered = true;
    for (const ModelKey& key : part.keys) {
        if (!keeps(key.tensor))
            continue;
        const std::string name = rename(key.name);
        if (name != key.name)
            report_.renamed.emplace_back(key.name, name);
        SaveValue made = tensor(key.tensor, name, 1);
        if (!isNothing(made))
            result.set(name, std::move(made));
    }
    note("The state dict was rebuilt from the modules of class " + part.moduleClass);
    return result;
}

} // namespace lockstep
