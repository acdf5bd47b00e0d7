// Distributed checkpoints of torch (torch/distributed/checkpoint): .metadata is a plain pickle that torch runs; here it is read as
// data. __R_N.distcp files are torch.save archives one behind the other.
#include "core/ckpt/bytes.h"
#include "core/ckpt/dcp_chunks.h"
#include "core/ckpt/dcp_tree.h"
#include "core/ckpt/folder.h"
#include "core/ckpt/readers.h"

#include <algorithm>
#include <map>

namespace lockstep {
namespace {

struct StoredItem {
    std::string file;
    std::int64_t offset = 0;
    std::int64_t length = 0;
};

class DcpReader
{
public:
    DcpReader(PickleSession& session, const Folder& folder, bool readItems)
        : s_(session), c_(session.c), folder_(folder), readItems_(readItems), tree_(session.builder)
    {
    }

    void read()
    {
        std::vector<std::string> names;
        if (folder_.has(".metadata")) {
            names.push_back(".metadata");
        } else {
            for (const std::string& f : folder_.files())
                if (f.starts_with("__") && f.ends_with(".metadata"))
                    c_.rankLocal.push_back(f);
            // Each rank's own view; what rank 0 saw stands for the checkpoint.
            if (!c_.rankLocal.empty())
                names.push_back("__0.metadata");
        }
        for (const std::string& name : names)
            if (!readMetadata(name))
                return;
        if (c_.fatal() == nullptr)
            c_.root = tree_.root();
        std::sort(c_.flatKeys.begin(), c_.flatKeys.end());
    }

private:
    CkptProblem problem(CkptFault fault, const std::string& file, std::uint64_t offset, std::string why,
                        bool fatal, std::string_view key = {}) const
    {
        CkptProblem p;
        p.fault = fault;
        p.file = folder_.prefix() + file;
        p.offset = offset;
        p.record = std::string(key.substr(0, 300));
        p.why = std::move(why);
        p.fatal = fatal;
        return p;
    }
    void wrong(const std::string& why, std::string_view key = {})
    {
        c_.report(problem(CkptFault::DcpMetadata, metadata_, 0, why, false, key));
    }

    bool readMetadata(const std::string& name)
    {
        metadata_ = name;
        auto file = folder_.open(name);
        if (!file) {
            CkptProblem p = file.problem();
            p.fault = CkptFault::DcpNoMetadata;
            p.fatal = true;
            c_.report(std::move(p));
            return false;
        }
        const auto index = static_cast<std::uint32_t>(c_.files.size());
        c_.files.push_back(*file);
        PickleInput input;
        input.bytes = (*file)->bytes();
        input.file = index;
        s_.builder.allow(8 * input.bytes.size());
        if (input.bytes.empty()) {
            c_.report(problem(CkptFault::DcpNoMetadata, name, 0,
                              "the file has 0 bytes: the save did not finish", true));
            return false;
        }
        s_.judge = false; // torch runs this file whatever it holds
        PickleMachine machine(s_, input, nullptr);
        auto root = machine.run();
        if (!root) {
            CkptProblem p = root.problem();
            if (p.fault == CkptFault::PickleTruncated)
                p.fault = CkptFault::DcpNoMetadata;
            c_.report(std::move(p));
            return false;
        }
        checkGlobals(name);
        const Value v = c_.value(*root);
        if (!v.is(ValueKind::Object) || !v.className().starts_with("torch.distributed.") ||
            !v.className().ends_with(".Metadata")) {
            c_.report(problem(CkptFault::DcpMetadata, name, 2, "not the metadata of a distributed checkpoint",
                              true));
            return false;
        }
        const Value entries = v.state().get("state_dict_metadata");
        if (!entries.is(ValueKind::Dict)) {
            c_.report(problem(CkptFault::DcpMetadata, name, 2, "no list of the saved keys", true));
            return false;
        }
        readStorageData(v.state().get("storage_data"));
        const Value planner = v.state().get("planner_data");
        for (std::size_t i = 0; planner.is(ValueKind::Dict) && i < planner.size(); ++i)
            if (planner.key(i).is(ValueKind::Str))
                paths_.emplace(planner.key(i).text(), planner.item(i));
        for (std::size_t i = 0; i < entries.size() && s_.builder.withinBudget(); ++i)
            if (entries.key(i).is(ValueKind::Str))
                readEntry(entries.key(i), entries.item(i));
            else
                wrong("a key that is not text");
        if (!s_.builder.withinBudget())
            c_.report(problem(CkptFault::PickleTooLarge, name, 0,
                              "describes more than a file of this size can justify", true));
        return true;
    }

