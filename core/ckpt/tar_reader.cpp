// torch.save of torch <= 0.1: a tar of "sys_info", "pickle", "tensors" and "storages" (torch/serialization.py, legacy_load).
#include "core/ckpt/bytes.h"
#include "core/ckpt/readers.h"
#include "core/ckpt/strides.h"

#include <map>
#include <unordered_map>

namespace lockstep {
namespace {

struct TarMember {
    std::uint64_t offset = 0; // of its bytes
    std::uint64_t size = 0;
};

// Octal, or base-256 when the top bit is set (GNU).
bool tarNumber(std::string_view field, std::uint64_t& value)
{
    value = 0;
    if (!field.empty() && (static_cast<unsigned char>(field[0]) & 0x80) != 0) {
        for (std::size_t i = field.size() - 8; i < field.size(); ++i)
            value = value << 8 | static_cast<unsigned char>(field[i]);
        return true;
    }
    bool any = false;
    for (const char c : field) {
        if (c >= '0' && c <= '7') {
            value = value * 8 + static_cast<std::uint64_t>(c - '0');
            any = true;
        } else if (c != ' ' && c != '\0') {
            return false;
        } else if (any) {
            break;
        }
    }
    return any;
}

// Views of storages share their root; offsets of tensors on a view count from the start of the root.
struct TarStorage {
    std::uint32_t storage = 0;
    std::int64_t offset = 0;
    std::int64_t elements = 0;
};

class TarReader : public PersistentLoader
{
public:
    TarReader(PickleSession& session, std::uint32_t file)
        : s_(session), c_(session.c), file_(file), bytes_(session.c.files[file]->bytes())
    {
    }

    CkptResult<NodeId> read()
    {
        if (auto p = readMembers())
            return *p;
        for (const std::string_view name : {"pickle", "storages", "tensors"})
            if (!members_.contains(std::string(name)))
                return problem(CkptFault::TarMember, 0,
                               "no member \"" + std::string(name) + "\": not a checkpoint of torch");
        s_.builder.allow(bytes_.size());
        if (auto p = readStorages())
            return *p;
        if (auto p = readTensors())
            return *p;
        s_.refuse("Cannot use ``weights_only=True`` with files saved in the legacy .tar format.");
        PickleMachine machine = machineFor("pickle");
        return machine.run();
    }

    // A class with its source, or the key of a tensor or storage as text.
    CkptResult<NodeId> load(NodeId id) override
    {
        const Value v = c_.value(id);
        if (v.is(ValueKind::Tuple) && v.size() > 0)
            return v.item(0).id();
        std::int64_t key = 0;
        if (!keyOf(v, key))
            return CkptProblem{CkptFault::PicklePersistentId, 0, {}, {}, {}, {}, true};
        if (const auto tensor = tensors_.find(key); tensor != tensors_.end())
            return tensor->second;
        const auto storage = storages_.find(key);
        if (storage == storages_.end())
            return CkptProblem{CkptFault::RecordMissing,
                               0,
                               {},
                               {},
                               "names a tensor that the archive does not hold",
                               {},
                               true};
        c_.storageUses.push_back(
            {storage->second.storage, c_.storages[storage->second.storage].dtype, storage->second.elements});
        return s_.builder.reference(ValueKind::Storage,
                                    static_cast<std::uint32_t>(c_.storageUses.size() - 1));
    }

private:
    using Problem = std::optional<CkptProblem>;

    CkptProblem problem(CkptFault fault, std::uint64_t offset, std::string why) const
    {
        CkptProblem p;
        p.fault = fault;
        p.offset = offset;
        p.file = c_.files[file_]->name();
        p.why = std::move(why);
        p.fatal = true;
        return p;
    }

