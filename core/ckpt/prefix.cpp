#include "core/ckpt/prefix.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 6> kWrappers = {
    "module",      "_orig_mod",      "_fsdp_wrapped_module", "_checkpoint_wrapped_module",
    "_fpw_module", "_forward_module"};

// A segment and what stands before it: nothing or a dot, in a path also the mark of a step ("/s:").
struct Segment {
    std::string_view lead;
    std::string_view text;
};

bool isPath(std::string_view key)
{
    return key.size() > 2 && key[0] == '/' && key[2] == ':';
}

// "/s:model/s:module.conv.weight" -> /s: model, /s: module, . conv, . weight
std::vector<Segment> segmentsOf(std::string_view key)
{
    const bool path = isPath(key);
    std::vector<Segment> segments;
    for (std::size_t at = 0; at <= key.size();) {
        const std::size_t lead = path && key[at] == '/' ? 3 : at == 0 ? 0 : 1;
        const std::size_t begin = at + lead;
        std::size_t end = begin;
        while (end < key.size() && key[end] != '.' && !(path && key[end] == '/'))
            ++end;
        segments.push_back({key.substr(at, lead), key.substr(begin, end - begin)});
        if (end >= key.size())
            break;
        at = end;
    }
    return segments;
}

// Without the segments that `drop` is true of; the last one stays. The first that stays of a step takes over its mark.
template<typename Drop>
std::string without(std::string_view key, const Drop& drop)
{
    const std::vector<Segment> segments = segmentsOf(key);
    std::string text;
    std::string_view mark; // of a step whose segments were left out so far
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const Segment& segment = segments[i];
        if (segment.lead.size() > 1)
            mark = segment.lead;
        if (i + 1 < segments.size() && drop(segment.text))
            continue;
        if (!mark.empty())
            text += mark;
        else if (!text.empty())
            text += '.';
        mark = {};
        text += segment.text;
    }
    return text;
}

struct Side {
    std::string prefix;
    std::size_t votes = 0;
};

// The prefix of `longer` whose removal meets most names of `shorter`.
Side bestPrefix(const std::unordered_set<std::string>& shorter, const std::vector<std::string>& longer)
{
    std::unordered_map<std::string, std::size_t> votes;
    for (const std::string& key : longer) {
        for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
            if (shorter.contains(key.substr(dot + 1)))
                ++votes[key.substr(0, dot + 1)];
        // A bare state dict beside one under a key: "/s:model/s:" is a prefix, too.
        for (std::size_t step = isPath(key) ? 0 : std::string::npos; step != std::string::npos;
             step = key.find("/s:", step + 1))
            if (shorter.contains(key.substr(std::min(step + 3, key.size()))))
                ++votes[key.substr(0, step + 3)];
    }
    Side best;
    for (const auto& [prefix, count] : votes)
        if (count > best.votes || (count == best.votes && prefix.size() < best.prefix.size()))
            best = {prefix, count};
    return best;
}

KeyMapping bestWithout(const std::vector<std::string>& a, const std::vector<std::string>& b)
{
    const std::unordered_set<std::string> setA(a.begin(), a.end()), setB(b.begin(), b.end());
    KeyMapping mapping;
    for (const std::string& key : setB)
        mapping.matched += setA.contains(key);
    const Side onB = bestPrefix(setA, b);
    const Side onA = bestPrefix(setB, a);
    if (onB.votes > mapping.matched && onB.votes >= onA.votes) {
        mapping.prefixB = onB.prefix;
        mapping.matched = onB.votes;
    } else if (onA.votes > mapping.matched) {
        mapping.prefixA = onA.prefix;
        mapping.matched = onA.votes;
    }
    return mapping;
}

} // namespace

std::span<const std::string_view> wrapperSegments()
{
    return kWrappers;
}

bool isWrapperSegment(std::string_view segment)
{
    return std::find(kWrappers.begin(), kWrappers.end(), segment) != kWrappers.end();
}

bool isUnmistakableWrapper(std::string_view segment)
{
    return segment != "module" && isWrapperSegment(segment);
}

std::vector<std::string_view> splitKey(std::string_view key)
{
    std::vector<std::string_view> segments;
    for (std::size_t start = 0;;) {
        const std::size_t dot = key.find('.', start);
        if (dot == std::string_view::npos) {
            segments.push_back(key.substr(start));
            return segments;
        }
        segments.push_back(key.substr(start, dot - start));
        start = dot + 1;
    }
}

std::string withoutPrefix(std::string_view key, std::string_view prefix)
{
    if (key.size() <= prefix.size() || !key.starts_with(prefix))
        return std::string(key);
    const bool dot = !prefix.empty() && prefix.back() != '.' && key[prefix.size()] == '.' &&
                     key.size() > prefix.size() + 1;
    return std::string(key.substr(prefix.size() + dot));
}

std::string withoutWrappers(std::string_view key)
{
    return without(key, isWrapperSegment);
}

std::string withoutSegments(std::string_view key, std::span<const std::string> drop)
{
    return without(key,
                   [&](std::string_view s) { return std::find(drop.begin(), drop.end(), s) != drop.end(); });
}

std::string commonPrefix(std::span<const std::string> keys)
{
    if (keys.empty())
        return {};
    std::string prefix = keys.front().substr(0, keys.front().rfind('.') + 1);
    for (const std::string& key : keys) {
        while (!prefix.empty() && !key.starts_with(prefix))
            prefix.resize(prefix.size() < 2 ? 0 : prefix.rfind('.', prefix.size() - 2) + 1);
        if (prefix.empty())
            break;
    }
    return prefix;
}

std::string KeyMapping::fromA(std::string_view name) const
{
    std::string key = drop.empty() ? std::string(name) : withoutSegments(name, drop);
    return key.starts_with(prefixA) ? key.substr(prefixA.size()) : key;
}

std::string KeyMapping::fromB(std::string_view name) const
{
    std::string key = drop.empty() ? std::string(name) : withoutSegments(name, drop);
    return key.starts_with(prefixB) ? key.substr(prefixB.size()) : key;
}

KeyMapping findMapping(std::span<const std::string> a, std::span<const std::string> b)
{
    const std::vector<std::string> namesA(a.begin(), a.end()), namesB(b.begin(), b.end());
    KeyMapping plain = bestWithout(namesA, namesB);
    if (plain.matched == std::min(a.size(), b.size()))
        return plain;
    std::vector<std::string> cleanA, cleanB;
    std::vector<std::string> present;
    for (const auto& [names, clean] : {std::pair{&namesA, &cleanA}, std::pair{&namesB, &cleanB}}) {
        for (const std::string& name : *names) {
            clean->push_back(withoutWrappers(name));
            for (const Segment& segment : segmentsOf(name))
                if (isWrapperSegment(segment.text) &&
                    std::find(present.begin(), present.end(), segment.text) == present.end())
                    present.emplace_back(segment.text);
        }
    }
    KeyMapping dropped = bestWithout(cleanA, cleanB);
    if (dropped.matched <= plain.matched)
        return plain;
    dropped.drop = std::move(present);
    return dropped;
}

} // namespace lockstep
