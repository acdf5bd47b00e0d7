// Walks a zip archive by its local headers, without the central directory: what is still whole in a file that was cut or
// overwritten. Sizes come from the local header, or for entries written as a stream (torch's) from the data descriptor,
// which is searched for and believed only if its size and its CRC fit the bytes in front of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

struct ScannedRecord {
    std::string name;           // with the top folder
    std::uint64_t header = 0;   // first byte of the local header
    std::uint64_t payload = 0;  // first byte of the contents
    std::uint64_t size = 0;     // bytes of contents; for a record that is not whole, those that are left
    std::uint64_t inflated = 0; // size of the contents when inflated; equal to `size` for stored records
    std::uint32_t crc = 0;      // as recorded in the header or descriptor
    std::uint16_t flags = 0;    // general purpose flags of the local header
    bool whole = false;         // the contents end in the file and match their CRC, where one was computed
    bool deflated = false;
};

struct ZipScan {
    std::vector<ScannedRecord> records; // in file order
    std::optional<std::uint64_t> end;   // end-of-central-directory record (32 bit), if one was met
    std::uint64_t firstGap = 0;         // bytes before the first local header
    bool repeatedNames = false;         // two records of one name: two archives in one file

    const ScannedRecord* find(std::string_view name) const;
};

ZipScan scanLocalHeaders(std::span<const std::byte> bytes);

} // namespace lockstep
