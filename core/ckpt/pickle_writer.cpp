#include "core/ckpt/pickle_writer.h"

#include "core/ckpt/pickle_emitter.h"
#include "core/ckpt/strides.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <unordered_set>

namespace lockstep {
namespace {

constexpr int kMaxDepth = 1000;
constexpr std::size_t kBatch = 1000; // items between two MARKs, as Python's pickler does it

// What weights_only=True builds without being asked to, apart from the rebuild functions and storage classes
// of torch (torch/_weights_only_unpickler.py, _get_allowed_globals). Protocol 2 writes builtins as
// __builtin__.
constexpr std::array<std::string_view, 20> kAllowed = {"torch.Size",
                                                       "torch.device",
                                                       "torch.serialization._get_layout",
                                                       "torch.per_tensor_affine",
                                                       "torch.per_channel_affine",
                                                       "torch.strided",
                                                       "torch.sparse_coo",
                                                       "torch._utils._rebuild_qtensor",
                                                       "torch._utils._rebuild_sparse_tensor",
                                                       "torch._utils._rebuild_meta_tensor_no_storage",
                                                       "torch._utils._rebuild_tensor_v2",
                                                       "torch._utils._rebuild_tensor_v3",
                                                       "torch._utils._rebuild_parameter",
                                                       "torch._utils._rebuild_parameter_with_state",
                                                       "collections.OrderedDict",
                                                       "collections.Counter",
                                                       "_codecs.encode",
                                                       "__builtin__.set",
                                                       "__builtin__.complex",
                                                       "__builtin__.bytearray"};

bool allowed(const SaveGlobal& global)
{
    if (global.module == "torch" && dtypeFromName(global.name))
        return true;
    const std::string full = global.module + "." + global.name;
    return std::find(kAllowed.begin(), kAllowed.end(), full) != kAllowed.end();
}

Error refuse(std::string why)
{
    return Error{ErrorKind::Usage, "The value cannot be saved", std::move(why), ""};
}

class Pickler
{
public:
    Result<PickledTree> run(const SaveValue& root)
    {
        if (Status status = collectTypes(root, 0); !status.ok())
            return status.error();
        if (Status status = write(root, 0); !status.ok())
            return status.error();
        out_.op('.');
        tree_.bytes = out_.take();
        return std::move(tree_);
    }

private:
    struct StorageUse {
        std::size_t index = 0;
        DType dtype = DType::UInt8;
        bool untyped = false; // seen with two element types, or with one that has no storage class
        bool written = false;
    };

    // A storage is announced with one class for all its tensors, so the types are known before the first is
    // written.
    Status collectTypes(const SaveValue& value, int depth);
    Status collectAll(const std::vector<SaveValue>& items, int depth);
    Status collectItems(const SaveDict& dict, int depth);
    Status noteStorage(const SaveStoragePtr& storage, DType dtype);
    Status write(const SaveValue& value, int depth);
    Status writeDict(const SaveDict& dict, int depth);
    Status writeItems(const SaveDict& dict, int depth);
    Status writeTuple(const std::vector<SaveValue>& items, int depth);
    Status writeList(const SaveList& list, int depth);
    Status writeCall(const SaveCall& call, int depth);
    Status writeGlobal(const SaveGlobal& global);
    Status writeTensor(const SaveTensor& tensor);
    Status writeStorage(const SaveStoragePtr& storage);
    void noteNewType(std::string_view type);

