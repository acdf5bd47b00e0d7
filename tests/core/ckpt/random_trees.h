// Random state dicts for the writer's tests, with what torch has to find in them.
#pragma once

#include "core/ckpt/save_value.h"
#include "core/ckpt/strides.h"

#include <QByteArray>
#include <QByteArrayList>

#include <bit>
#include <memory>
#include <random>
#include <vector>

namespace lockstep {

// Random state dicts and, beside each, a line of JSON with what torch has to find: every leaf with its value,
// every tensor with shape, stride, dtype, the hex of its logical bytes and a number for its storage.
class RandomTrees
{
public:
    explicit RandomTrees(std::uint64_t seed) : random_(seed) {}

    SaveValue make(QByteArray& expected)
    {
        pools_.clear();
        storages_.clear();
        SaveDict root;
        root.ordered = roll(2) == 0;
        QByteArrayList parts;
        const int count = 1 + roll(8);
        for (int i = 0; i < count; ++i) {
            QByteArray item;
            const std::string key = "k" + std::to_string(i) + (roll(4) ? "" : ".weight\xc3\xa4");
            root.set(key, value(0, item));
            parts << "[\"" + QByteArray::fromStdString(key) + "\"," + item + "]";
        }
        if (roll(4) == 0) {
            root.ordered = true;
            SaveDict metadata;
            metadata.set("_metadata", SaveDict{});
            root.attributes = std::make_shared<const SaveDict>(std::move(metadata));
        }
        expected = "[\"dict\"," + QByteArray(root.ordered ? "true" : "false") + ",[" + parts.join(',') + "]]";
        return root;
    }

private:
    int roll(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

    SaveValue value(int depth, QByteArray& json)
    {
        switch (roll(depth < 3 ? 10 : 7)) {
        case 0: {
            static const std::int64_t edges[] = {0,
                                                 1,
                                                 -1,
                                                 255,
                                                 256,
                                                 65535,
                                                 65536,
                                                 2147483647,
                                                 2147483648LL,
                                                 -2147483648LL,
                                                 -2147483649LL,
                                                 9223372036854775807LL,
                                                 -9223372036854775807LL - 1,
                                                 -128,
                                                 -32769};
            const std::int64_t n =
                roll(2) ? edges[roll(15)] : static_cast<std::int64_t>(random_()) >> roll(63);
            json = "[\"int\",\"" + QByteArray::number(static_cast<qlonglong>(n)) + "\"]";
            return n;
        }
        case 1: {
            const double d = std::bit_cast<double>(random_());
            json = "[\"float\",\"" + QByteArray::number(std::bit_cast<qulonglong>(d), 16) + "\"]";
            return d;
        }
        case 2: {
            const bool b = roll(2) == 0;
            json = b ? "[\"bool\",true]" : "[\"bool\",false]";
            return b;
        }
        case 3: {
            const std::string text = roll(2) ? "text" + std::to_string(roll(5)) : std::string(roll(400), 'z');
            json = "[\"str\",\"" + QByteArray::fromStdString(text) + "\"]";
            return text;
        }
        case 7: {
            SaveList list;
            json = "[\"list\",[" + children(list.items, depth) + "]]";
            return list;
        }
        case 8: {
            SaveTuple tuple;
            json = "[\"tuple\",[" + children(tuple.items, depth) + "]]";
            return tuple;
        }
        case 9: {
            SaveDict dict;
            QByteArrayList parts;
            for (int i = roll(5); i-- > 0;) {
                QByteArray item;
                dict.set(i, value(depth + 1, item));
                parts << "[" + QByteArray::number(i) + "," + item + "]";
            }
            json = "[\"dict\",false,[" + parts.join(',') + "]]";
            return dict;
        }
        default:
            return tensor(json);
        }
    }

    QByteArray children(std::vector<SaveValue>& items, int depth)
    {
        QByteArrayList parts;
        for (int i = roll(6); i-- > 0;) {
            QByteArray item;
            items.push_back(value(depth + 1, item));
            parts << item;
        }
        return parts.join(',');
    }

    SaveValue tensor(QByteArray& json)
    {
        static const DType types[] = {
            DType::Float64,    DType::Float32,    DType::Float16,   DType::BFloat16,  DType::Float8E4M3FN,
            DType::Float8E5M2, DType::Complex128, DType::Complex64, DType::Complex32, DType::Int64,
            DType::Int32,      DType::Int16,      DType::Int8,      DType::UInt64,    DType::UInt32,
            DType::UInt16,     DType::UInt8,      DType::Bool};
        SaveTensor tensor;
        std::size_t pool = 0;
        if (!storages_.empty() && roll(3) == 0) { // a tie, or a second view of a storage
            pool = static_cast<std::size_t>(roll(static_cast<int>(storages_.size())));
        } else {
            pool = storages_.size();
            const DType dtype = types[roll(18)];
            const std::size_t items = roll(5) == 0 ? 0 : static_cast<std::size_t>(roll(200));
            auto bytes = std::make_unique<std::vector<std::byte>>(items * itemSize(dtype));
            for (std::byte& b : *bytes)
                b = static_cast<std::byte>(dtype == DType::Bool ? roll(2) : roll(256));
            storages_.emplace_back(SaveStorage::over(*bytes), dtype);
            pools_.push_back(std::move(bytes));
            keep_.push_back(storages_.back().first);
        }
        tensor.storage = storages_[pool].first;
        tensor.dtype = storages_[pool].second;
        const auto items = static_cast<std::int64_t>(tensor.storage->size / itemSize(tensor.dtype));
        if (items == 0) {
            tensor.shape = roll(2) ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{3, 0, 2};
            tensor.stride = rowMajorStride(tensor.shape);
        } else if (roll(4) == 0) {
            tensor.offset = roll(static_cast<int>(items)); // 0-dim
        } else {
            const std::int64_t columns = 1 + roll(static_cast<int>(std::min<std::int64_t>(items, 9)));
            const std::int64_t rows = items / columns;
            tensor.shape = {rows, columns};
            tensor.stride = {columns, 1};
            if (roll(3) == 0) {
                std::swap(tensor.shape[0], tensor.shape[1]);
                std::swap(tensor.stride[0], tensor.stride[1]);
            }
            if (roll(4) == 0) {
                tensor.shape.push_back(2);
                tensor.stride.push_back(0); // expand
            }
            tensor.offset = items - rows * columns;
        }
        const bool real = dtypeInfo(tensor.dtype).kind == DTypeClass::Float;
        tensor.requiresGrad = real && itemSize(tensor.dtype) > 1 && roll(3) == 0;
        tensor.parameter = roll(4) == 0;
        json = "[\"tensor\",\"" + QByteArray(dtypeInfo(tensor.dtype).name.data()) + "\"," +
               numbers(tensor.shape) + "," + numbers(tensor.stride) + "," +
               QByteArray::number(static_cast<qlonglong>(tensor.offset)) + "," +
               QByteArray::number(static_cast<qulonglong>(pool)) + ",\"" +
               QByteArray(reinterpret_cast<const char*>(pools_[pool]->data()),
                          static_cast<qsizetype>(pools_[pool]->size()))
                   .toHex() +
               "\"," + (tensor.requiresGrad ? "true" : "false") + "," +
               (tensor.parameter ? "true" : "false") + "]";
        return tensor;
    }

    static QByteArray numbers(const std::vector<std::int64_t>& values)
    {
        QByteArrayList parts;
        for (const std::int64_t v : values)
            parts << QByteArray::number(static_cast<qlonglong>(v));
        return "[" + parts.join(',') + "]";
    }

    std::mt19937_64 random_;
    std::vector<std::unique_ptr<std::vector<std::byte>>> pools_;
    std::vector<std::pair<SaveStoragePtr, DType>> storages_;
    std::vector<SaveStoragePtr> keep_;
};

} // namespace lockstep
