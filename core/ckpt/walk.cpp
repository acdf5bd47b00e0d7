#include "core/ckpt/walk.h"

#include "core/ckpt/utf8.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace lockstep {
namespace {

constexpr std::uint64_t kRepeats = 20000;      // leaves below containers that are reached by several paths
constexpr std::uint64_t kPathBytes = 4u << 20; // of all paths together, plus a share of the pickle
constexpr std::size_t kPackedInts = 64;

bool plainByte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

void appendEscaped(std::string& path, std::string_view text)
{
    constexpr char digits[] = "0123456789ABCDEF";
    while (!text.empty()) {
        const auto odd =
            static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), plainByte) - text.begin());
        path.append(text.substr(0, odd));
        if (odd == text.size())
            return;
        path += '%';
        path += digits[static_cast<unsigned char>(text[odd]) >> 4];
        path += digits[static_cast<unsigned char>(text[odd]) & 15];
        text.remove_prefix(odd + 1);
    }
}

void appendHex(std::string& path, std::string_view bytes)
{
    constexpr char digits[] = "0123456789abcdef";
    for (const char c : bytes) {
        path += digits[static_cast<unsigned char>(c) >> 4];
        path += digits[static_cast<unsigned char>(c) & 15];
    }
}

// False if the key is of no kind that can be written out; the caller then writes its position.
bool appendKey(std::string& path, Value key, int depth)
{
    switch (key.kind()) {
    case ValueKind::Bool:
        path += key.boolean() ? "b:1" : "b:0";
        return true;
    case ValueKind::Str:
        path += "s:";
        appendEscaped(path, key.text());
        return true;
    case ValueKind::Int:
    case ValueKind::BigInt:
        path += "i:" + key.decimal();
        return true;
    case ValueKind::None:
        path += "n:";
        return true;
    case ValueKind::Float: {
        char text[24];
        std::uint64_t bits = 0;
        const double value = key.real();
        std::memcpy(&bits, &value, sizeof bits);
        std::snprintf(text, sizeof text, "f:%016llx", static_cast<unsigned long long>(bits));
        path += text;
        return true;
    }
    case ValueKind::Bytes:
        path += "y:";
        appendHex(path, key.text());
        return true;
    case ValueKind::Tuple:
    case ValueKind::Size: {
        if (depth > 8 || key.size() > 1000)
            return false;
        path += "t:(";
        for (std::size_t i = 0; i < key.size(); ++i) {
            if (i > 0)
                path += ',';
            const std::size_t before = path.size();
            if (!appendKey(path, key.item(i), depth + 1) || path.size() > 100000) {
                path.resize(before);
                path += "o:" + std::to_string(i);
            }
        }
        path += ')';
        return true;
    }
    default:
        return false;
    }
}

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

    void keyStep(Value key, std::size_t position)
    {
        path_ += '/';
        const std::size_t before = path_.size();
        if (!appendKey(path_, key, 0)) {
            path_.resize(before);
            path_ += "o:" + std::to_string(position);
        }
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
        keyStep(v.key(f.i), f.i);
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
        const Value key = s.key(f.i);
        path_ += "/a:";
        if (key.is(ValueKind::Str)) {
            appendEscaped(path_, key.text());
        } else {
            const std::size_t before = path_.size();
            if (!appendKey(path_, key, 0)) {
                path_.resize(before);
                path_ += "o:" + std::to_string(f.i);
            }
        }
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

int hexValue(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string unescaped(std::string_view payload)
{
    std::string text;
    for (std::size_t i = 0; i < payload.size(); ++i) {
        if (payload[i] == '%' && i + 2 < payload.size() && hexValue(payload[i + 1]) >= 0 &&
            hexValue(payload[i + 2]) >= 0) {
            text += static_cast<char>(hexValue(payload[i + 1]) * 16 + hexValue(payload[i + 2]));
            i += 2;
        } else {
            text += payload[i];
        }
    }
    return text;
}

} // namespace

WalkResult walkLeaves(const Checkpoint& checkpoint, const std::function<void(const Leaf&)>& visit)
{
    return Walker(checkpoint, visit).run();
}

std::string displayName(std::string_view path)
{
    std::string name;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t colon = path.find(':', at);
        if (colon == std::string_view::npos)
            break;
        const std::size_t end = std::min(path.find('/', colon), path.size());
        if (!name.empty())
            name += '.';
        const std::string_view payload = path.substr(colon + 1, end - colon - 1);
        if (payload.find('%') == std::string_view::npos)
            name += payload;
        else
            name += printable(unescaped(payload));
        at = end;
    }
    return name;
}

std::string printable(std::string_view text)
{
    const auto harmless = [](char c) { return c >= 0x20 && c < 0x7f; };
    if (std::all_of(text.begin(), text.end(), harmless))
        return std::string(text);
    std::string out;
    char escape[8];
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 || c == 0x7f) {
            std::snprintf(escape, sizeof escape, "\\x%02x", c);
            out += escape;
            continue;
        }
        if (c < 0x80) {
            out += text[i];
            continue;
        }
        // One character of several bytes: kept unless it is broken, a control (C1), a surrogate, or turns the direction of writing.
        const std::size_t size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        const std::string_view one = text.substr(i, size);
        const bool whole = one.size() == size && validUtf8(one);
        std::uint32_t code = 0;
        if (whole) {
            code = c & (0xffu >> (size + 1));
            for (std::size_t k = 1; k < size; ++k)
                code = code << 6 | (static_cast<unsigned char>(one[k]) & 0x3fu);
        }
        const bool hidden = !whole || code < 0xa0 || (code >= 0xd800 && code < 0xe000) ||
                            (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                            (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
        for (std::size_t k = 0; k < (whole ? size : 1); ++k) {
            if (!hidden) {
                out += text[i + k];
            } else {
                std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(text[i + k]));
                out += escape;
            }
        }
        i += (whole ? size : 1) - 1;
    }
    return out;
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
