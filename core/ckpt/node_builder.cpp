#include "core/ckpt/node_builder.h"

#include "core/ckpt/dict_key.h"
#include "core/ckpt/large_block.h"
#include "core/ckpt/strides.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace lockstep {

void NodeBuilder::allow(std::uint64_t bytes)
{
    budget_ += 8 * std::min<std::uint64_t>(bytes, 1ULL << 40);
}

void NodeBuilder::expect(std::uint64_t bytes, std::size_t tensors)
{
    const std::uint64_t nodes = std::min<std::uint64_t>(bytes / 12 + 256, budget_ / (2 * sizeof(Node)));
    const std::uint64_t children = std::min<std::uint64_t>(bytes / 7 + 256, budget_ / (4 * sizeof(NodeId)));
    const std::uint64_t count = std::min<std::uint64_t>(tensors, bytes / 32);
    reserveMore(c.nodes, nodes);
    reserveMore(c.pool, children);
    reserveMore(c.tensors, count);
    reserveMore(c.storages, count);
    reserveMore(c.storageUses, count);
    reserveMore(c.dims, 4 * count);
}

void NodeBuilder::charge(std::uint64_t bytes)
{
    if (bytes > budget_)
        exhausted_ = true;
    else
        budget_ -= bytes;
}

NodeId NodeBuilder::add(Node node)
{
    // A vector that grows holds old and new block for a moment; the budget counts capacity.
    if (c.nodes.size() == c.nodes.capacity()) {
        const std::uint64_t next = std::max<std::uint64_t>(256, c.nodes.capacity() * 2);
        if (next * sizeof(Node) + c.pool.capacity() * sizeof(NodeId) > budget_ + (4u << 20) ||
            next > 0x7fffffffu) {
            exhausted_ = true;
            if (!c.nodes.empty())
                return 0;
        }
        c.nodes.reserve(static_cast<std::size_t>(next));
    }
    c.nodes.push_back(node);
    return static_cast<NodeId>(c.nodes.size() - 1);
}

bool NodeBuilder::affords(std::size_t children)
{
    const std::size_t wanted = c.pool.size() + children;
    if (wanted <= c.pool.capacity())
        return true;
    const std::uint64_t next = std::max<std::uint64_t>(wanted, c.pool.capacity() * 2);
    if (next * sizeof(NodeId) + c.nodes.capacity() * sizeof(Node) > budget_ + (4u << 20) ||
        next > 0x7fffffffu)
        exhausted_ = true;
    return !exhausted_;
}

std::uint32_t NodeBuilder::reserve(std::size_t count)
{
    if (!affords(count))
        return kNone;
    const auto first = static_cast<std::uint32_t>(c.pool.size());
    c.pool.resize(first + count, kNone);
    return first;
}

NodeId NodeBuilder::singleton(NodeId& cache, ValueKind kind)
{
    if (cache == kNone) {
        Node n;
        n.kind = kind;
        n.range = {0, 0};
        cache = add(n);
    }
    return cache;
}

NodeId NodeBuilder::boolean(bool value)
{
    NodeId& cache = value ? true_ : false_;
    if (cache == kNone) {
        Node n;
        n.kind = ValueKind::Bool;
        n.integer = value ? 1 : 0;
        cache = add(n);
    }
    return cache;
}

NodeId NodeBuilder::integer(std::int64_t value)
{
    if (!smallReady_) {
        std::fill(std::begin(small_), std::end(small_), kNone);
        smallReady_ = true;
    }
    NodeId* cache = value >= 0 && value < 256 ? &small_[value] : nullptr;
    if (cache && *cache != kNone)
        return *cache;
    Node n;
    n.kind = ValueKind::Int;
    n.integer = value;
    const NodeId id = add(n);
    if (cache)
        *cache = id;
    return id;
}

NodeId NodeBuilder::bigInt(std::string_view bytes)
{
    return text(ValueKind::BigInt, bytes);
}

NodeId NodeBuilder::real(double value)
{
    Node n;
    n.kind = ValueKind::Float;
    n.real = value;
    return add(n);
}

NodeId NodeBuilder::complex(double re, double im)
{
    std::string bytes(2 * sizeof(double), '\0');
    std::memcpy(bytes.data(), &re, sizeof re);
    std::memcpy(bytes.data() + sizeof re, &im, sizeof im);
    return text(ValueKind::Complex, c.keep(std::move(bytes)));
}

NodeId NodeBuilder::text(ValueKind kind, std::string_view bytes)
{
    Node n;
    n.kind = kind;
    n.count = static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size(), 0xffffffffu));
    n.text = bytes.data();
    return add(n);
}

NodeId NodeBuilder::container(ValueKind kind)
{
    Node n;
    n.kind = kind;
    n.range = {0, 0};
    return add(n);
}

NodeId NodeBuilder::dict(DictType type)
{
    Node n;
    n.kind = ValueKind::Dict;
    n.flags = static_cast<std::uint8_t>(type);
    n.range = {0, 0};
    return add(n);
}

NodeId NodeBuilder::sequence(ValueKind kind, std::span<const NodeId> items)
{
    if (items.empty() && kind == ValueKind::Tuple)
        return emptyTuple();
    Node n;
    n.kind = kind;
    n.range = {0, 0};
    const NodeId id = add(n);
    append(id, items);
    return id;
}

NodeId NodeBuilder::object(NodeId cls, NodeId args)
{
    Checkpoint::ObjectRec record;
    record.cls = cls;
    record.args = args;
    charge(sizeof record);
    c.objects.push_back(record);
    return reference(ValueKind::Object, static_cast<std::uint32_t>(c.objects.size() - 1));
}