    // torch imports and calls whatever .metadata names. Sound ones name classes of torch and of pathlib; anything else is called out.
    void checkGlobals(const std::string& name)
    {
        for (const GlobalUse& g : c_.globals) {
            const bool known = g.name.starts_with("torch.") || g.name.starts_with("collections.") ||
                               g.name.starts_with("pathlib.") || g.name == "builtins.getattr" ||
                               g.name == "builtins.set" || g.name == "builtins.frozenset" ||
                               g.name == "_codecs.encode" || g.name == "copyreg._reconstructor" ||
                               g.name == "builtins.object" || g.name.starts_with("numpy.") ||
                               g.name.starts_with("datetime.");
            if (!known)
                c_.report(
                    problem(CkptFault::DcpMetadata, name, g.offset,
                            "names " + g.name.substr(0, 200) + ", which torch would import and may call",
                            false, g.name));
            if (g.name.starts_with("pathlib._local.")) {
                s_.judge = true;
                s_.refuse("No module named 'pathlib._local'; 'pathlib' is not a package");
                s_.judge = false;
            }
        }
    }

    // MetadataIndex (key and offset of the chunk) -> file, offset, length.
    void readStorageData(Value data)
    {
        for (std::size_t i = 0; data.is(ValueKind::Dict) && i < data.size(); ++i) {
            const Value key = data.key(i);
            const Value item = data.item(i);
            if (!key.is(ValueKind::Object) || !item.is(ValueKind::Object))
                continue;
            const Value fqn = key.state().get("fqn");
            const Value path = item.state().get("relative_path");
            const Value offset = item.state().get("offset");
            const Value length = item.state().get("length");
            if (!fqn.is(ValueKind::Str) || !path.is(ValueKind::Str) || !offset.is(ValueKind::Int) ||
                !length.is(ValueKind::Int)) {
                wrong("an item without file, offset or length",
                      fqn.is(ValueKind::Str) ? fqn.text() : std::string_view());
                continue;
            }
            std::vector<std::int64_t> place;
            const Value at = key.state().get("offset");
            if (at.valid() && !at.appendNumbers(place))
                place.clear(); // a value that is not a tensor has no offset
            stored_[{fqn.text(), place}] = {std::string(path.text()), offset.integer(), length.integer()};
        }
    }

    // File index of the item's file and the checked range. Each file is opened once.
    bool locate(const StoredItem& item, std::string_view key, Piece& piece)
    {
        const auto [it, fresh] = files_.try_emplace(item.file, kNone);
        if (fresh) {
            auto file = folder_.open(item.file);
            if (!file) {
                CkptProblem p = file.problem();
                p.record = std::string(key.substr(0, 300));
                c_.report(std::move(p));
            } else {
                it->second = static_cast<std::uint32_t>(c_.files.size());
                c_.files.push_back(*file);
            }
        }
        if (it->second == kNone)
            return false;
        const std::uint64_t size = c_.files[it->second]->size();
        if (item.offset < 0 || item.length <= 0 ||
            !inside(static_cast<std::uint64_t>(item.offset), static_cast<std::uint64_t>(item.length), size)) {
            c_.report(problem(CkptFault::DcpItem, item.file, size,
                              "the file has " + std::to_string(size) + " bytes, an item is said to lie at " +
                                  std::to_string(item.offset) + " with " + std::to_string(item.length),
                              false, key));
            return false;
        }
        piece.file = it->second;
        piece.offset = static_cast<std::uint64_t>(item.offset);
        piece.length = static_cast<std::uint64_t>(item.length);
        return true;
    }

    void readEntry(Value key, Value entry)
    {
        c_.flatKeys.emplace_back(key.text());
        s_.builder.charge(key.text().size() + 64);
        std::vector<Value> path = {key};
        if (const auto it = paths_.find(key.text());
            it != paths_.end() && it->second.is(ValueKind::Tuple) && it->second.size() > 0) {
            path.clear();
            for (std::size_t i = 0; i < it->second.size(); ++i)
                path.push_back(it->second.item(i));
        }
        NodeId node = kNone;
        const std::string_view cls = entry.is(ValueKind::Object) ? entry.className() : std::string_view();
        if (cls.ends_with(".TensorStorageMetadata"))
            node = readTensor(key.text(), entry.state());
        else if (cls.ends_with(".BytesStorageMetadata"))
            node = readBytes(key.text());
        else
            wrong("an entry that is neither a tensor nor bytes", key.text());
        if (node != kNone && !tree_.set(path, node))
            wrong("its path in planner_data contradicts that of another key", key.text());
    }

