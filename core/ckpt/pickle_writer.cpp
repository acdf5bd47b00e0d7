#include "core/ckpt/pickle_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <unordered_map>

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

// Whether every element of the view lies inside its storage; all arithmetic is checked.
bool fits(const SaveTensor& tensor)
{
    if (tensor.shape.size() != tensor.stride.size() || tensor.offset < 0)
        return false;
    std::int64_t last = tensor.offset;
    bool empty = false;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        if (tensor.shape[i] < 0 || tensor.stride[i] < 0)
            return false;
        empty = empty || tensor.shape[i] == 0;
        std::int64_t reach = 0;
        if (tensor.shape[i] > 0 && (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.stride[i], &reach) ||
                                    __builtin_add_overflow(last, reach, &last)))
            return false;
    }
    if (empty)
        return true;
    const std::uint64_t items = tensor.storage->size / itemSize(tensor.dtype);
    return static_cast<std::uint64_t>(last) < items;
}

class Pickler
{
public:
    Result<PickledTree> run(const SaveValue& root)
    {
        out_.bytes = "\x80\x02";
        if (Status status = collectTypes(root, 0); !status.ok())
            return status.error();
        seen_.clear();
        if (Status status = write(root, 0); !status.ok())
            return status.error();
        op('.');
        return std::move(out_);
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
    Status noteStorage(const SaveStoragePtr& storage, DType dtype);
    Status write(const SaveValue& value, int depth);
    Status writeDict(const SaveDict& dict, int depth);
    Status writeItems(const SaveDict& dict, int depth);
    Status writeTuple(const std::vector<SaveValue>& items, int depth);
    Status writeList(const SaveList& list, int depth);
    Status writeTensor(const SaveTensor& tensor);
    void writeStorage(const SaveStoragePtr& storage);
    void writeInt(std::int64_t value);
    void writeReal(double value);
    void writeText(const std::string& text);
    void writeGlobal(const std::string& module, const std::string& name);
    void writeSizes(std::span<const std::int64_t> sizes);

    void op(char code) { out_.bytes += code; }
    void le(std::uint64_t value, int bytes)
    {
        for (int i = 0; i < bytes; ++i)
            out_.bytes += static_cast<char>(value >> (8 * i));
    }
    std::uint32_t put();
    void get(std::uint32_t slot);
    // Writes a back reference if `object` was written before.
    bool again(const void* object);

    PickledTree out_;
    std::uint32_t slots_ = 0;
    std::unordered_map<const void*, std::uint32_t> memo_;
    std::unordered_map<std::string, std::uint32_t> texts_;
    std::map<std::pair<std::string, std::string>, std::uint32_t> globals_;
    std::unordered_map<const SaveStorage*, StorageUse> storages_;
    std::unordered_map<const void*, bool> seen_;
};

std::uint32_t Pickler::put()
{
    const std::uint32_t slot = slots_++;
    op(slot < 256 ? 'q' : 'r');
    le(slot, slot < 256 ? 1 : 4);
    return slot;
}

void Pickler::get(std::uint32_t slot)
{
    op(slot < 256 ? 'h' : 'j');
    le(slot, slot < 256 ? 1 : 4);
}

bool Pickler::again(const void* object)
{
    const auto found = memo_.find(object);
    if (found == memo_.end())
        return false;
    get(found->second);
    return true;
}

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

Status Pickler::collectTypes(const SaveValue& value, int depth)
{
    if (depth > kMaxDepth)
        return refuse("it is nested deeper than 1,000 levels");
    const auto all = [&](const std::vector<SaveValue>& items) -> Status {
        for (const SaveValue& item : items)
            if (Status status = collectTypes(item, depth + 1); !status.ok())
                return status;
        return {};
    };
    const auto dict = [&](const SaveDict& node) -> Status {
        for (const auto& [key, item] : node.items) {
            if (Status status = collectTypes(key, depth + 1); !status.ok())
                return status;
            if (Status status = collectTypes(item, depth + 1); !status.ok())
                return status;
        }
        return {};
    };
    const SaveValue::Variant& node = value.get();
    if (const auto* tensor = std::get_if<std::shared_ptr<const SaveTensor>>(&node))
        return noteStorage((*tensor)->storage, (*tensor)->dtype);
    if (const auto* bare = std::get_if<SaveStorageRef>(&node))
        return noteStorage(bare->storage, bare->dtype);
    // A container reached by many paths is walked once, or a doubling graph would take forever.
    if (const auto* map = std::get_if<std::shared_ptr<const SaveDict>>(&node)) {
        if (!seen_.try_emplace(map->get(), true).second)
            return {};
        if (Status status = dict(**map); !status.ok() || !(*map)->attributes)
            return status;
        return dict(*(*map)->attributes);
    }
    if (const auto* list = std::get_if<std::shared_ptr<const SaveList>>(&node))
        return seen_.try_emplace(list->get(), true).second ? all((*list)->items) : Status{};
    if (const auto* tuple = std::get_if<std::shared_ptr<const SaveTuple>>(&node))
        return seen_.try_emplace(tuple->get(), true).second ? all((*tuple)->items) : Status{};
    if (const auto* call = std::get_if<std::shared_ptr<const SaveCall>>(&node))
        return seen_.try_emplace(call->get(), true).second ? all((*call)->arguments) : Status{};
    return {};
}

void Pickler::writeInt(std::int64_t value)
{
    if (value >= 0 && value < 256) {
        op('K');
        le(static_cast<std::uint64_t>(value), 1);
    } else if (value >= 0 && value < 65536) {
        op('M');
        le(static_cast<std::uint64_t>(value), 2);
    } else if (value >= std::numeric_limits<std::int32_t>::min() &&
               value <= std::numeric_limits<std::int32_t>::max()) {
        op('J');
        le(static_cast<std::uint64_t>(value), 4);
    } else {
        int bytes = 8; // LONG1 wants the shortest two's complement form
        while (bytes > 1) {
            const std::int64_t rest = value >> (8 * (bytes - 1) - 1);
            if (rest != 0 && rest != -1)
                break;
            --bytes;
        }
        op('\x8a');
        le(static_cast<std::uint64_t>(bytes), 1);
        le(static_cast<std::uint64_t>(value), bytes);
    }
}

void Pickler::writeReal(double value)
{
    op('G');
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 7; i >= 0; --i)
        out_.bytes += static_cast<char>(bits >> (8 * i));
}

