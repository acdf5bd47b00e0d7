#include "core/ckpt/dcp_tree.h"

namespace lockstep {

bool DcpTree::set(const std::vector<Value>& path, NodeId value)
{
    NodeId at = root_;
    for (std::size_t i = 0; i < path.size(); ++i) {
        NodeId* place = find(at, path[i]);
        if (!place)
            return false;
        if (i + 1 == path.size()) {
            *place = value;
            return true;
        }
        if (*place == kNone || b_.c.nodes[*place].kind == ValueKind::None)
            *place =
                path[i + 1].is(ValueKind::Str) ? b_.dict(DictType::Plain) : b_.container(ValueKind::List);
        at = *place;
    }
    return false;
}

// The child of `container` at `step`, made if it is not there.
NodeId* DcpTree::find(NodeId container, Value step)
{
    const Node& n = b_.c.nodes[container];
    if (n.kind == ValueKind::Dict && step.is(ValueKind::Str)) {
        const auto [it, fresh] = index_.try_emplace({container, step.text()}, n.count / 2);
        if (fresh)
            b_.append(container, {step.id(), kNone});
        const Node& now = b_.c.nodes[container];
        return 2 * it->second + 1 < now.count ? &b_.c.pool[now.range.first + 2 * it->second + 1] : nullptr;
    }
    constexpr std::int64_t kMaxIndex = 1000000;
    if (n.kind == ValueKind::List && step.is(ValueKind::Int) && step.integer() >= 0 &&
        step.integer() < kMaxIndex) {
        const auto i = static_cast<std::uint32_t>(step.integer());
        while (b_.c.nodes[container].count <= i && b_.withinBudget())
            b_.append(container, {b_.none()});
        const Node& now = b_.c.nodes[container];
        return i < now.count ? &b_.c.pool[now.range.first + i] : nullptr;
    }
    return nullptr;
}

} // namespace lockstep
