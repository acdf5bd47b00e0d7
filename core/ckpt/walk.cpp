#include "core/ckpt/walk.h"

#include "core/ckpt/leaf_path.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr std::uint64_t kRepeats = 20000;      // leaves below containers that are reached by several paths
constexpr std::uint64_t kPathBytes = 4u << 20; // of all paths together, plus a share of the pickle
constexpr std::size_t kPackedInts = 64;

class Walker
{
public:
    Walker(const Checkpoint& c, const std::function<void(const Leaf&)>& visit)
        : c_(c),
          visit_(visit),
          seen_(c.nodes.size(), false),
          open_(c.nodes.size(), false),
          repeatsLeft_(kRepeats + 4 * c.nodes.size()),
          pathBytesLeft_(kPathBytes + 16 * c.pickleBytes)
    {
    }

    WalkResult run()
    {
        if (c_.root == kNone)
            return {};
        enter(c_.root);
        while (!stack_.empty() && complete_)
            next();
        return {leaves_, complete_};
    }

private:
    // A container on the way down. `part` counts through its sections, `i` through the elements of one.
    struct Frame {
        NodeId node;
        std::uint32_t part = 0;
        std::uint32_t i = 0;
        std::uint32_t pathSize;
        bool repeat; // below a container already listed elsewhere
        bool mark;   // this frame put `node` on the way, for cycles
    };

    void leaf(Value value, bool packed = false)
    {
        if (!spend())
            return;
        Leaf l;
        l.path = path_;
        l.value = value;
        l.packed = packed;
        ++leaves_;
        visit_(l);
    }

    bool spend()
    {
        if (pathBytesLeft_ < path_.size() || (repeating() && repeatsLeft_ == 0)) {
            complete_ = false;
            return false;
        }
        pathBytesLeft_ -= path_.size();
        if (repeating())
            --repeatsLeft_;
        return true;
    }

    bool repeating() const { return !stack_.empty() && stack_.back().repeat; }

    bool packable(Value v) const
    {
        if (v.size() <= kPackedInts)
            return false;
        for (std::size_t i = 0; i < v.size(); ++i)
            if (const ValueKind k = v.item(i).kind(); k != ValueKind::Int && k != ValueKind::BigInt)
                return false;
        return true;
    }

    void enter(NodeId id)
    {
        const Value v = c_.value(id);
        switch (v.kind()) {
        case ValueKind::List:
        case ValueKind::Tuple:
            if (v.size() == 0 || packable(v)) {
                leaf(v, v.size() > 0);
                return;
            }
            break;
        case ValueKind::Dict:
            if (v.size() == 0) {
                leaf(v);
                return;
            }
            break;
        case ValueKind::Object:
            break;
        case ValueKind::Tensor:
            if (v.tensor().extra == kNone && v.tensor().attributes == kNone) {
                leaf(v);
                return;
            }
            break;
        default:
            leaf(v);
            return;
        }
        if (open_[id]) {
            if (!spend())
                return;
            Leaf l;
            l.path = path_;
            l.value = v;
            l.cycle = true;
            l.target = std::string_view(path_).substr(0, pathOfOpen(id));
            ++leaves_;
            visit_(l);
            return;
        }
        const bool repeat = repeating() || seen_[id];
        seen_[id] = true;
        push(id, repeat, true);
        if (v.is(ValueKind::Object) || v.is(ValueKind::Tensor))
            leaf(v);
    }

    // Size of the path of a container on the way down. Looked for one by one: only cycles ask, and each costs its path's bytes.
    std::size_t pathOfOpen(NodeId id) const
    {
        const auto frame = std::find_if(stack_.begin(), stack_.end(),
                                        [id](const Frame& f) { return f.node == id && f.mark; });
        return frame->pathSize;
    }

    void push(NodeId id, bool repeat, bool mark)
    {
        if (mark)
            open_[id] = true;
        if (repeat && repeatsLeft_ > 0)
            --repeatsLeft_;
        else if (repeat)
            complete_ = false;
        stack_.push_back({id, 0, 0, static_cast<std::uint32_t>(path_.size()), repeat, mark});
    }

    void pop()
    {
        if (stack_.back().mark)
            open_[stack_.back().node] = false;
        stack_.pop_back();
    }

