#include "core/ckpt/bytes.h"
#include "core/ckpt/readers.h"
#include "core/ckpt/zip_archive.h"

#include <charconv>
#include <unordered_map>

namespace lockstep {
namespace {

class ZipLoader : public PersistentLoader
{
public:
    ZipLoader(PickleSession& session, std::uint32_t archive, std::uint32_t file, std::string folder,
              bool bigEndian)
        : s_(session),
          c_(session.c),
          archive_(archive),
          file_(file),
          data_(std::move(folder) + "data/"),
          bigEndian_(bigEndian),
          byRecord_(session.c.archives[archive]->records().size(), kNone)
    {
    }

    CkptResult<NodeId> load(NodeId id) override
    {
        const Value v = c_.value(id);
        if (!v.is(ValueKind::Tuple) || v.size() < 5 || !isText(v.item(0)) || v.item(0).text() != "storage" ||
            !isText(v.item(2)) || !isText(v.item(3)) || !v.item(4).is(ValueKind::Int))
            return CkptProblem{CkptFault::PicklePersistentId, 0, {}, {}, {}, {}, true};
        const auto cls = s_.byNode.find(v.item(1).id());
        if (cls == s_.byNode.end() || !cls->second->meaning.storageClass)
            return CkptProblem{CkptFault::TensorType, 0, {}, {}, "a storage of unknown class", {}, true};
        const std::optional<DType> type = cls->second->meaning.storageType;
        const std::int64_t elements = v.item(4).integer();
        std::int64_t bytes = 0;
        if (elements < 0 || !mulInto(elements, type ? static_cast<std::int64_t>(itemSize(*type)) : 1, bytes))
            return CkptProblem{CkptFault::RecordSize,
                               0,
                               {},
                               {},
                               "a storage of " + std::to_string(elements) + " elements",
                               {},
                               true};
        const std::string_view key = v.item(2).text();
        const std::uint32_t storage = storageOf(v, key, type, elements);
        check(c_.storages[storage], static_cast<std::uint64_t>(bytes));
        s_.builder.charge(sizeof(Checkpoint::StorageUse));
        c_.storageUses.push_back({storage, type, elements});
        return s_.builder.reference(ValueKind::Storage,
                                    static_cast<std::uint32_t>(c_.storageUses.size() - 1));
    }

private:
    static bool isText(Value v) { return v.is(ValueKind::Str) || v.is(ValueKind::Bytes); }

    // Storages are counted by record; keys without one, which is damage, by name.
    std::uint32_t storageOf(Value v, std::string_view key, std::optional<DType> type, std::int64_t elements)
    {
        const ZipArchive& zip = *c_.archives[archive_];
        const auto& records = zip.records();
        name_.assign(data_).append(key);
        // Records usually lie in the order of their use.
        const std::optional<std::uint32_t> record =
            next_ < records.size() && records[next_].name == name_ ? std::optional(next_) : zip.find(name_);
        if (record)
            next_ = *record + 1;
        std::uint32_t& known = record ? byRecord_[*record] : missing_.try_emplace(key, kNone).first->second;
        if (known != kNone)
            return known;
        known = static_cast<std::uint32_t>(c_.storages.size());
        StorageInfo info;
        info.key = key;
        info.device = v.item(3).text();
        info.dtype = type;
        info.bigEndian = bigEndian_;
        info.meta = info.device == "meta";
        info.file = file_;
        info.archive = archive_;
        info.elements = elements;
        if (record) {
            info.record = *record;
            info.bytes = records[*record].size;
        } else if (!info.meta) {
            report(CkptFault::RecordMissing, zip.directory(),
                   "the pickle names a storage that the archive does not hold");
        }
        s_.builder.charge(sizeof info + 64);
        c_.storages.push_back(info);
        return known;
    }

    void check(const StorageInfo& info, std::uint64_t bytes)
    {
        if (info.meta || info.record == kNone || info.bytes == bytes)
            return;
        const ZipRecord& record = c_.archives[archive_]->records()[info.record];
        name_.assign(record.name);
        report(CkptFault::RecordSize, record.header,
               "the record has " + std::to_string(info.bytes) + " bytes, the pickle wants " +
                   std::to_string(bytes));
    }

    void report(CkptFault fault, std::uint64_t offset, std::string why)
    {
        c_.report(c_.archives[archive_]->problem(fault, offset, std::move(why), name_));
    }

