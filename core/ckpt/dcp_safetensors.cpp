// Distributed checkpoints that torch wrote in Hugging Face's form: shard-*.safetensors, each with the offsets of its parts in the
// metadata entry DCP_SHARDING_INFO (torch/distributed/checkpoint/hf_storage.py).
#include "core/ckpt/bytes.h"
#include "core/ckpt/dcp_chunks.h"
#include "core/ckpt/folder.h"
#include "core/ckpt/readers.h"
#include "core/config/json.h"

#include <algorithm>
#include <limits>
#include <map>

namespace lockstep {
namespace {

class ShardReader
{
public:
    ShardReader(PickleSession& session, const Folder& folder) : s_(session), c_(session.c), folder_(folder) {}

    void read()
    {
        for (const std::string& name : folder_.files())
            readShard(name);
        const NodeId root = s_.builder.dict(DictType::Plain);
        for (const std::string& key : order_)
            if (const NodeId node = join(key, wholes_[key]); node != kNone)
                s_.builder.append(root, {s_.builder.text(ValueKind::Str, c_.keep(key)), node});
        c_.root = root;
    }

private:
    struct Part {
        std::uint32_t tensor;
        DcpBox box;
    };
    struct Whole {
        DType dtype = DType::Float32;
        std::vector<std::int64_t> shape; // as far as the parts reach
        std::vector<Part> parts;
        std::string file; // of the first part
    };
    using Offsets = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

    void report(CkptFault fault, const std::string& file, std::string why, std::string_view key = {})
    {
        CkptProblem p;
        p.fault = fault;
        p.file = file;
        p.why = std::move(why);
        p.record = std::string(key.substr(0, 300));
        c_.report(std::move(p));
    }

    void readShard(const std::string& name)
    {
        c_.safetensorsMetadata.clear();
        const NodeId root = readMember(s_, folder_, name);
        if (root == kNone)
            return;
        const Offsets offsets = savedOffsets(name);
        const Value dict = c_.value(root);
        // The name says safetensors, the content decides.
        bool sound = dict.is(ValueKind::Dict);
        for (std::size_t i = 0; sound && i < dict.size(); ++i)
            sound = dict.key(i).is(ValueKind::Str) && isPlainTensor(dict.item(i));
        if (!sound) {
            report(CkptFault::WrongExtension, name, "the shard is not a safetensors file");
            return;
        }
        for (std::size_t i = 0; i < dict.size(); ++i)
            addPart(name, dict.key(i).text(), dict.item(i), offsets);
    }

    // Where the parts of the shard that was read last begin. Keys without an entry begin at 0.
    Offsets savedOffsets(const std::string& name)
    {
        constexpr std::size_t kMaxInfo = 64u << 20;
        Offsets offsets;
        for (const auto& [key, value] : c_.safetensorsMetadata) {
            if (key != "DCP_SHARDING_INFO" || value.size() > kMaxInfo)
                continue;
            const auto info = parseJson(value, name);
            if (!info || !info->IsObject()) {
                report(CkptFault::IndexJson, name,
                       info ? "DCP_SHARDING_INFO is not a JSON object"
                            : "DCP_SHARDING_INFO: " + info.error().why);
                continue;
            }
            for (const auto& member : info->GetObject()) {
                auto& place = offsets[std::string(member.name.GetString(), member.name.GetStringLength())];
                if (!member.value.IsObject() || !member.value.HasMember("saved_offsets") ||
                    !member.value["saved_offsets"].IsArray())
                    continue;
                for (const auto& n : member.value["saved_offsets"].GetArray())
                    place.push_back(n.IsInt64() ? n.GetInt64() : -1);
            }
        }
        return offsets;
    }

    void addPart(const std::string& name, std::string_view key, Value part, const Offsets& offsets)
    {
        const TensorInfo& tensor = part.tensor();
        const std::size_t rank = tensor.rank;
        const auto [it, fresh] = wholes_.try_emplace(std::string(key));
        Whole& whole = it->second;
        if (fresh) {
            order_.push_back(it->first);
            whole.dtype = tensor.dtype;
            whole.shape.assign(rank, 0);
            whole.file = name;
        }
        DcpBox box = boxOf(c_.shape(tensor));
        if (const auto place = offsets.find(key); place != offsets.end())
            std::copy_n(place->second.begin(), std::min(place->second.size(), rank), box.begin());
        bool fits = whole.dtype == tensor.dtype && whole.shape.size() == rank;
        for (std::size_t d = 0; fits && d < rank; ++d) {
            std::int64_t end = 0;
            fits = box[d] >= 0 && addInto(box[d], box[rank + d], end);
            whole.shape[d] = std::max(whole.shape[d], end);
        }
        if (fits)
            whole.parts.push_back({part.tensorIndex(), std::move(box)});
        else
            report(CkptFault::DcpChunk, name, "a part that does not fit the parts in other files", key);
    }

    // The tensor that the parts make together; kNone if its size is impossible. Parts that leave a hole are reported.
    NodeId join(const std::string& key, const Whole& whole)
    {
        std::int64_t elements = 1, total = 0;
        bool countable = true;
        for (const std::int64_t n : whole.shape)
            countable = countable && mulInto(elements, n, elements);
        for (const Part& part : whole.parts)
            if (!addInto(total, c_.elements(c_.tensors[part.tensor]).value_or(0), total))
                total = std::numeric_limits<std::int64_t>::max();
        if (!countable || total != elements)
            report(CkptFault::DcpChunk, whole.file,
                   "the shards hold " + std::to_string(total) + " of " +
                       (countable ? std::to_string(elements) : std::string("more than 2^63")) + " elements",
                   key);
        if (!countable)
            return kNone;
        const std::size_t firstPiece = c_.pieces.size();
        for (const Part& part : whole.parts) {
            Piece piece;
            piece.tensor = part.tensor;
            piece.dims = s_.builder.addDims(part.box);
            c_.pieces.push_back(piece);
        }
        return s_.builder.piecedTensor(whole.dtype, whole.shape, firstPiece);
    }

    PickleSession& s_;
    Checkpoint& c_;
    const Folder& folder_;
    std::vector<std::string> order_;
    std::map<std::string, Whole> wholes_;
};

} // namespace

void readDcpSafetensors(PickleSession& session, const Folder& folder)
{
    ShardReader(session, folder).read();
}

} // namespace lockstep
