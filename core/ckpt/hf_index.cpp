// Hugging Face's *.index.json: which shard of a folder holds which key.
#include "core/ckpt/bytes.h"
#include "core/ckpt/dcp_chunks.h"
#include "core/ckpt/folder.h"
#include "core/ckpt/readers.h"
#include "core/config/json.h"

#include <map>
#include <set>

namespace lockstep {
namespace {

class IndexReader
{
public:
    IndexReader(PickleSession& session, const Folder& folder, const std::string& name)
        : s_(session), c_(session.c), folder_(folder), name_(name)
    {
    }

    void read()
    {
        if (!readIndex())
            return;
        for (const auto& [shard, keys] : keysOf_)
            readShard(shard, keys);
        const NodeId root = s_.builder.dict(DictType::Plain);
        for (const auto& [key, shard] : order_)
            if (const NodeId node = nodeOf(key, shard); node != kNone)
                s_.builder.append(root, {s_.builder.text(ValueKind::Str, c_.keep(key)), node});
        c_.root = root;
    }

private:
    void report(CkptFault fault, const std::string& file, std::string why, std::string_view key = {},
                bool fatal = false)
    {
        CkptProblem p;
        p.fault = fault;
        p.file = file;
        p.why = std::move(why);
        p.record = std::string(key.substr(0, 300));
        p.fatal = fatal;
        c_.report(std::move(p));
    }

    bool readIndex()
    {
        const auto unusable = [this](std::string why) {
            report(CkptFault::IndexJson, name_, std::move(why), {}, true);
            return false;
        };
        constexpr std::uint64_t kMaxIndex = 256u << 20;
        auto file = folder_.open(name_);
        if (!file) {
            c_.report(file.problem());
            return false;
        }
        if ((*file)->size() > kMaxIndex)
            return unusable("the index is larger than any real one");
        const std::string text(asText((*file)->bytes()));
        const auto json = parseJson(text, name_);
        if (!json)
            return unusable(json.error().why);
        if (!json->IsObject() || !json->HasMember("weight_map") || !(*json)["weight_map"].IsObject())
            return unusable("no weight_map");
        s_.builder.allow(8 * text.size());
        c_.pickleBytes += text.size();
        std::set<std::string> seen;
        for (const auto& member : (*json)["weight_map"].GetObject()) {
            const std::string key(member.name.GetString(), member.name.GetStringLength());
            if (!member.value.IsString()) {
                report(CkptFault::IndexJson, name_, "a key without a file name", key);
            } else if (!seen.insert(key).second) {
                report(CkptFault::IndexKey, name_, "the index names this key twice", key);
            } else {
                const std::string shard(member.value.GetString(), member.value.GetStringLength());
                keysOf_[shard].insert(key);
                order_.emplace_back(key, shard);
            }
        }
        return true;
    }

    void readShard(const std::string& shard, const std::set<std::string, std::less<>>& wanted)
    {
        const NodeId root = readMember(s_, folder_, shard);
        if (root == kNone)
            return;
        auto& found = found_[shard];
        const Value dict = c_.value(root);
        if (!dict.is(ValueKind::Dict)) {
            report(CkptFault::IndexKey, shard, "the shard is not a dict of tensors");
            return;
        }
        for (std::size_t i = 0; i < dict.size(); ++i) {
            const Value key = dict.key(i);
            if (!key.is(ValueKind::Str))
                continue;
            if (wanted.contains(key.text()))
                found[std::string(key.text())] = dict.item(i).id();
            else
                report(CkptFault::IndexKey, shard,
                       "the shard holds a key that the index does not place there", key.text());
        }
    }

    // The value of a key; kNone if its shard lacks it.
    NodeId nodeOf(const std::string& key, const std::string& shard)
    {
        const auto inShard = found_.find(shard);
        if (inShard == found_.end())
            return kNone; // the shard itself is reported
        const auto it = inShard->second.find(key);
        if (it == inShard->second.end()) {
            report(CkptFault::IndexKey, shard, "the index names a key that its shard does not hold", key);
            return kNone;
        }
        const Value value = c_.value(it->second);
        return isPlainTensor(value) ? whole(value) : it->second;
    }

    // A tensor of the whole that one tensor of a shard fills.
    NodeId whole(Value part)
    {
        const TensorInfo tensor = part.tensor();
        const auto view = c_.shape(tensor);
        const std::vector<std::int64_t> shape(view.begin(), view.end());
        Piece piece;
        piece.tensor = part.tensorIndex();
        piece.dims = s_.builder.addDims(boxOf(shape));
        c_.pieces.push_back(piece);
        return s_.builder.piecedTensor(tensor.dtype, shape, c_.pieces.size() - 1);
    }

    PickleSession& s_;
    Checkpoint& c_;
    const Folder& folder_;
    const std::string& name_;
    std::vector<std::pair<std::string, std::string>> order_; // key and shard, as in the index
    std::map<std::string, std::set<std::string, std::less<>>> keysOf_;
    std::map<std::string, std::map<std::string, NodeId>> found_;
};

} // namespace

void readHfIndex(PickleSession& session, const Folder& folder, const std::string& index)
{
    IndexReader(session, folder, index).read();
}

} // namespace lockstep
