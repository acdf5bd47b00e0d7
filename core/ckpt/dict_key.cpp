#include "core/ckpt/dict_key.h"

#include <bit>
#include <cmath>
#include <functional>

namespace lockstep {
namespace {

constexpr int kDepth = 16;     // of nested tuples
constexpr int kElements = 256; // looked at in one comparison

bool isNumber(ValueKind kind)
{
    return kind == ValueKind::Int || kind == ValueKind::Bool || kind == ValueKind::Float;
}

bool equal(const Checkpoint& c, NodeId a, NodeId b, int depth, int& left)
{
    if (a == b)
        return true;
    const Node& x = c.nodes[a];
    const Node& y = c.nodes[b];
    if (--left < 0 || depth > kDepth)
        return false;
    if (isNumber(x.kind) && isNumber(y.kind)) {
        const bool fx = x.kind == ValueKind::Float;
        const bool fy = y.kind == ValueKind::Float;
        if (fx && fy)
            return x.real == y.real;
        if (!fx && !fy)
            return x.integer == y.integer;
        // An int equals a float only if the float holds exactly that integer.
        const double real = fx ? x.real : y.real;
        const std::int64_t integer = fx ? y.integer : x.integer;
        return std::trunc(real) == real && real >= -9223372036854775808.0 && real < 9223372036854775808.0 &&
               static_cast<std::int64_t>(real) == integer;
    }
    if (x.kind != y.kind || x.count != y.count)
        return false;
    switch (x.kind) {
    case ValueKind::Str:
    case ValueKind::Bytes:
    case ValueKind::BigInt:
    case ValueKind::Global:
    case ValueKind::DtypeRef:
    case ValueKind::Device:
    case ValueKind::Complex:
        return std::string_view(x.text, x.count) == std::string_view(y.text, y.count);
    case ValueKind::None:
        return true;
    case ValueKind::Tuple:
    case ValueKind::Size:
        for (std::uint32_t i = 0; i < x.count; ++i)
            if (!equal(c, c.pool[x.range.first + i], c.pool[y.range.first + i], depth + 1, left))
                return false;
        return true;
    default:
        return false;
    }
}

std::uint64_t mix(std::uint64_t h, std::uint64_t v)
{
    h ^= v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
    return h * 0xff51afd7ed558ccdULL;
}

} // namespace

bool equalKeys(const Checkpoint& checkpoint, NodeId a, NodeId b)
{
    int left = kElements;
    return equal(checkpoint, a, b, 0, left);
}

std::uint64_t hashKey(const Checkpoint& c, NodeId key)
{
    const Node& n = c.nodes[key];
    switch (n.kind) {
    case ValueKind::Bool:
    case ValueKind::Int:
        return mix(1, std::bit_cast<std::uint64_t>(static_cast<double>(n.integer)));
    case ValueKind::Float:
        return mix(1, std::bit_cast<std::uint64_t>(n.real == 0 ? 0.0 : n.real));
    case ValueKind::Tuple:
    case ValueKind::Size: {
        // Elements that are tuples count by length only: enough to spread, and bounded.
        std::uint64_t h = mix(2, n.count);
        for (std::uint32_t i = 0; i < n.count && i < 8; ++i) {
            const NodeId child = c.pool[n.range.first + i];
            const ValueKind kind = c.nodes[child].kind;
            h = mix(h, kind == ValueKind::Tuple || kind == ValueKind::Size ? c.nodes[child].count
                                                                           : hashKey(c, child));
        }
        return h;
    }
    case ValueKind::Str:
    case ValueKind::Bytes:
    case ValueKind::BigInt:
    case ValueKind::Global:
    case ValueKind::DtypeRef:
    case ValueKind::Device:
    case ValueKind::Complex:
        return mix(static_cast<std::uint64_t>(n.kind) + 3, std::hash<std::string_view>{}({n.text, n.count}));
    case ValueKind::None:
        return mix(4, 4);
    default:
        return mix(5, key);
    }
}

} // namespace lockstep