    PickledTree tree_;
    PickleEmitter out_;
    std::unordered_map<const SaveStorage*, StorageUse> storages_;
    std::unordered_set<const void*> seen_; // containers whose storages are collected
};

Status Pickler::noteStorage(const SaveStoragePtr& storage, DType dtype)
{
    if (!storage)
        return refuse("a tensor has no storage");
    const DTypeInfo& info = dtypeInfo(dtype);
    const auto [place, fresh] = storages_.try_emplace(storage.get());
    StorageUse& use = place->second;
    if (fresh)
        use.dtype = dtype;
    if (info.storageClass.empty() || use.dtype != dtype || storage->size % info.itemSize != 0)
        use.untyped = true;
    return {};
}

Status Pickler::collectAll(const std::vector<SaveValue>& items, int depth)
{
    for (const SaveValue& item : items)
        if (Status status = collectTypes(item, depth + 1); !status.ok())
            return status;
    return {};
}

Status Pickler::collectItems(const SaveDict& dict, int depth)
{
    for (const auto& [key, item] : dict.items) {
        if (Status status = collectTypes(key, depth + 1); !status.ok())
            return status;
        if (Status status = collectTypes(item, depth + 1); !status.ok())
            return status;
    }
    return dict.attributes ? collectItems(*dict.attributes, depth) : Status{};
}

Status Pickler::collectTypes(const SaveValue& value, int depth)
{
    if (depth > kMaxDepth)
        return refuse("it is nested deeper than 1,000 levels");
    const SaveValue::Variant& node = value.get();
    if (const auto* tensor = std::get_if<std::shared_ptr<const SaveTensor>>(&node))
        return noteStorage((*tensor)->storage, (*tensor)->dtype);
    if (const auto* bare = std::get_if<SaveStorageRef>(&node))
        return noteStorage(bare->storage, bare->dtype);
    // A container reached by many paths is walked once, or a doubling graph would take forever.
    const auto fresh = [&](const auto& container) { return seen_.insert(container.get()).second; };
    if (const auto* dict = std::get_if<std::shared_ptr<const SaveDict>>(&node))
        return fresh(*dict) ? collectItems(**dict, depth) : Status{};
    if (const auto* list = std::get_if<std::shared_ptr<const SaveList>>(&node))
        return fresh(*list) ? collectAll((*list)->items, depth) : Status{};
    if (const auto* tuple = std::get_if<std::shared_ptr<const SaveTuple>>(&node))
        return fresh(*tuple) ? collectAll((*tuple)->items, depth) : Status{};
    if (const auto* call = std::get_if<std::shared_ptr<const SaveCall>>(&node))
        return fresh(*call) ? collectAll((*call)->arguments, depth) : Status{};
    return {};
}

// BINPERSID of ('storage', class, key, location, numel); for UntypedStorage numel counts bytes.
Status Pickler::writeStorage(const SaveStoragePtr& storage)
{
    StorageUse& use = storages_.at(storage.get());
    if (!use.written) {
        use.index = tree_.storages.size();
        use.written = true;
        tree_.storages.push_back(storage);
    }
    out_.openTuple(5);
    out_.text("storage");
    if (use.untyped)
        out_.global("torch.storage", "UntypedStorage");
    else
        out_.global("torch", std::string(dtypeInfo(use.dtype).storageClass));
    out_.freshText(std::to_string(use.index));
    out_.text(storage->device);
    out_.integer(
        static_cast<std::int64_t>(use.untyped ? storage->size : storage->size / itemSize(use.dtype)));
    out_.closeTuple(5);
    out_.op('Q');
    return {};
}

void Pickler::noteNewType(std::string_view type)
{
    tree_.needsTorch = "2.1";
    std::vector<std::string>& types = tree_.newerBecauseOf;
    if (std::find(types.begin(), types.end(), type) == types.end())
        types.emplace_back(type);
}

Status Pickler::writeTensor(const SaveTensor& tensor)
{
    const auto end = viewEnd(tensor.shape, tensor.stride, tensor.offset);
    if (!end || static_cast<std::uint64_t>(*end) > tensor.storage->size / itemSize(tensor.dtype))
        return refuse("a tensor's shape, stride or offset leaves its storage of " +
                      std::to_string(tensor.storage->size) + " bytes");
    const DTypeInfo& info = dtypeInfo(tensor.dtype);
    if (info.kind == DTypeClass::Quantised || tensor.dtype == DType::QUInt4x2 ||
        tensor.dtype == DType::QUInt2x4)
        return refuse("a quantised tensor needs its scale: write it as a call of _rebuild_qtensor");
    const bool untyped = storages_.at(tensor.storage.get()).untyped;
    if (untyped)
        noteNewType(info.name);
    if (tensor.parameter)
        out_.global("torch._utils", "_rebuild_parameter");
    out_.global("torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
    out_.op('(');
    if (Status status = writeStorage(tensor.storage); !status.ok())
        return status;
    out_.integer(tensor.offset);
    out_.sizes(tensor.shape);
    out_.sizes(tensor.stride);
    out_.boolean(tensor.requiresGrad && !tensor.parameter);
    out_.orderedDict(); // backward hooks, always empty
    if (untyped)
        out_.global("torch", std::string(info.name));
    if (tensor.conjugate || tensor.negative) {
        out_.ops("}(");
        for (const auto& [flag, set] :
             {std::pair{"conj", tensor.conjugate}, std::pair{"neg", tensor.negative}}) {
            if (!set)
                continue;
            out_.text(flag);
            out_.boolean(true);
        }
        out_.op('u');
    }
    out_.ops("tR");
    if (tensor.parameter) {
        out_.boolean(tensor.requiresGrad);
        out_.orderedDict();
        out_.ops("\x87R");
    }
    return {};
}

Status Pickler::writeTuple(const std::vector<SaveValue>& items, int depth)
{
    out_.openTuple(items.size());
    for (const SaveValue& item : items)
        if (Status status = write(item, depth + 1); !status.ok())
            return status;
    out_.closeTuple(items.size());
    return {};
}

Status Pickler::writeList(const SaveList& list, int depth)
{
    for (std::size_t i = 0; i < list.items.size(); ++i) {
        if (i % kBatch == 0)
            out_.op('(');
        if (Status status = write(list.items[i], depth + 1); !status.ok())
            return status;
        if ((i + 1) % kBatch == 0 || i + 1 == list.items.size())
            out_.op('e');
    }
    return {};
}

Status Pickler::writeItems(const SaveDict& dict, int depth)
{
    for (std::size_t i = 0; i < dict.items.size(); ++i) {
        if (i % kBatch == 0)
            out_.op('(');
        if (Status status = write(dict.items[i].first, depth + 1); !status.ok())
            return status;
        if (Status status = write(dict.items[i].second, depth + 1); !status.ok())
            return status;
        if ((i + 1) % kBatch == 0 || i + 1 == dict.items.size())
            out_.op('u');
    }
    return {};
}

Status Pickler::writeDict(const SaveDict& dict, int depth)
{
    if (dict.ordered)
        out_.orderedDict();
    else
        out_.op('}');
    out_.remember(&dict);
    if (Status status = writeItems(dict, depth); !status.ok())
        return status;
    if (!dict.attributes)
        return {};
    if (!dict.ordered)
        return refuse("only an OrderedDict can carry attributes");
    out_.op('}');
    if (Status status = writeItems(*dict.attributes, depth); !status.ok())
        return status;
    out_.op('b');
    return {};
}

Status Pickler::writeGlobal(const SaveGlobal& global)
{
    if (!allowed(global))
        return refuse(global.module + "." + global.name + " would make weights_only=True refuse the file");
    out_.global(global.module, global.name);
    return {};
}

Status Pickler::writeCall(const SaveCall& call, int depth)
{
    if (Status status = writeGlobal(call.callee); !status.ok())
        return status;
    if (Status status = writeTuple(call.arguments, depth); !status.ok())
        return status;
    out_.op('R');
    out_.remember(&call);
    return {};
}

Status Pickler::write(const SaveValue& value, int depth)
{
    struct Visitor {
        Pickler& self;
        int depth;

        Status operator()(std::monostate) const { return self.out_.none(), Status{}; }
        Status operator()(bool flag) const { return self.out_.boolean(flag), Status{}; }
        Status operator()(std::int64_t number) const { return self.out_.integer(number), Status{}; }
        Status operator()(double number) const { return self.out_.real(number), Status{}; }
        Status operator()(const std::string& text) const
        {
            if (text.size() > std::numeric_limits<std::uint32_t>::max())
                return refuse("a text is longer than 4 GiB");
            return self.out_.text(text), Status{};
        }
        Status operator()(const SaveBigInt& number) const
        {
            if (number.bytes.size() > 255)
                return refuse("an integer has more than 255 bytes");
            return self.out_.bigInteger(number.bytes), Status{};
        }
        Status operator()(const std::shared_ptr<const SaveDict>& dict) const
        {
            return self.out_.again(dict.get()) ? Status{} : self.writeDict(*dict, depth);
        }
        Status operator()(const std::shared_ptr<const SaveList>& list) const
        {
            if (self.out_.again(list.get()))
                return {};
            self.out_.op(']');
            self.out_.remember(list.get());
            return self.writeList(*list, depth);
        }
        Status operator()(const std::shared_ptr<const SaveTuple>& tuple) const
        {
            if (self.out_.again(tuple.get()))
                return {};
            Status status = self.writeTuple(tuple->items, depth);
            if (status.ok() && !tuple->items.empty())
                self.out_.remember(tuple.get());
            return status;
        }
        Status operator()(const std::shared_ptr<const SaveTensor>& tensor) const
        {
            if (self.out_.again(tensor.get()))
                return {};
            Status status = self.writeTensor(*tensor);
            if (status.ok() && tensor.use_count() > 1)
                self.out_.remember(tensor.get());
            return status;
        }
        Status operator()(const std::shared_ptr<const SaveGlobal>& global) const
        {
            return self.writeGlobal(*global);
        }
        Status operator()(const std::shared_ptr<const SaveCall>& call) const
        {
            return self.out_.again(call.get()) ? Status{} : self.writeCall(*call, depth);
        }
        Status operator()(const SaveStorageRef& bare) const { return self.writeStorage(bare.storage); }
    };
    if (depth > kMaxDepth)
        return refuse("it is nested deeper than 1,000 levels");
    return std::visit(Visitor{*this, depth}, value.get());
}

} // namespace

Result<PickledTree> pickleTree(const SaveValue& root)
{
    return Pickler().run(root);
}

} // namespace lockstep