void Pickler::writeText(const std::string& text)
{
    if (const auto found = texts_.find(text); found != texts_.end()) {
        get(found->second);
        return;
    }
    op('X');
    le(text.size(), 4);
    out_.bytes += text;
    texts_.emplace(text, put());
}

void Pickler::writeGlobal(const std::string& module, const std::string& name)
{
    const auto key = std::make_pair(module, name);
    if (const auto found = globals_.find(key); found != globals_.end()) {
        get(found->second);
        return;
    }
    op('c');
    out_.bytes += module + "\n" + name + "\n";
    globals_.emplace(key, put());
}

void Pickler::writeSizes(std::span<const std::int64_t> sizes)
{
    if (sizes.empty()) {
        op(')');
        return;
    }
    if (sizes.size() > 3)
        op('(');
    for (const std::int64_t size : sizes)
        writeInt(size);
    op(sizes.size() > 3 ? 't' : static_cast<char>(0x84 + sizes.size()));
}

// BINPERSID of ('storage', class, key, location, numel); for UntypedStorage numel counts bytes.
void Pickler::writeStorage(const SaveStoragePtr& storage)
{
    StorageUse& use = storages_.at(storage.get());
    if (!use.written) {
        use.index = out_.storages.size();
        use.written = true;
        out_.storages.push_back(storage);
    }
    op('(');
    writeText("storage");
    if (use.untyped)
        writeGlobal("torch.storage", "UntypedStorage");
    else
        writeGlobal("torch", std::string(dtypeInfo(use.dtype).storageClass));
    const std::string key = std::to_string(use.index);
    op('X'); // not remembered: most keys are used once
    le(key.size(), 4);
    out_.bytes += key;
    writeText(storage->device);
    writeInt(static_cast<std::int64_t>(use.untyped ? storage->size : storage->size / itemSize(use.dtype)));
    op('t');
    op('Q');
}