    PickleSession& s_;
    Checkpoint& c_;
    std::uint32_t archive_;
    std::uint32_t file_;
    std::string data_; // "archive/data/"
    std::string name_;
    bool bigEndian_;
    std::vector<std::uint32_t> byRecord_; // storage of a record, or kNone
    std::unordered_map<std::string_view, std::uint32_t> missing_;
    std::uint32_t next_ = 0; // record behind the one found last
};

// The contents of a small record, inflated if necessary. Inflated bytes stay with the checkpoint.
CkptResult<std::span<const std::byte>> recordBytes(Checkpoint& c, const ZipArchive& zip, std::uint32_t record)
{
    const ZipRecord& r = zip.records()[record];
    if (r.stored())
        return zip.payload(record);
    auto inflated = zip.inflate(record, inflateLimit(r.compressed, zip.length()));
    if (!inflated)
        return inflated.problem();
    c.buffers.push_back(std::move(*inflated));
    return std::span<const std::byte>(c.buffers.back().get(), static_cast<std::size_t>(r.size));
}

struct TopFolder {
    std::string name; // with "/", or empty
    std::optional<std::uint32_t> pickle;
    std::optional<CkptProblem> problem;
};

// torch takes the folder of the first entry. Where that one does not hold data.pkl but exactly one other does, the file can be
// read all the same, and is reported.
TopFolder findTop(const ZipArchive& zip)
{
    TopFolder top;
    const auto& records = zip.records();
    const std::string_view first = records.front().name;
    const std::size_t slash = first.find('/');
    if (slash != std::string_view::npos)
        top.name = std::string(first.substr(0, slash + 1));
    top.pickle = slash == std::string_view::npos ? std::nullopt : zip.findUnder(top.name, "data.pkl");
    if (top.pickle)
        return top;
    std::optional<std::uint32_t> other;
    bool several = false;
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        if (records[i].name != "data.pkl" && !records[i].name.ends_with("/data.pkl"))
            continue;
        several = other.has_value();
        other = i;
    }
    if (!other || several)
        return top;
    top.pickle = other;
    top.name = std::string(records[*other].name.substr(0, records[*other].name.size() - 8));
    top.problem =
        zip.problem(CkptFault::ZipTopFolder, records.front().entry,
                    slash == std::string_view::npos
                        ? "file in archive is not in a subdirectory: " + std::string(first)
                        : "the first entry's folder does not hold data.pkl; it lies in \"" + top.name + "\"",
                    first);
    return top;
}

bool readByteOrder(Checkpoint& c, const ZipArchive& zip, const std::string& folder, bool& bigEndian)
{
    const auto record = zip.findUnder(folder, "byteorder");
    if (!record)
        return true;
    const ZipRecord& r = zip.records()[*record];
    auto bytes = r.size <= 16 ? recordBytes(c, zip, *record)
                              : CkptResult<std::span<const std::byte>>(std::span<const std::byte>());
    if (!bytes) {
        c.problems.push_back(bytes.problem());
        return false;
    }
    const std::string_view text = asText(*bytes);
    bigEndian = text == "big";
    if (bigEndian || text == "little")
        return true;
    c.problems.push_back(
        zip.problem(CkptFault::ZipByteOrder, r.header, "neither \"little\" nor \"big\"", r.name));
    return false;
}

void checkVersion(Checkpoint& c, const ZipArchive& zip, const std::string& folder)
{
    constexpr int kNewest = 10; // torch 2.15.0: caffe2/serialize/versions.h
    auto record = zip.findUnder(folder, "version");
    if (!record)
        record = zip.findUnder(folder, ".data/version");
    if (!record) {
        c.problems.push_back(zip.problem(
            CkptFault::ZipNoVersion, zip.directory(),
            "no record \"version\"; torch says: Expected hasRecord(\"version\") to be true, but got false."));
        return;
    }
    const ZipRecord& r = zip.records()[*record];
    auto bytes = r.size <= 64 ? recordBytes(c, zip, *record)
                              : CkptResult<std::span<const std::byte>>(std::span<const std::byte>());
    if (!bytes) {
        c.problems.push_back(bytes.problem());
        return;
    }
    const std::string_view text = asText(*bytes);
    int version = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (error != std::errc() || version < 1 || version > kNewest)
        c.problems.push_back(
            zip.problem(CkptFault::ZipNoVersion, r.header, "a version that torch does not read", r.name));
}

} // namespace

CkptResult<NodeId> readTorchZip(PickleSession& session, std::uint32_t file, std::uint64_t base,
                                std::uint64_t length)
{
    Checkpoint& c = session.c;
    auto opened = ZipArchive::open(c.files[file], base, length, c.problems);
    if (!opened) {
        CkptProblem p = opened.problem();
        p.fatal = true;
        return p;
    }
    c.archives.push_back(*opened);
    const ZipArchive& zip = **opened;
    const auto fatal = [](CkptProblem p) {
        p.fatal = true;
        return p;
    };
    if (zip.records().empty()) {
        CkptProblem p = fatal(zip.problem(CkptFault::ZipNoPickle, 0, "a zip without entries"));
        p.detail = "foreign";
        return p;
    }
    TopFolder top = findTop(zip);
    if (top.problem)
        c.problems.push_back(*top.problem);
    if (!top.pickle) {
        CkptProblem p = fatal(zip.problem(
            CkptFault::ZipNoPickle, zip.directory(),
            "no data.pkl; torch says: PytorchStreamReader failed locating file data.pkl: file not found"));
        // What torch.save leaves when it raises; any other zip is something else.
        if (!zip.findUnder(top.name, "version") && !zip.findUnder(top.name, "byteorder"))
            p.detail = "foreign";
        return p;
    }
    c.torchScript = c.torchScript || zip.findUnder(top.name, "constants.pkl").has_value();
    if (c.torchScript)
        session.refuse(
            "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``.");
    checkVersion(c, zip, top.name);
    bool bigEndian = false;
    readByteOrder(c, zip, top.name, bigEndian);
    auto bytes = recordBytes(c, zip, *top.pickle);
    if (!bytes)
        return fatal(bytes.problem());
    const ZipRecord& record = zip.records()[*top.pickle];
    PickleInput input;
    input.bytes = *bytes;
    input.file = file;
    input.inflated = !record.stored();
    input.record = std::string(record.name);
    const auto payload = zip.payload(*top.pickle);
    input.offset = payload ? static_cast<std::uint64_t>(payload->data() - c.files[file]->bytes().data())
                           : base + record.header;
    // A deflated pickle justifies memory by its compressed size; a stored one by its own.
    session.builder.allow(record.stored()
                              ? record.size
                              : std::min<std::uint64_t>(record.size, (2u << 20) + 16 * record.compressed));
    if (bytes->size() > 65536)
        session.builder.expect(bytes->size(), zip.records().size());
    ZipLoader loader(session, static_cast<std::uint32_t>(c.archives.size() - 1), file, top.name, bigEndian);
    PickleMachine machine(session, std::move(input), &loader);
    return machine.run();
}

} // namespace lockstep
