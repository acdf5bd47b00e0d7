// The value tree that is written to a torch file: plain Python data and tensors over shared storages. A
// storage that is named by several tensors is written once, so tied weights stay tied and views stay views.
#pragma once

#include "core/base/status.h"
#include "core/ckpt/dtype.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lockstep {

// Receives consecutive blocks of one storage.
using ByteSink = std::function<Status(std::span<const std::byte>)>;

// Bytes of one storage, little-endian. Either `data`, which must stay valid until the write returns, or
// `produce`, which is called once during the write and must send exactly `size` bytes (large or converted
// tensors need no second copy).
struct SaveStorage {
    std::uint64_t size = 0;
    std::span<const std::byte> data;
    std::function<Status(const ByteSink&)> produce;
    std::string device = "cpu"; // location tag: where torch.load puts it without map_location

    static std::shared_ptr<const SaveStorage> over(std::span<const std::byte> bytes,
                                                   std::string device = "cpu");
};
using SaveStoragePtr = std::shared_ptr<const SaveStorage>;

// Shape, stride and offset are in elements of `dtype`; the offset counts from the start of the storage.
struct SaveTensor {
    SaveStoragePtr storage;
    DType dtype = DType::Float32;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> stride;
    std::int64_t offset = 0;
    bool requiresGrad = false;
    bool parameter = false; // torch.nn.Parameter
    bool conjugate = false;
    bool negative = false;

    // A row-major tensor that covers the whole of `bytes`.
    static SaveTensor dense(DType dtype, std::vector<std::int64_t> shape, std::span<const std::byte> bytes);
};

class SaveValue;
struct SaveDict;

struct SaveList {
    std::vector<SaveValue> items;
};
struct SaveTuple {
    std::vector<SaveValue> items;
};
// An int beyond 64 bits: little-endian two's complement, as in a pickle.
struct SaveBigInt {
    std::string bytes;
};
// A reference to a class or object, e.g. torch.float32. Only what weights_only=True accepts can be written.
struct SaveGlobal {
    std::string module;
    std::string name;
};
// A call of such a class, e.g. torch.device("cpu"), or of a rebuild function with storages among its
// arguments.
struct SaveCall {
    SaveGlobal callee;
    std::vector<SaveValue> arguments;
};
// A bare storage as it stands in the arguments of a rebuild function.
struct SaveStorageRef {
    SaveStoragePtr storage;
    DType dtype = DType::UInt8;
};

// One node. Cheap to copy: containers are shared, and a container reached by two paths is written once (as in
// Python).
class SaveValue
{
public:
    using Variant =
        std::variant<std::monostate, bool, std::int64_t, double, std::string, SaveBigInt,
                     std::shared_ptr<const SaveDict>, std::shared_ptr<const SaveList>,
                     std::shared_ptr<const SaveTuple>, std::shared_ptr<const SaveTensor>,
                     std::shared_ptr<const SaveCall>, std::shared_ptr<const SaveGlobal>, SaveStorageRef>;

    SaveValue() = default; // None
    template<std::same_as<bool> B>
    SaveValue(B value) : value_(value)
    {
    }
    template<std::integral I>
    requires(!std::same_as<I, bool>) SaveValue(I value) : value_(static_cast<std::int64_t>(value)) {}
    SaveValue(double value) : value_(value) {}
    SaveValue(std::string value) : value_(std::move(value)) {}
    SaveValue(const char* value) : value_(std::string(value)) {}
    SaveValue(SaveBigInt value) : value_(std::move(value)) {}
    SaveValue(SaveDict value);
    SaveValue(SaveList value) : value_(std::make_shared<const SaveList>(std::move(value))) {}
    SaveValue(SaveTuple value) : value_(std::make_shared<const SaveTuple>(std::move(value))) {}
    SaveValue(SaveTensor value) : value_(std::make_shared<const SaveTensor>(std::move(value))) {}
    SaveValue(SaveCall value) : value_(std::make_shared<const SaveCall>(std::move(value))) {}
    SaveValue(SaveGlobal value) : value_(std::make_shared<const SaveGlobal>(std::move(value))) {}
    SaveValue(SaveStorageRef value) : value_(std::move(value)) {}

    const Variant& get() const { return value_; }

private:
    Variant value_;
};

// Items keep their order; keys are whatever Python can hash (str and int in practice). Keys are not checked
// for repeats: the later one wins when the file is loaded.
struct SaveDict {
    std::vector<std::pair<SaveValue, SaveValue>> items;
    bool ordered = false;                       // collections.OrderedDict instead of dict
    std::shared_ptr<const SaveDict> attributes; // of an OrderedDict: {"_metadata": ...}

    void set(SaveValue key, SaveValue value) { items.emplace_back(std::move(key), std::move(value)); }
};

inline SaveValue::SaveValue(SaveDict value) : value_(std::make_shared<const SaveDict>(std::move(value)))
{
}

} // namespace lockstep