Status Pickler::writeTensor(const SaveTensor& tensor)
{
    if (!fits(tensor))
        return refuse("a tensor's shape, stride or offset leaves its storage of " +
                      std::to_string(tensor.storage->size) + " bytes");
    const DTypeInfo& info = dtypeInfo(tensor.dtype);
    if (info.kind == DTypeClass::Quantised || tensor.dtype == DType::QUInt4x2 ||
        tensor.dtype == DType::QUInt2x4)
        return refuse("a quantised tensor needs its scale: write it as a call of _rebuild_qtensor");
    const bool untyped = storages_.at(tensor.storage.get()).untyped;
    if (untyped) {
        out_.needsTorch = "2.1";
        const std::string name(info.name);
        if (std::find(out_.newerBecauseOf.begin(), out_.newerBecauseOf.end(), name) ==
            out_.newerBecauseOf.end())
            out_.newerBecauseOf.push_back(name);
    }
    if (tensor.parameter) {
        writeGlobal("torch._utils", "_rebuild_parameter");
    }
    writeGlobal("torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
    op('(');
    writeStorage(tensor.storage);
    writeInt(tensor.offset);
    writeSizes(tensor.shape);
    writeSizes(tensor.stride);
    op(tensor.requiresGrad && !tensor.parameter ? '\x88' : '\x89');
    writeGlobal("collections", "OrderedDict"); // backward hooks, always empty
    out_.bytes += ")R";
    if (untyped)
        writeGlobal("torch", std::string(info.name));
    if (tensor.conjugate || tensor.negative) {
        out_.bytes += "}(";
        for (const auto& [flag, set] :
             {std::pair{"conj", tensor.conjugate}, std::pair{"neg", tensor.negative}}) {
            if (!set)
                continue;
            writeText(flag);
            op('\x88');
        }
        op('u');
    }
    out_.bytes += "tR";
    if (tensor.parameter) {
        op(tensor.requiresGrad ? '\x88' : '\x89');
        writeGlobal("collections", "OrderedDict");
        out_.bytes += ")R\x87R";
    }
    return {};
}

Status Pickler::writeTuple(const std::vector<SaveValue>& items, int depth)
{
    if (items.empty()) {
        op(')');
        return {};
    }
    if (items.size() > 3)
        op('(');
    for (const SaveValue& item : items)
        if (Status status = write(item, depth + 1); !status.ok())
            return status;
    op(items.size() > 3 ? 't' : static_cast<char>(0x84 + items.size()));
    return {};
}

Status Pickler::writeList(const SaveList& list, int depth)
{
    for (std::size_t i = 0; i < list.items.size(); ++i) {
        if (i % kBatch == 0)
            op('(');
        if (Status status = write(list.items[i], depth + 1); !status.ok())
            return status;
        if ((i + 1) % kBatch == 0 || i + 1 == list.items.size())
            op('e');
    }
    return {};
}

Status Pickler::writeItems(const SaveDict& dict, int depth)
{
    for (std::size_t i = 0; i < dict.items.size(); ++i) {
        if (i % kBatch == 0)
            op('(');
        if (Status status = write(dict.items[i].first, depth + 1); !status.ok())
            return status;
        if (Status status = write(dict.items[i].second, depth + 1); !status.ok())
            return status;
        if ((i + 1) % kBatch == 0 || i + 1 == dict.items.size())
            op('u');
    }
    return {};
}

Status Pickler::writeDict(const SaveDict& dict, int depth)
{
    if (dict.ordered) {
        writeGlobal("collections", "OrderedDict");
        out_.bytes += ")R";
    } else {
        op('}');
    }
    memo_.emplace(&dict, put());
    if (Status status = writeItems(dict, depth); !status.ok())
        return status;
    if (!dict.attributes)
        return {};
    if (!dict.ordered)
        return refuse("only an OrderedDict can carry attributes");
    op('}');
    if (Status status = writeItems(*dict.attributes, depth); !status.ok())
        return status;
    op('b');
    return {};
}

Status Pickler::write(const SaveValue& value, int depth)
{
    struct Visitor {
        Pickler& self;
        int depth;

        Status operator()(std::monostate) const { return self.op('N'), Status{}; }
        Status operator()(bool flag) const { return self.op(flag ? '\x88' : '\x89'), Status{}; }
        Status operator()(std::int64_t number) const { return self.writeInt(number), Status{}; }
        Status operator()(double number) const { return self.writeReal(number), Status{}; }
        Status operator()(const std::string& text) const
        {
            if (text.size() > std::numeric_limits<std::uint32_t>::max())
                return refuse("a text is longer than 4 GiB");
            return self.writeText(text), Status{};
        }
        Status operator()(const SaveBigInt& number) const
        {
            if (number.bytes.size() > 255)
                return refuse("an integer has more than 255 bytes");
            self.op('\x8a');
            self.le(number.bytes.size(), 1);
            self.out_.bytes += number.bytes;
            return {};
        }
        Status operator()(const std::shared_ptr<const SaveDict>& dict) const
        {
            return self.again(dict.get()) ? Status{} : self.writeDict(*dict, depth);
        }
        Status operator()(const std::shared_ptr<const SaveList>& list) const
        {
            if (self.again(list.get()))
                return {};
            self.op(']');
            self.memo_.emplace(list.get(), self.put());
            return self.writeList(*list, depth);
        }
        Status operator()(const std::shared_ptr<const SaveTuple>& tuple) const
        {
            if (self.again(tuple.get()))
                return {};
            Status status = self.writeTuple(tuple->items, depth);
            if (status.ok() && !tuple->items.empty())
                self.memo_.emplace(tuple.get(), self.put());
            return status;
        }
        Status operator()(const std::shared_ptr<const SaveTensor>& tensor) const
        {
            if (self.again(tensor.get()))
                return {};
            Status status = self.writeTensor(*tensor);
            if (status.ok() && tensor.use_count() > 1)
                self.memo_.emplace(tensor.get(), self.put());
            return status;
        }
        Status operator()(const std::shared_ptr<const SaveGlobal>& global) const
        {
            if (!allowed(*global))
                return refuse(global->module + "." + global->name +
                              " would make weights_only=True refuse the file");
            return self.writeGlobal(global->module, global->name), Status{};
        }
        Status operator()(const std::shared_ptr<const SaveCall>& call) const
        {
            if (self.again(call.get()))
                return {};
            const SaveGlobal& callee = call->callee;
            if (!allowed(callee))
                return refuse(callee.module + "." + callee.name +
                              " would make weights_only=True refuse the file");
            self.writeGlobal(callee.module, callee.name);
            if (Status status = self.writeTuple(call->arguments, depth); !status.ok())
                return status;
            self.op('R');
            self.memo_.emplace(call.get(), self.put());
            return {};
        }
        Status operator()(const SaveStorageRef& bare) const
        {
            return self.writeStorage(bare.storage), Status{};
        }
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