    NodeId readTensor(std::string_view key, Value state)
    {
        std::vector<std::int64_t> shape;
        const Value chunks = state.get("chunks");
        const Value properties = state.get("properties");
        const Value dtype = properties.is(ValueKind::Object) ? typeOf(properties.state()) : Value();
        if (!state.get("size").appendNumbers(shape) || !chunks.is(ValueKind::List) ||
            !dtype.is(ValueKind::DtypeRef)) {
            wrong("a tensor without size, element type or chunks", key);
            return kNone;
        }
        const auto type = dtypeFromName(dtype.text());
        std::int64_t numel = 1;
        bool fits = type.has_value();
        for (const std::int64_t n : shape)
            fits = fits && n >= 0 && mulInto(numel, std::max<std::int64_t>(n, 0), numel);
        if (!fits) {
            wrong("a tensor of unknown element type or impossible size", key);
            return kNone;
        }
        const std::size_t firstPiece = c_.pieces.size();
        s_.builder.charge(chunks.size() * (sizeof(Piece) + 16 * shape.size()));
        std::vector<DcpBox> boxes;
        for (std::size_t i = 0; i < chunks.size() && s_.builder.withinBudget(); ++i)
            readChunk(key, chunks.item(i), shape, boxes);
        if (const auto fault = coverFault(boxes, numel))
            c_.report(problem(CkptFault::DcpChunk, metadata_, 0, *fault, false, key));
        return s_.builder.piecedTensor(*type, shape, firstPiece);
    }

    // TensorProperties: a tuple as state (torch >= 2.0), or attributes.
    static Value typeOf(Value state)
    {
        if (state.is(ValueKind::Tuple) && state.size() > 0)
            return state.item(0);
        return state.valid() ? state.get("dtype") : Value();
    }

    void readChunk(std::string_view key, Value chunk, const std::vector<std::int64_t>& shape,
                   std::vector<DcpBox>& boxes)
    {
        DcpBox box;
        const std::size_t rank = shape.size();
        if (!chunk.is(ValueKind::Object) || !chunk.state().get("offsets").appendNumbers(box) ||
            box.size() != rank || !chunk.state().get("sizes").appendNumbers(box) || box.size() != 2 * rank) {
            wrong("a chunk without offsets and sizes", key);
            return;
        }
        if (const auto fault = boxFault(box, shape)) {
            c_.report(problem(CkptFault::DcpChunk, metadata_, 0, *fault, false, key));
            return;
        }
        boxes.push_back(box);
        Piece piece;
        const std::vector<std::int64_t> place(box.begin(), box.begin() + static_cast<std::ptrdiff_t>(rank));
        auto item = stored_.find({key, place});
        if (item == stored_.end())
            item = stored_.find({key, {}});
        if (item == stored_.end()) {
            // Rank-local metadata: the chunks of other ranks lie in their own files.
            if (metadata_ == ".metadata")
                wrong("a chunk that lies in no file", key);
            return;
        }
        if (!locate(item->second, key, piece))
            return;
        piece.dims = s_.builder.addDims(box);
        c_.pieces.push_back(piece);
    }

    NodeId readBytes(std::string_view key)
    {
        const auto item = stored_.find({key, {}});
        if (item == stored_.end()) {
            wrong("a value that lies in no file", key);
            return kNone;
        }
        Piece piece;
        if (!locate(item->second, key, piece) || !readItems_)
            return s_.builder.none();
        const std::size_t before = c_.problems.size();
        auto value = readTorchZip(s_, piece.file, piece.offset, piece.length);
        if (value && c_.problems.size() == before)
            return *value;
        CkptProblem p =
            problem(CkptFault::DcpItem, item->second.file, piece.offset,
                    "the item is no whole archive: " + (value ? c_.problems.back().why : value.problem().why),
                    false, key);
        c_.problems.resize(before);
        c_.report(std::move(p));
        return value ? *value : s_.builder.none();
    }

    PickleSession& s_;
    Checkpoint& c_;
    const Folder& folder_;
    bool readItems_;
    DcpTree tree_;
    std::string metadata_;
    std::map<std::string_view, Value> paths_;
    std::map<std::pair<std::string_view, std::vector<std::int64_t>>, StoredItem> stored_;
    std::map<std::string, std::uint32_t> files_;
};

} // namespace

void readDcp(PickleSession& session, const Folder& folder, bool readItems)
{
    DcpReader(session, folder, readItems).read();
}

} // namespace lockstep