    Problem readMembers()
    {
        std::uint64_t at = 0;
        while (bytes_.size() - at >= 512) {
            const std::string_view header = asText(bytes_.subspan(at, 512));
            if (header.find_first_not_of('\0') == std::string_view::npos)
                return std::nullopt; // end of the archive
            std::uint64_t size = 0;
            std::uint64_t sum = 0;
            if (!tarNumber(header.substr(124, 12), size) || !tarNumber(header.substr(148, 8), sum))
                return problem(CkptFault::TarHeader, at, "a member header without size or checksum");
            std::uint64_t real = 8 * ' ';
            for (std::size_t i = 0; i < 512; ++i)
                if (i < 148 || i >= 156)
                    real += static_cast<unsigned char>(header[i]);
            if (real != sum)
                return problem(CkptFault::TarHeader, at, "the checksum of a member header is wrong");
            if (!inside(at + 512, size, bytes_.size()))
                return problem(CkptFault::TarMember, at, "a member reaches past the end of the file");
            std::string_view name = header.substr(0, 100);
            name = name.substr(0, name.find('\0'));
            if (name.starts_with("./"))
                name.remove_prefix(2);
            const char type = header[156];
            if (type == '0' || type == '\0')
                members_[std::string(name)] = {at + 512, size};
            else if (name == "pickle" || name == "storages" || name == "tensors")
                return problem(CkptFault::TarMember, at,
                               "member \"" + std::string(name) + "\" is a link or a special file");
            at += 512 + (size + 511) / 512 * 512;
            if (at > bytes_.size())
                break;
        }
        return std::nullopt;
    }

    PickleMachine machineFor(const std::string& member)
    {
        const TarMember& m = members_[member];
        PickleInput input;
        input.bytes = bytes_.subspan(m.offset, m.size);
        input.file = file_;
        input.offset = m.offset;
        input.record = member;
        return PickleMachine(s_, std::move(input), this);
    }

    bool keyOf(Value v, std::int64_t& key) const
    {
        if (v.is(ValueKind::Int)) {
            key = v.integer();
            return true;
        }
        if (!v.is(ValueKind::Str) || v.text().empty() || v.text().size() > 20)
            return false;
        key = 0;
        for (const char c : v.text())
            if (c < '0' || c > '9' || !mulInto<std::int64_t>(key, 10, key) ||
                !addInto<std::int64_t>(key, c - '0', key))
                return false;
        return true;
    }

    // A member that begins with a pickled count, and behind it has that many items: each a pickled tuple of three and bytes that
    // `read(head, at)` goes through, where `at` counts from the start of the member. `at` ends behind the last item.
    template<typename Read>
    Problem readItems(PickleMachine& machine, const TarMember& member, std::uint64_t& at, Read&& read)
    {
        auto count = machine.run();
        if (!count)
            return count.problem();
        if (!c_.value(*count).is(ValueKind::Int))
            return problem(CkptFault::TarMember, member.offset, "the number of items is not a number");
        at = machine.end();
        for (std::int64_t i = c_.value(*count).integer(); i > 0; --i) {
            const std::uint64_t start = at;
            auto head = machine.run(at);
            if (!head)
                return head.problem();
            at = machine.end();
            const Value v = c_.value(*head);
            if (!v.is(ValueKind::Tuple) || v.size() != 3)
                return problem(CkptFault::TarMember, member.offset + start, "an item of unknown form");
            if (member.size - at < 8)
                return problem(CkptFault::TarMember, member.offset + at,
                               "the member ends in the middle of an item");
            if (auto p = read(v, start))
                return p;
        }
        return std::nullopt;
    }

    // Items (key, location, class), each followed by the element count and the bytes; then the list of views.
    Problem readStorages()
    {
        const TarMember& m = members_["storages"];
        const auto data = bytes_.subspan(m.offset, m.size);
        PickleMachine machine = machineFor("storages");
        std::uint64_t at = 0;
        const auto readStorage = [&](Value head, std::uint64_t start) -> Problem {
            std::int64_t key = 0;
            const auto cls = s_.byNode.find(head.item(2).id());
            if (cls == s_.byNode.end() || !cls->second->meaning.storageClass || !keyOf(head.item(0), key) ||
                !head.item(1).is(ValueKind::Str))
                return problem(CkptFault::TensorType, m.offset + start,
                               "a storage of unknown class, key or place");
            const auto elements = loadLe<std::int64_t>(&data[at]);
            at += 8;
            std::int64_t size = 0;
            const auto type = cls->second->meaning.storageType;
            if (elements < 0 ||
                !mulInto(elements, type ? static_cast<std::int64_t>(itemSize(*type)) : 1, size) ||
                data.size() - at < static_cast<std::uint64_t>(size))
                return problem(CkptFault::LegacyStorage, m.offset + at - 8,
                               "a storage of " + std::to_string(elements) +
                                   " elements does not fit its member");
            StorageInfo info;
            info.key = s_.c.keep(std::to_string(key));
            info.device = head.item(1).text();
            info.dtype = type;
            info.file = file_;
            info.elements = elements;
            info.bytes = static_cast<std::uint64_t>(size);
            info.offset = m.offset + at;
            s_.builder.charge(sizeof info + 96);
            storages_[key] = {static_cast<std::uint32_t>(c_.storages.size()), 0, elements};
            c_.storages.push_back(info);
            at += info.bytes;
            return std::nullopt;
        };
        if (auto p = readItems(machine, m, at, readStorage))
            return p;
        auto views = machine.run(at);
        if (!views)
            return views.problem();
        const Value list = c_.value(*views);
        for (std::size_t i = 0; list.is(ValueKind::List) && i < list.size(); ++i)
            if (auto p = addView(list.item(i), m.offset + at))
                return p;
        return std::nullopt;
    }