NodeId NodeBuilder::reference(ValueKind kind, std::uint32_t index)
{
    Node n;
    n.kind = kind;
    n.index = index;
    return add(n);
}

NodeId NodeBuilder::tensor(const TensorInfo& info)
{
    charge(sizeof info);
    c.tensors.push_back(info);
    return reference(ValueKind::Tensor, static_cast<std::uint32_t>(c.tensors.size() - 1));
}

NodeId NodeBuilder::piecedTensor(DType dtype, std::span<const std::int64_t> shape, std::size_t firstPiece)
{
    TensorInfo info;
    info.dtype = dtype;
    info.rank = static_cast<std::uint8_t>(shape.size());
    charge(2 * sizeof(std::int64_t) * shape.size());
    info.dims = addDims(shape);
    addDims(rowMajorStride(shape));
    info.firstPiece = static_cast<std::uint32_t>(firstPiece);
    info.pieceCount = static_cast<std::uint32_t>(c.pieces.size() - firstPiece);
    info.meta = info.pieceCount == 0; // nothing to read: every part is missing
    return tensor(info);
}

void NodeBuilder::append(NodeId container, std::span<const NodeId> items)
{
    if (items.empty() || exhausted_)
        return;
    Node& n = c.nodes[container];
    const std::size_t need = static_cast<std::size_t>(n.count) + items.size();
    if (n.range.capacity == 0) { // most containers get all their children at once
        if (!affords(need))
            return;
        const auto size = static_cast<std::uint32_t>(need);
        n.range = {static_cast<std::uint32_t>(c.pool.size()), size};
        n.count = size;
        c.pool.insert(c.pool.end(), items.begin(), items.end());
        return;
    }
    if (need > n.range.capacity) {
        const bool last = n.range.first + n.range.capacity == c.pool.size();
        if (last) {
            if (reserve(need - n.range.capacity) == kNone)
                return;
            n.range.capacity = static_cast<std::uint32_t>(need);
        } else {
            const std::size_t capacity = std::max<std::size_t>(need, 2 * n.count);
            const std::uint32_t first = reserve(capacity);
            if (first == kNone)
                return;
            std::copy_n(c.pool.begin() + n.range.first, n.count, c.pool.begin() + first);
            n.range = {first, static_cast<std::uint32_t>(capacity)};
        }
    }
    std::copy(items.begin(), items.end(), c.pool.begin() + n.range.first + n.count);
    n.count = static_cast<std::uint32_t>(need);
}

NodeId NodeBuilder::copyDict(NodeId source, DictType type)
{
    const NodeId copy = dict(type);
    const Node from = c.nodes[source];
    const std::uint32_t first = from.count > 0 ? reserve(from.count) : 0;
    if (exhausted_)
        return copy;
    std::copy_n(c.pool.begin() + from.range.first, from.count, c.pool.begin() + first);
    c.nodes[copy].range = {first, from.count};
    c.nodes[copy].count = from.count;
    return copy;
}

std::uint32_t NodeBuilder::addDims(std::span<const std::int64_t> values)
{
    const auto first = static_cast<std::uint32_t>(c.dims.size());
    c.dims.insert(c.dims.end(), values.begin(), values.end());
    return first;
}

namespace {

// Places of the keys of one dict by hash. A run of more than kTries equal slots, which only a file made for it has, ends the search:
// such keys count as different.
class KeyTable
{
public:
    explicit KeyTable(std::size_t keys)
    {
        std::size_t size = 64;
        while (size < 2 * keys)
            size *= 2;
        slots_.resize(size);
    }

    // Place of the equal key, or kNone after the key was entered at `place`.
    template<typename Equal>
    std::uint32_t findOrAdd(std::uint64_t hash, std::uint32_t place, Equal&& equal)
    {
        constexpr int kTries = 64;
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        std::size_t at = hash & (slots_.size() - 1);
        for (int i = 0; i < kTries; ++i, at = (at + 1) & (slots_.size() - 1)) {
            Slot& slot = slots_[at];
            if (slot.place == kNone) {
                slot = {tag, place};
                return kNone;
            }
            if (slot.tag == tag && equal(slot.place))
                return slot.place;
        }
        return kNone;
    }

private:
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t place = kNone;
    };
    std::vector<Slot> slots_;
};

} // namespace

void NodeBuilder::mergeKeys(NodeId first)
{
    for (NodeId id = first; id < c.nodes.size(); ++id) {
        Node& n = c.nodes[id];
        const bool isDict = n.kind == ValueKind::Dict;
        if (!isDict && n.kind != ValueKind::Set && n.kind != ValueKind::FrozenSet)
            continue;
        const std::uint32_t step = isDict ? 2 : 1;
        if (n.count < 2 * step)
            continue;
        NodeId* children = c.pool.data() + n.range.first;
        std::uint32_t kept = 0;
        const auto same = [&](std::uint32_t place, NodeId key) { return equalKeys(c, children[place], key); };
        // Small dicts, nearly all of them, need no table.
        std::optional<KeyTable> table;
        if (n.count > 16 * step)
            table.emplace(n.count / step);
        for (std::uint32_t i = 0; i + step <= n.count; i += step) {
            const NodeId key = children[i];
            std::uint32_t found = kNone;
            if (table)
                found = table->findOrAdd(hashKey(c, key), kept,
                                         [&](std::uint32_t place) { return same(place, key); });
            for (std::uint32_t k = 0; !table && k < kept && found == kNone; k += step)
                if (same(k, key))
                    found = k;
            if (found != kNone) {
                if (isDict)
                    children[found + 1] = children[i + 1];
                continue;
            }
            children[kept] = key;
            if (isDict)
                children[kept + 1] = children[i + 1];
            kept += step;
        }
        n.count = kept;
    }
}

} // namespace lockstep
