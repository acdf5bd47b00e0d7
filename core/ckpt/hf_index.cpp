// Folders of shards: Hugging Face's *.index.json, torch's DCP shards in safetensors form, and plain collections of files.
#include "core/ckpt/bytes.h"
#include "core/ckpt/folder.h"
#include "core/ckpt/readers.h"
#include "core/config/json.h"

#include <algorithm>
#include <map>
#include <set>

namespace lockstep {
namespace {

constexpr std::size_t kMaxProblems = 1000;

void report(Checkpoint& c, CkptProblem p)
{
    if (c.problems.size() < kMaxProblems)
        c.problems.push_back(std::move(p));
}

CkptProblem makeProblem(CkptFault fault, std::string file, std::string why, std::string_view record = {},
                        bool fatal = false)
{
    CkptProblem p;
    p.fault = fault;
    p.file = std::move(file);
    p.why = std::move(why);
    p.record = std::string(record.substr(0, 300));
    p.fatal = fatal;
    return p;
}

// A tensor of the whole made of `pieces` boxes of tensors in shards.
NodeId addWhole(PickleSession& s, DType dtype, const std::vector<std::int64_t>& shape,
                const std::vector<std::pair<std::uint32_t, std::vector<std::int64_t>>>& parts)
{
    Checkpoint& c = s.c;
    TensorInfo info;
    info.dtype = dtype;
    info.rank = static_cast<std::uint8_t>(shape.size());
    std::vector<std::int64_t> dims = shape;
    dims.resize(2 * shape.size(), 1);
    std::uint64_t step = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        dims[shape.size() + d] = static_cast<std::int64_t>(step);
        step *= static_cast<std::uint64_t>(std::max<std::int64_t>(shape[d], 1));
    }
    info.dims = s.builder.addDims(dims);
    info.firstPiece = static_cast<std::uint32_t>(c.pieces.size());
    info.pieceCount = static_cast<std::uint32_t>(parts.size());
    for (const auto& [tensor, box] : parts) {
        Piece piece;
        piece.tensor = tensor;
        piece.dims = s.builder.addDims(box);
        c.pieces.push_back(piece);
    }
    c.tensors.push_back(info);
    return s.builder.reference(ValueKind::Tensor, static_cast<std::uint32_t>(c.tensors.size() - 1));
}

std::vector<std::int64_t> wholeBox(const Checkpoint& c, const TensorInfo& t)
{
    std::vector<std::int64_t> box(t.rank, 0);
    const auto shape = c.shape(t);
    box.insert(box.end(), shape.begin(), shape.end());
    return box;
}

} // namespace

void readHfIndex(PickleSession& s, const Folder& folder, const std::string& indexName)
{
    Checkpoint& c = s.c;
    auto file = folder.open(indexName);
    constexpr std::uint64_t kMaxIndex = 256u << 20;
    if (!file || (*file)->size() > kMaxIndex) {
        report(c, file ? makeProblem(CkptFault::IndexJson, indexName, "the index is larger than any real one",
                                     {}, true)
                       : file.problem());
        return;
    }
    const std::string text(asText((*file)->bytes()));
    // A bracket per level: real indexes have three levels, and the reader of the library follows them by recursion.
    int depth = 0;
    for (const char ch : text) {
        depth += ch == '{' || ch == '[' ? 1 : ch == '}' || ch == ']' ? -1 : 0;
        if (depth > 100) {
            report(c, makeProblem(CkptFault::IndexJson, indexName,
                                  "the index is nested deeper than any real one", {}, true));
            return;
        }
    }
    auto json = parseJson(text, indexName);
    if (!json || !json->IsObject() || !json->HasMember("weight_map") || !(*json)["weight_map"].IsObject()) {
        report(c, makeProblem(CkptFault::IndexJson, indexName, json ? "no weight_map" : json.error().why, {},
                              true));
        return;
    }
    s.builder.allow(8 * text.size());
    c.pickleBytes += text.size();
    std::map<std::string, std::vector<std::string>> keysOf;
    std::vector<std::pair<std::string, std::string>> order;
    std::set<std::string> seen;
    for (const auto& member : (*json)["weight_map"].GetObject()) {
        const std::string key(member.name.GetString(), member.name.GetStringLength());
        if (!member.value.IsString()) {
            report(c, makeProblem(CkptFault::IndexJson, indexName, "a key without a file name", key));
            continue;
        }
        const std::string shard(member.value.GetString(), member.value.GetStringLength());
        if (!seen.insert(key).second) {
            report(c, makeProblem(CkptFault::IndexKey, indexName, "the index names this key twice", key));
            continue;
        }
        keysOf[shard].push_back(key);
        order.emplace_back(key, shard);
    }
    std::map<std::string, std::map<std::string, NodeId>> found;
    for (const auto& [shard, keys] : keysOf) {
        const NodeId root = readMember(s, folder, shard);
        if (root == kNone)
            continue;
        auto& inShard = found[shard];
        const Value dict = c.value(root);
        if (!dict.is(ValueKind::Dict)) {
            report(c, makeProblem(CkptFault::IndexKey, shard, "the shard is not a dict of tensors"));
            continue;
        }
        const std::set<std::string_view> wanted(keys.begin(), keys.end());
        for (std::size_t i = 0; i < dict.size(); ++i) {
            const Value key = dict.key(i);
            if (!key.is(ValueKind::Str))
                continue;
            if (!wanted.contains(key.text()))
                report(c,
                       makeProblem(CkptFault::IndexKey, shard,
                                   "the shard holds a key that the index does not place there", key.text()));
            else
                inShard[std::string(key.text())] = dict.item(i).id();
        }
    }
    const NodeId root = s.builder.dict(DictType::Plain);
    for (const auto& [key, shard] : order) {
        const auto inShard = found.find(shard);
        if (inShard == found.end())
            continue; // the shard itself is reported
        const auto value = inShard->second.find(key);
        if (value == inShard->second.end()) {
            report(c, makeProblem(CkptFault::IndexKey, shard,
                                  "the index names a key that its shard does not hold", key));
            continue;
        }
        NodeId node = value->second;
        if (const Value v = c.value(node); v.is(ValueKind::Tensor) && v.tensor().layout == Layout::Strided &&
                                           v.tensor().extra == kNone && !v.tensor().wrapper &&
                                           v.tensor().storage != kNone) {
            const TensorInfo t = v.tensor();
            const auto shape = c.shape(t);
            node = addWhole(s, t.dtype, {shape.begin(), shape.end()}, {{v.tensorIndex(), wholeBox(c, t)}});
        }
        const NodeId keyNode = s.builder.text(ValueKind::Str, c.keep(key));
        s.builder.append(root, {keyNode, node});
    }
    c.root = root;
}