    // Goes on to the next child of the container on top.
    void next()
    {
        Frame& f = stack_.back();
        path_.resize(f.pathSize);
        const Value v = c_.value(f.node);
        switch (v.kind()) {
        case ValueKind::List:
        case ValueKind::Tuple:
            elements(v, v.is(ValueKind::List) ? "/l:" : "/u:");
            return;
        case ValueKind::Dict:
            entries(v);
            return;
        case ValueKind::Object:
            switch (f.part) {
            case 0:
                elements(v.args(), "/r:");
                return;
            case 1:
                state(v.state());
                return;
            case 2:
                entries(v.items());
                return;
            default:
                elements(v.list(), "/l:", true);
                return;
            }
        case ValueKind::Tensor: {
            const TensorInfo& t = v.tensor();
            const std::size_t parts = t.extra == kNone ? 0 : c_.extras[t.extra].parts.size();
            if (f.part == 0 && f.i < parts) {
                const auto& [name, node] = c_.extras[t.extra].parts[f.i++];
                path_.append("/c:").append(name);
                enter(node);
                return;
            }
            if (f.part == 0) {
                f.part = 1;
                f.i = 0;
                return;
            }
            if (t.attributes == kNone)
                pop();
            else
                state(c_.value(t.attributes), true);
            return;
        }
        default:
            pop();
        }
    }

    void endPart(bool last)
    {
        Frame& f = stack_.back();
        const ValueKind kind = c_.nodes[f.node].kind;
        if (last || kind == ValueKind::List || kind == ValueKind::Tuple || kind == ValueKind::Dict) {
            pop();
        } else {
            ++f.part;
            f.i = 0;
        }
    }

    void elements(Value v, const char* tag, bool last = false)
    {
        Frame& f = stack_.back();
        if (!v.valid() || f.i >= v.size()) {
            endPart(last);
            return;
        }
        path_ += tag;
        path_ += std::to_string(f.i);
        const Value item = v.item(f.i++);
        enter(item.id());
    }

    void entries(Value v)
    {
        Frame& f = stack_.back();
        if (!v.valid() || f.i >= v.size()) {
            endPart(false);
            return;
        }
        path_ += '/';
        appendKeyStep(path_, v.key(f.i), f.i);
        const Value item = v.item(f.i++);
        enter(item.id());
    }

    // State given by BUILD: attributes if it is a dict, or a pair (None, dict) as classes with slots write it.
    void state(Value s, bool last = false)
    {
        Frame& f = stack_.back();
        if (s.is(ValueKind::Tuple) && s.size() == 2 && s.item(0).is(ValueKind::None) &&
            s.item(1).is(ValueKind::Dict))
            s = s.item(1);
        if (!s.valid() || (s.is(ValueKind::Dict) ? f.i >= s.size() : f.i > 0)) {
            endPart(last);
            return;
        }
        if (!s.is(ValueKind::Dict)) {
            path_ += "/g:";
            ++f.i;
            enter(s.id());
            return;
        }
        path_ += "/a:";
        appendAttribute(path_, s.key(f.i), f.i);
        const Value item = s.item(f.i++);
        enter(item.id());
    }

    const Checkpoint& c_;
    const std::function<void(const Leaf&)>& visit_;
    std::vector<bool> seen_;
    std::vector<bool> open_; // containers on the way down
    std::vector<Frame> stack_;
    std::string path_;
    std::uint64_t repeatsLeft_;
    std::uint64_t pathBytesLeft_;
    std::uint64_t leaves_ = 0;
    bool complete_ = true;
};

} // namespace

WalkResult walkLeaves(const Checkpoint& checkpoint, const std::function<void(const Leaf&)>& visit)
{
    return Walker(checkpoint, visit).run();
}

std::vector<TensorLeaf> listTensors(const Checkpoint& checkpoint)
{
    std::vector<TensorLeaf> tensors;
    walkLeaves(checkpoint, [&](const Leaf& leaf) {
        if (leaf.cycle || !leaf.value.is(ValueKind::Tensor))
            return;
        TensorLeaf t;
        t.path = std::string(leaf.path);
        t.name = displayName(leaf.path);
        t.node = leaf.value.id();
        t.tensor = &leaf.value.tensor();
        tensors.push_back(std::move(t));
    });
    return tensors;
}

} // namespace lockstep