    // (key, key of the root, offset, size).
    Problem addView(Value view, std::uint64_t where)
    {
        std::int64_t target = 0;
        std::int64_t root = 0;
        if (!view.is(ValueKind::Tuple) || view.size() != 4 || !keyOf(view.item(0), target) ||
            !keyOf(view.item(1), root) || !view.item(2).is(ValueKind::Int) ||
            !view.item(3).is(ValueKind::Int) || !storages_.contains(root))
            return problem(CkptFault::TarMember, where, "a storage view of unknown form");
        const TarStorage from = storages_[root];
        const std::int64_t offset = view.item(2).integer();
        const std::int64_t elements = view.item(3).integer();
        if (offset < 0 || elements < 0 || offset > from.elements || elements > from.elements - offset)
            return problem(CkptFault::TensorBounds, where, "a storage view reaches past its storage");
        storages_[target] = {from.storage, from.offset + offset, elements};
        return std::nullopt;
    }

    // Items (key, storage key, class), each followed by int32 rank, 4 bytes, sizes, strides, offset.
    Problem readTensors()
    {
        const TarMember& m = members_["tensors"];
        const auto data = bytes_.subspan(m.offset, m.size);
        PickleMachine machine = machineFor("tensors");
        std::uint64_t at = 0;
        const auto readTensor = [&](Value head, std::uint64_t start) -> Problem {
            std::int64_t key = 0;
            std::int64_t storageKey = 0;
            if (!keyOf(head.item(0), key) || !keyOf(head.item(1), storageKey) ||
                !storages_.contains(storageKey))
                return problem(CkptFault::TarMember, m.offset + start, "a tensor of unknown key or storage");
            const auto rank = loadLe<std::int32_t>(&data[at]);
            if (rank < 0 || rank > 255)
                return problem(CkptFault::TensorShape, m.offset + at,
                               "a tensor of " + std::to_string(rank) + " dimensions");
            at += 8;
            const std::uint64_t need = 16 * static_cast<std::uint64_t>(rank) + 8;
            if (data.size() - at < need)
                return problem(CkptFault::TarMember, m.offset + at,
                               "the member ends in the middle of a tensor");
            std::vector<std::int64_t> dims;
            for (std::int32_t d = 0; d < 2 * rank; ++d, at += 8)
                dims.push_back(loadLe<std::int64_t>(&data[at]));
            const std::int64_t offset = loadLe<std::int64_t>(&data[at]);
            at += 8;
            TensorInfo info;
            const TarStorage& storage = storages_[storageKey];
            info.rank = static_cast<std::uint8_t>(rank);
            info.storage = storage.storage;
            info.dtype = c_.storages[storage.storage].dtype.value_or(DType::UInt8);
            const auto sizes = std::span<const std::int64_t>(dims);
            const auto n = static_cast<std::size_t>(rank);
            const auto end = viewEnd(sizes.first(n), sizes.last(n), offset);
            if (!end || *end > storage.elements || !addInto(offset, storage.offset, info.offset))
                return problem(CkptFault::TensorBounds, m.offset + start,
                               "a tensor reaches past its storage");
            info.dims = s_.builder.addDims(dims);
            s_.builder.charge(64 + dims.size() * 8);
            tensors_[key] = s_.builder.tensor(info);
            return std::nullopt;
        };
        return readItems(machine, m, at, readTensor);
    }

    PickleSession& s_;
    Checkpoint& c_;
    std::uint32_t file_;
    std::span<const std::byte> bytes_;
    std::map<std::string, TarMember> members_;
    std::unordered_map<std::int64_t, TarStorage> storages_;
    std::unordered_map<std::int64_t, NodeId> tensors_;
};

} // namespace

CkptResult<NodeId> readTar(PickleSession& session, std::uint32_t file)
{
    return TarReader(session, file).read();
}

} // namespace lockstep
