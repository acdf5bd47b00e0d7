#include "core/ckpt/legacy_reader.h"

#include "core/ckpt/bytes.h"

#include <unordered_map>

namespace lockstep {
namespace {

class LegacyLoader : public PersistentLoader
{
public:
    explicit LegacyLoader(PickleSession& session) : s_(session), c_(session.c) {}

    CkptResult<NodeId> load(NodeId id) override
    {
        const Value v = c_.value(id);
        if (!v.is(ValueKind::Tuple) || v.size() < 2 || !isText(v.item(0)))
            return unknownId();
        if (v.item(0).text() == "module") // (class, source file, source text) of a whole model
            return v.item(1).id();
        if (v.item(0).text() != "storage" || v.size() < 5 || !isText(v.item(2)) || !isText(v.item(3)) ||
            !v.item(4).is(ValueKind::Int))
            return unknownId();
        const auto cls = s_.byNode.find(v.item(1).id());
        if (cls == s_.byNode.end() || !cls->second->meaning.storageClass)
            return CkptProblem{CkptFault::TensorType, 0, {}, {}, "a storage of unknown class", {}, true};
        const std::optional<DType> type = cls->second->meaning.storageType;
        const std::int64_t unit = type ? static_cast<std::int64_t>(itemSize(*type)) : 1;
        const std::int64_t elements = v.item(4).integer();
        std::int64_t size = 0;
        if (elements < 0 || !mulInto(elements, unit, size))
            return CkptProblem{CkptFault::LegacyStorage,
                               0,
                               {},
                               {},
                               "a storage of " + std::to_string(elements) + " elements",
                               {},
                               true};
        if (!type)
            s_.refuse("type object 'torch.storage.UntypedStorage' has no attribute 'dtype'");

        const auto [root, fresh] =
            roots_.try_emplace(v.item(2).text(), static_cast<std::uint32_t>(c_.storages.size()));
        if (fresh) {
            StorageInfo info;
            info.key = v.item(2).text();
            info.device = v.item(3).text();
            info.dtype = type;
            info.elements = elements;
            info.bytes = static_cast<std::uint64_t>(size);
            info.file = kNone;
            addStorage(info);
        }
        Checkpoint::StorageUse use{root->second, type, elements};
        if (v.size() > 5 && !v.item(5).is(ValueKind::None))
            if (auto failed = view(v.item(5), type, unit, use))
                return *failed;
        s_.builder.charge(sizeof use);
        c_.storageUses.push_back(use);
        return s_.builder.reference(ValueKind::Storage,
                                    static_cast<std::uint32_t>(c_.storageUses.size() - 1));
    }

    // (view key, offset, size) in elements: torch makes one storage per view key over the root's bytes.
    std::optional<CkptProblem> view(Value v, std::optional<DType> type, std::int64_t unit,
                                    Checkpoint::StorageUse& use)
    {
        if (!v.is(ValueKind::Tuple) || v.size() != 3 || !isText(v.item(0)) || !v.item(1).is(ValueKind::Int) ||
            !v.item(2).is(ValueKind::Int))
            return unknownId();
        const std::int64_t offset = v.item(1).integer();
        const std::int64_t count = v.item(2).integer();
        std::int64_t offsetBytes = 0;
        std::int64_t countBytes = 0;
        const StorageInfo root = c_.storages[use.storage];
        if (offset < 0 || count < 0 || !mulInto(offset, unit, offsetBytes) ||
            !mulInto(count, unit, countBytes) ||
            !inside(static_cast<std::uint64_t>(offsetBytes), static_cast<std::uint64_t>(countBytes),
                    root.bytes))
            return CkptProblem{
                CkptFault::TensorBounds, 0, {}, {}, "a storage view reaches past its storage", {}, true};
        const auto [it, fresh] =
            views_.try_emplace(v.item(0).text(), static_cast<std::uint32_t>(c_.storages.size()));
        if (fresh) {
            StorageInfo info = root;
            info.key = v.item(0).text();
            info.dtype = type;
            info.elements = count;
            info.bytes = static_cast<std::uint64_t>(countBytes);
            viewOf.push_back({static_cast<std::uint32_t>(c_.storages.size()), use.storage,
                              static_cast<std::uint64_t>(offsetBytes)});
            addStorage(info);
        }
        use = {it->second, type, count};
        return std::nullopt;
    }

    struct ViewOf {
        std::uint32_t storage;
        std::uint32_t root;
        std::uint64_t offset; // bytes
    };
    std::vector<ViewOf> viewOf;
    const std::unordered_map<std::string_view, std::uint32_t>& roots() const { return roots_; }

private:
    static bool isText(Value v) { return v.is(ValueKind::Str) || v.is(ValueKind::Bytes); }
    static CkptProblem unknownId() { return {CkptFault::PicklePersistentId, 0, {}, {}, {}, {}, true}; }
    void addStorage(const StorageInfo& info)
    {
        s_.builder.charge(sizeof info + 64);
        c_.storages.push_back(info);
    }

