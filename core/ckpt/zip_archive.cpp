#include "core/ckpt/zip_archive.h"

#include "core/ckpt/bytes.h"
#include "core/ckpt/zip_format.h"

#include <algorithm>
#include <libdeflate.h>

namespace lockstep {

using namespace zip;

std::uint64_t inflateLimit(std::uint64_t compressed, std::uint64_t fileSize)
{
    constexpr std::uint64_t kAlways = 8u << 20;
    // Deflate cannot exceed 1032:1 (a 258 byte match in two bits).
    std::uint64_t possible = 0;
    if (!mulInto<std::uint64_t>(compressed, 1032, possible))
        possible = ~0ULL;
    return std::min(possible + 64, kAlways + 16 * std::min<std::uint64_t>(fileSize, 1ULL << 50));
}

CkptProblem ZipArchive::problem(CkptFault fault, std::uint64_t offset, std::string why,
                                std::string_view record) const
{
    CkptProblem p;
    p.fault = fault;
    p.offset = base_ + offset;
    p.file = file_->name();
    p.record = std::string(record);
    p.why = std::move(why);
    return p;
}

CkptResult<std::shared_ptr<const ZipArchive>> ZipArchive::open(std::shared_ptr<const MappedFile> file,
                                                               std::uint64_t base, std::uint64_t length,
                                                               std::vector<CkptProblem>& problems)
{
    std::shared_ptr<ZipArchive> zip(new ZipArchive);
    zip->file_ = std::move(file);
    zip->base_ = base;
    zip->length_ = length;
    if (auto p = zip->readEnd(problems))
        return *p;
    if (auto p = zip->readDirectory(problems))
        return *p;
    zip->nameRecords(problems);
    zip->checkOverlap(problems);
    return std::shared_ptr<const ZipArchive>(zip);
}

std::optional<std::uint32_t> ZipArchive::findUnder(std::string_view folder, std::string_view name) const
{
    std::string full(folder);
    full += name;
    return find(full);
}

CkptResult<std::span<const std::byte>> ZipArchive::payload(std::uint32_t record) const
{
    const ZipRecord& r = records_[record];
    const auto data = bytes();
    const std::byte* h = &data[r.header]; // header, name and bytes lie before the directory: readDirectory()
    if (loadLe<std::uint32_t>(h) != kLocalSignature)
        return problem(CkptFault::ZipLocalHeader, r.header, "no local header where the directory points",
                       r.name);
    const auto flags = loadLe<std::uint16_t>(h + 6);
    const std::uint64_t nameSize = loadLe<std::uint16_t>(h + 26);
    const std::uint64_t extraSize = loadLe<std::uint16_t>(h + 28);
    const std::uint64_t start = r.header + kLocalSize + nameSize + extraSize;
    if (!inside(start, r.compressed, directory_))
        return problem(CkptFault::ZipLocalHeader, r.header + 26,
                       "the local header pushes the record into the directory", r.name);
    if (asText(data.subspan(r.header + kLocalSize, nameSize)) != r.name)
        return problem(CkptFault::ZipLocalHeader, r.header + kLocalSize,
                       "local header and directory name different records", r.name);
    if (loadLe<std::uint16_t>(h + 8) != r.method ||
        ((flags ^ r.flags) & (kDescriptorFlag | kEncryptedFlags)) != 0)
        return problem(CkptFault::ZipLocalHeader, r.header + 6,
                       "local header and directory differ in method or flags", r.name);
    if ((flags & kEncryptedFlags) != 0)
        return problem(CkptFault::ZipMethod, r.header + 6, "the record is encrypted", r.name);
    if (r.method != 0 && r.method != 8)
        return problem(CkptFault::ZipMethod, r.header + 8,
                       "compression method " + std::to_string(r.method) + " is neither stored nor deflated",
                       r.name);
    if ((flags & kDescriptorFlag) == 0) {
        ZipRecord local;
        local.name = r.name;
        local.header = 0;
        local.crc = loadLe<std::uint32_t>(h + 14);
        local.compressed = loadLe<std::uint32_t>(h + 18);
        local.size = loadLe<std::uint32_t>(h + 22);
        if (auto p = readZip64(local, data.subspan(r.header + kLocalSize + nameSize, extraSize), r.header))
            return *p;
        if (local.crc != r.crc || local.compressed != r.compressed || local.size != r.size)
            return problem(CkptFault::ZipLocalHeader, r.header + 14,
                           "local header and directory differ in size or checksum", r.name);
    }
    return data.subspan(start, r.compressed);
}

CkptResult<std::unique_ptr<std::byte[]>> ZipArchive::inflate(std::uint32_t record, std::uint64_t limit) const
{
    const ZipRecord& r = records_[record];
    auto packed = payload(record);
    if (!packed)
        return packed.problem();
    const auto at = static_cast<std::uint64_t>(packed->data() - bytes().data());
    if (r.size > limit)
        return problem(CkptFault::ZipInflatedSize, r.entry + 24,
                       std::to_string(r.compressed) + " bytes claim to inflate to " + std::to_string(r.size),
                       r.name);
    std::unique_ptr<std::byte[]> out(new (std::nothrow) std::byte[static_cast<std::size_t>(r.size) + 1]);
    const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
        libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
    if (!out || !inflater)
        return problem(CkptFault::ZipInflatedSize, r.entry + 24, "not enough memory to inflate it", r.name);
    std::size_t used = 0;
    switch (libdeflate_deflate_decompress_ex(inflater.get(), packed->data(), packed->size(), out.get(),
                                             static_cast<std::size_t>(r.size), &used, nullptr)) {
    case LIBDEFLATE_SUCCESS:
        break;
    case LIBDEFLATE_SHORT_OUTPUT:
        return problem(CkptFault::ZipInflatedSize, at, "inflates to fewer bytes than announced", r.name);
    case LIBDEFLATE_INSUFFICIENT_SPACE:
        return problem(CkptFault::ZipInflatedSize, at, "inflates to more bytes than announced", r.name);
    default:
        return problem(CkptFault::ZipInflate, at, "the compressed data is broken", r.name);
    }
    if (used != packed->size())
        return problem(CkptFault::ZipInflate, at + used, "bytes follow the end of the compressed data",
                       r.name);
    return out;
}

std::optional<CkptProblem> ZipArchive::checkDescriptor(std::uint32_t record) const
{
    const ZipRecord& r = records_[record];
    if ((r.flags & kDescriptorFlag) == 0)
        return std::nullopt;
    const auto data = bytes();
    auto packed = payload(record);
    if (!packed)
        return packed.problem();
    const auto at = static_cast<std::uint64_t>(packed->data() - data.data()) + r.compressed;
    // Signature (optional in the format, always written by torch), CRC, then sizes of 4 or 8 bytes each.
    if (inside(at, 16, length_) && loadLe<std::uint32_t>(&data[at]) == kDescriptorSignature) {
        const bool crc = loadLe<std::uint32_t>(&data[at + 4]) == r.crc;
        const bool small = loadLe<std::uint32_t>(&data[at + 8]) == static_cast<std::uint32_t>(r.compressed) &&
                           loadLe<std::uint32_t>(&data[at + 12]) == static_cast<std::uint32_t>(r.size);
        const bool large = inside(at, 24, length_) && loadLe<std::uint64_t>(&data[at + 8]) == r.compressed &&
                           loadLe<std::uint64_t>(&data[at + 16]) == r.size;
        if (crc && (small || large))
            return std::nullopt;
    } else if (inside(at, 12, length_) && loadLe<std::uint32_t>(&data[at]) == r.crc &&
               loadLe<std::uint32_t>(&data[at + 4]) == static_cast<std::uint32_t>(r.compressed)) {
        return std::nullopt;
    }
    return problem(CkptFault::ZipCrc, at, "directory and data descriptor contradict each other", r.name);
}

} // namespace lockstep
