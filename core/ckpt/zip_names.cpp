#include "core/ckpt/zip_names.h"

#include "core/ckpt/zip_archive.h"

#include <cstring>

namespace lockstep {
namespace {

// Slots looked at for one name. Ordinary names need a few; names made to collide must not cost more each, the more there are.
constexpr int kTries = 500;

std::uint64_t hashName(std::string_view name)
{
    std::uint64_t h = 0x9e3779b97f4a7c15ULL ^ name.size();
    while (name.size() >= 8) {
        std::uint64_t word;
        std::memcpy(&word, name.data(), 8);
        h = (h ^ word) * 0xff51afd7ed558ccdULL;
        h ^= h >> 32;
        name.remove_prefix(8);
    }
    std::uint64_t word = 0;
    std::memcpy(&word, name.data(), name.size());
    h = (h ^ word) * 0xff51afd7ed558ccdULL;
    return h ^ h >> 29;
}

std::uint32_t tagOf(std::uint64_t hash)
{
    return static_cast<std::uint32_t>(hash >> 32);
}

} // namespace

void ZipNames::expect(std::size_t records)
{
    std::size_t capacity = 16;
    while (capacity < records * 2)
        capacity *= 2;
    slots_.assign(capacity, {});
}

std::optional<std::size_t> ZipNames::slotOf(const std::vector<ZipRecord>& records, std::string_view name,
                                            std::uint64_t hash) const
{
    std::size_t at = hash & (slots_.size() - 1);
    for (int tries = 0; tries < kTries; ++tries, at = (at + 1) & (slots_.size() - 1)) {
        const Slot& slot = slots_[at];
        if (slot.record == 0 || (slot.tag == tagOf(hash) && records[slot.record - 1].name == name))
            return at;
    }
    return std::nullopt;
}

ZipNames::Added ZipNames::add(const std::vector<ZipRecord>& records, std::uint32_t record)
{
    const std::uint64_t hash = hashName(records[record].name);
    const auto at = slotOf(records, records[record].name, hash);
    if (!at)
        return Added::Colliding;
    if (slots_[*at].record != 0)
        return Added::Twice;
    slots_[*at] = {tagOf(hash), record + 1};
    return Added::New;
}

std::optional<std::uint32_t> ZipNames::find(const std::vector<ZipRecord>& records,
                                            std::string_view name) const
{
    const auto at = slotOf(records, name, hashName(name));
    if (!at || slots_[*at].record == 0)
        return std::nullopt;
    return slots_[*at].record - 1;
}

} // namespace lockstep
