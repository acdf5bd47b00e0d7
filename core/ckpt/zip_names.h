// Finds the records of a zip by name: open addressing over the names, which stay with the records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace lockstep {

struct ZipRecord;

class ZipNames
{
public:
    enum class Added {
        New,
        Twice,    // an earlier record has this name; that one is found
        Colliding // too many names share its place: it is not found
    };

    // Room for `records` names; to be called once, before the first add().
    void expect(std::size_t records);
    Added add(const std::vector<ZipRecord>& records, std::uint32_t record);
    // Index of the record with this full name.
    std::optional<std::uint32_t> find(const std::vector<ZipRecord>& records, std::string_view name) const;

private:
    // Keeps part of the hash, so that a name is compared only where it matches.
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t record = 0; // index + 1; 0: free
    };
    // The slot that holds this name or, if none does, the free one where it would lie; nullopt after kTries others.
    std::optional<std::size_t> slotOf(const std::vector<ZipRecord>& records, std::string_view name,
                                      std::uint64_t hash) const;

    std::vector<Slot> slots_;
};

} // namespace lockstep