    PickleSession& s_;
    Checkpoint& c_;
    std::unordered_map<std::string_view, std::uint32_t> roots_;
    std::unordered_map<std::string_view, std::uint32_t> views_;
};

// The storage section: for each key of the list, in that order, an element count and the bytes.
void readStorages(PickleSession& s, LegacyLoader& loader, Value keys, std::span<const std::byte> bytes,
                  std::uint64_t at, std::uint32_t file, std::uint64_t base)
{
    Checkpoint& c = s.c;
    const auto report = [&](CkptFault fault, std::uint64_t offset, std::string why, std::string_view key) {
        CkptProblem p;
        p.fault = fault;
        p.offset = base + offset;
        p.file = c.files[file]->name();
        p.record = "storage " + std::string(key);
        p.why = std::move(why);
        c.problems.push_back(std::move(p));
    };
    std::size_t read = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const Value key = keys.item(i);
        const auto root = key.is(ValueKind::Str) || key.is(ValueKind::Bytes) ? loader.roots().find(key.text())
                                                                             : loader.roots().end();
        if (root == loader.roots().end()) {
            report(CkptFault::LegacyKeys, at, "the list of storages names one that no tensor uses", "");
            return;
        }
        StorageInfo& info = c.storages[root->second];
        if (bytes.size() - at < 8) {
            report(CkptFault::LegacyStorage, at, "the file ends before this storage", info.key);
            return;
        }
        const auto count = loadLe<std::int64_t>(&bytes[at]);
        if (count != info.elements) {
            report(CkptFault::LegacyStorage, at,
                   "says " + std::to_string(count) + " elements where the pickle says " +
                       std::to_string(info.elements),
                   info.key);
            return;
        }
        at += 8;
        if (bytes.size() - at < info.bytes) {
            report(CkptFault::LegacyStorage, at,
                   "needs " + std::to_string(info.bytes) + " bytes, the file ends after " +
                       std::to_string(bytes.size() - at),
                   info.key);
            return;
        }
        info.file = file;
        info.offset = base + at;
        at += info.bytes;
        ++read;
    }
    if (read < loader.roots().size())
        report(CkptFault::LegacyKeys, at,
               "the list of storages leaves " + std::to_string(loader.roots().size() - read) + " out", "");
    else if (at < bytes.size())
        report(CkptFault::TrailingBytes, at,
               std::to_string(bytes.size() - at) + " bytes follow the last storage", "");
}

} // namespace

bool isLegacyMagic(Value value)
{
    return value.is(ValueKind::BigInt) &&
           value.text() == std::string_view(reinterpret_cast<const char*>(kLegacyMagic) + 4, 10);
}

CkptResult<NodeId> readLegacy(PickleSession& session, std::span<const std::byte> bytes, std::uint32_t file,
                              std::uint64_t offset)
{
    Checkpoint& c = session.c;
    PickleInput input;
    input.bytes = bytes;
    input.file = file;
    input.offset = offset;
    const auto header = [&](std::uint64_t at, std::string why) {
        CkptProblem p;
        p.fault = CkptFault::LegacyHeader;
        p.offset = offset + at;
        p.file = c.files[file]->name();
        p.why = std::move(why);
        p.fatal = true;
        return p;
    };
    // Calls and storages have no place in the header pickles, so they get no loader; what they build is data anyway.
    PickleMachine headerMachine(session, input, nullptr);
    auto magic = headerMachine.run();
    if (!magic)
        return magic.problem();
    if (!isLegacyMagic(c.value(*magic)))
        return header(0, "does not begin with torch's magic number");
    std::uint64_t at = headerMachine.end();
    auto version = headerMachine.run(at);
    if (!version)
        return version.problem();
    if (const Value v = c.value(*version); !v.is(ValueKind::Int) || v.integer() != 1001)
        return header(at, "protocol " + (v.is(ValueKind::Int) ? v.decimal() : std::string("(not a number)")) +
                              " instead of 1001");
    at = headerMachine.end();
    auto info = headerMachine.run(at);
    if (!info)
        return info.problem();
    const Value little = c.value(*info).get("little_endian");
    if (!c.value(*info).is(ValueKind::Dict))
        return header(at, "the system description is not a dict");
    const bool bigEndian = little.is(ValueKind::Bool) && !little.boolean();
    at = headerMachine.end();

    const std::size_t firstStorage = c.storages.size();
    LegacyLoader loader(session);
    PickleMachine machine(session, input, &loader);
    auto value = machine.run(at);
    if (!value)
        return value.problem();
    at = machine.end();
    auto keys = headerMachine.run(at);
    if (!keys)
        return keys.problem();
    if (!c.value(*keys).is(ValueKind::List))
        return header(at, "the list of storages is not a list");
    readStorages(session, loader, c.value(*keys), bytes, headerMachine.end(), file, offset);
    for (const LegacyLoader::ViewOf& view : loader.viewOf) {
        c.storages[view.storage].file = c.storages[view.root].file;
        c.storages[view.storage].offset = c.storages[view.root].offset + view.offset;
    }
    for (std::size_t i = firstStorage; i < c.storages.size(); ++i)
        c.storages[i].bigEndian = bigEndian;
    return *value;
}

} // namespace lockstep
