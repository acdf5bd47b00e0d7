#include "core/ckpt/zip_scan.h"

#include "core/ckpt/bytes.h"
#include "core/ckpt/zip_format.h"

#include <algorithm>
#include <cstring>
#include <libdeflate.h>
#include <set>
#include <string_view>

namespace lockstep {
namespace {

using Bytes = std::span<const std::byte>;

std::optional<std::uint64_t> findText(Bytes bytes, std::uint64_t from, std::string_view text)
{
    if (from >= bytes.size())
        return std::nullopt;
    const void* found = ::memmem(bytes.data() + from, bytes.size() - from, text.data(), text.size());
    if (!found)
        return std::nullopt;
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(found) - bytes.data());
}

std::uint32_t crcOf(Bytes bytes, std::uint64_t from, std::uint64_t size)
{
    return libdeflate_crc32(0, bytes.data() + from, size);
}

struct Descriptor {
    std::uint64_t at = 0;
    std::uint64_t compressed = 0;
    std::uint64_t inflated = 0;
    std::uint32_t crc = 0;
    bool crcFits = false;
};

// Whether an archive can go on at this byte: with a header, with its directory, or with the end of a cut file.
bool canGoOn(Bytes bytes, std::uint64_t at)
{
    const std::string_view next = asText(bytes.subspan(std::min<std::uint64_t>(at, bytes.size())));
    for (const std::string_view signature : {"PK\x03\x04", "PK\x01\x02", "PK\x05\x06", "PK\x06\x06"})
        if (next.substr(0, 4) == signature.substr(0, std::min<std::size_t>(next.size(), 4)))
            return true;
    return false;
}

// The data descriptor of a record: its compressed size is its distance from the payload, the archive goes on behind it, and
// its CRC fits. Payloads may contain bytes that look like one. Without a CRC that fits, the first that fulfils the rest: the
// record is there and damaged.
std::optional<Descriptor> findDescriptor(Bytes bytes, std::uint64_t payload, bool stored)
{
    std::optional<Descriptor> damaged;
    for (auto at = findText(bytes, payload, "PK\x07\x08"); at; at = findText(bytes, *at + 1, "PK\x07\x08")) {
        for (const unsigned width : {4u, 8u}) {
            if (!inside(*at, 8 + 2 * width, bytes.size()) || !canGoOn(bytes, *at + 8 + 2 * width))
                continue;
            const std::byte* p = bytes.data() + *at;
            const std::uint64_t size =
                width == 4 ? loadLe<std::uint32_t>(p + 8) : loadLe<std::uint64_t>(p + 8);
            if (size != *at - payload)
                continue;
            const std::uint64_t inflated =
                width == 4 ? loadLe<std::uint32_t>(p + 12) : loadLe<std::uint64_t>(p + 16);
            const auto crc = loadLe<std::uint32_t>(p + 4);
            // CRC 0 on a record with bytes means that it was not computed. A deflated record is not checked here.
            const bool fits = !stored || (crc == 0 && size > 0) || crc == crcOf(bytes, payload, size);
            const Descriptor found{*at, size, inflated, crc, fits};
            if (fits)
                return found;
            if (!damaged)
                damaged = found;
        }
    }
    return damaged;
}

} // namespace

const ScannedRecord* ZipScan::find(std::string_view name) const
{
    for (const ScannedRecord& record : records)
        if (record.name == name)
            return &record;
    return nullptr;
}

ZipScan scanLocalHeaders(Bytes bytes)
{
    ZipScan scan;
    std::set<std::string> names;
    std::optional<std::uint64_t> at = findText(bytes, 0, "PK\x03\x04");
    scan.firstGap = at.value_or(bytes.size());
    while (at && inside(*at, zip::kLocalSize, bytes.size())) {
        const std::byte* p = bytes.data() + *at;
        const auto crc = loadLe<std::uint32_t>(p + 14);
        const auto flags = loadLe<std::uint16_t>(p + 6), method = loadLe<std::uint16_t>(p + 8);
        const auto nameSize = loadLe<std::uint16_t>(p + 26), extraSize = loadLe<std::uint16_t>(p + 28);
        ScannedRecord record;
        record.header = *at;
        record.payload = *at + zip::kLocalSize + nameSize + extraSize;
        record.deflated = method == 8;
        record.flags = flags;
        record.crc = crc;
        if (record.payload > bytes.size() || nameSize == 0)
            break;
        record.name = asText(bytes.subspan(*at + zip::kLocalSize, nameSize));
        std::uint64_t next = record.payload;
        const std::uint64_t announced = loadLe<std::uint32_t>(p + 18);
        record.inflated = loadLe<std::uint32_t>(p + 22);
        if ((flags & zip::kDescriptorFlag) != 0 && announced == 0) {
            const auto descriptor = findDescriptor(bytes, record.payload, method == 0);
            record.whole = descriptor && descriptor->crcFits;
            record.size = descriptor ? descriptor->compressed : bytes.size() - record.payload;
            record.inflated = descriptor ? descriptor->inflated : 0;
            record.crc = descriptor ? descriptor->crc : 0;
            next = descriptor ? descriptor->at + 16 : record.payload;
        } else if (announced != 0xffffffff) {
            const bool there = inside(record.payload, announced, bytes.size());
            record.size = there ? announced : bytes.size() - record.payload;
            record.whole = there && (method != 0 || (crc == 0 && announced > 0) ||
                                     crc == crcOf(bytes, record.payload, announced));
            next = record.payload + record.size;
        }
        scan.repeatedNames = !names.insert(record.name).second || scan.repeatedNames;
        scan.records.push_back(std::move(record));
        at = findText(bytes, next, "PK\x03\x04");
    }
    scan.end = findText(bytes, scan.records.empty() ? 0 : scan.records.back().payload, "PK\x05\x06");
    return scan;
}

} // namespace lockstep