void readDcpSafetensors(PickleSession& s, const Folder& folder)
{
    Checkpoint& c = s.c;
    struct Whole {
        DType dtype = DType::Float32;
        std::vector<std::int64_t> shape;
        std::vector<std::pair<std::uint32_t, std::vector<std::int64_t>>> parts;
        std::string file;
    };
    std::vector<std::string> order;
    std::map<std::string, Whole> wholes;
    for (const std::string& name : folder.files()) {
        c.safetensorsMetadata.clear();
        const NodeId root = readMember(s, folder, name);
        if (root == kNone)
            continue;
        std::map<std::string, std::vector<std::int64_t>> offsets;
        for (const auto& [key, value] : c.safetensorsMetadata) {
            if (key != "DCP_SHARDING_INFO" || value.size() > (64u << 20))
                continue;
            auto info = parseJson(value, name);
            if (!info || !info->IsObject()) {
                report(c, makeProblem(CkptFault::IndexJson, name, "DCP_SHARDING_INFO is not a JSON object"));
                continue;
            }
            for (const auto& member : info->GetObject()) {
                auto& place = offsets[std::string(member.name.GetString(), member.name.GetStringLength())];
                if (member.value.IsObject() && member.value.HasMember("saved_offsets") &&
                    member.value["saved_offsets"].IsArray())
                    for (const auto& n : member.value["saved_offsets"].GetArray())
                        place.push_back(n.IsInt64() ? n.GetInt64() : -1);
            }
        }
        const Value dict = c.value(root);
        for (std::size_t i = 0; i < dict.size(); ++i) {
            const std::string key(dict.key(i).text());
            const TensorInfo& t = dict.item(i).tensor();
            const auto [it, fresh] = wholes.try_emplace(key);
            Whole& whole = it->second;
            if (fresh) {
                order.push_back(key);
                whole.dtype = t.dtype;
                whole.shape.assign(t.rank, 0);
                whole.file = name;
            }
            std::vector<std::int64_t> box = wholeBox(c, t);
            if (const auto place = offsets.find(key); place != offsets.end())
                std::copy_n(place->second.begin(), std::min<std::size_t>(place->second.size(), t.rank),
                            box.begin());
            bool fits = whole.dtype == t.dtype && whole.shape.size() == t.rank;
            for (std::size_t d = 0; fits && d < t.rank; ++d) {
                std::int64_t end = 0;
                fits = box[d] >= 0 && addInto(box[d], box[t.rank + d], end);
                whole.shape[d] = std::max(whole.shape[d], end);
            }
            if (fits)
                whole.parts.emplace_back(dict.item(i).tensorIndex(), std::move(box));
            else
                report(c, makeProblem(CkptFault::DcpChunk, name,
                                      "a part that does not fit the parts in other files", key));
        }
    }
    const NodeId root = s.builder.dict(DictType::Plain);
    for (const std::string& key : order) {
        const Whole& whole = wholes[key];
        std::int64_t numel = 1;
        std::int64_t total = 0;
        bool fits = true;
        for (const std::int64_t n : whole.shape)
            fits = fits && mulInto(numel, n, numel);
        for (const auto& [tensor, box] : whole.parts)
            total += c.elements(c.tensors[tensor]).value_or(0);
        if (!fits || total != numel)
            report(c, makeProblem(CkptFault::DcpChunk, whole.file,
                                  "the shards hold " + std::to_string(total) + " of " +
                                      std::to_string(numel) + " elements",
                                  key));
        if (!fits)
            continue;
        const NodeId keyNode = s.builder.text(ValueKind::Str, c.keep(key));
        const NodeId node = addWhole(s, whole.dtype, whole.shape, whole.parts);
        s.builder.append(root, {keyNode, node});
    }
    c.root = root;
}

void readFolder(PickleSession& s, const Folder& folder)
{
    Checkpoint& c = s.c;
    const NodeId root = s.builder.dict(DictType::Plain);
    for (const std::string& name : folder.files()) {
        const bool checkpointName = name.ends_with(".pt") || name.ends_with(".pth") ||
                                    name.ends_with(".bin") || name.ends_with(".ckpt") ||
                                    name.ends_with(".safetensors") || name.ends_with(".pkl");
        if (!checkpointName)
            continue;
        const NodeId tree = readMember(s, folder, name);
        if (tree == kNone)
            continue;
        const NodeId key = s.builder.text(ValueKind::Str, c.keep(name));
        s.builder.append(root, {key, tree});
    }
    c.root = root;
}

} // namespace lockstep
