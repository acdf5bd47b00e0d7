// The tree of a distributed checkpoint, put together from flat keys along the paths of planner_data, as torch's set_element does.
#pragma once

#include "core/ckpt/node_builder.h"

#include <map>

namespace lockstep {

class DcpTree
{
public:
    explicit DcpTree(NodeBuilder& builder) : b_(builder), root_(b_.dict(DictType::Plain)) {}
    NodeId root() const { return root_; }

    // Puts `value` at `path`: a text is a dict key, a number a list index. False if the path contradicts an earlier one.
    bool set(const std::vector<Value>& path, NodeId value);

private:
    NodeId* find(NodeId container, Value step);

    NodeBuilder& b_;
    NodeId root_;
    std::map<std::pair<NodeId, std::string_view>, std::uint32_t> index_; // place of each dict key
};

} // namespace lockstep
