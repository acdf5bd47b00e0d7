#include "core/ckpt/zip_archive.h"

#include "core/ckpt/bytes.h"
#include "core/ckpt/large_block.h"

#include <algorithm>
#include <libdeflate.h>
#include <numeric>

namespace lockstep {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kEntrySignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocatorSignature = 0x07064b50;
constexpr std::uint32_t kDescriptorSignature = 0x08074b50;
constexpr std::uint64_t kEndSize = 22;
constexpr std::uint64_t kLocatorSize = 20;
constexpr std::uint64_t kEntrySize = 46;
constexpr std::uint64_t kLocalSize = 30;
constexpr std::uint32_t kNo32 = 0xffffffff;
constexpr std::uint16_t kDescriptorFlag = 1u << 3;
constexpr std::uint16_t kEncryptedFlags = 1u | 1u << 6 | 1u << 13;

constexpr std::size_t kMaxProblems = 1000;
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

// Whether a name can stay inside a folder and be shown in one line of its own.
bool safeName(std::string_view name)
{
    if (name.empty() || name.front() == '/')
        return false;
    std::size_t start = 0; // of the folder or file name that is looked at
    for (std::size_t i = 0; i <= name.size(); ++i) {
        const char c = i < name.size() ? name[i] : '/';
        if (c == '\0')
            return false;
        if (c != '/' && c != '\\')
            continue;
        if (name.substr(start, i - start) == "..")
            return false;
        start = i + 1;
    }
    return true;
}

} // namespace

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
    zip->index(problems);
    return std::shared_ptr<const ZipArchive>(zip);
}

std::optional<CkptProblem> ZipArchive::readEnd(std::vector<CkptProblem>& problems)
{
    const auto data = bytes();
    if (length_ < kEndSize)
        return problem(CkptFault::ZipNoEnd, length_, "the file ends before an archive could be complete");
    // The last signature wins, as in torch's reader. A comment may follow it, so the search covers the longest one.
    const std::uint64_t lowest = length_ > kEndSize + 0xffff ? length_ - kEndSize - 0xffff : 0;
    std::uint64_t end = length_ - kEndSize;
    while (loadLe<std::uint32_t>(&data[end]) != kEndSignature) {
        if (end-- == lowest)
            return problem(CkptFault::ZipNoEnd, length_,
                           "no end-of-directory record in the last " + std::to_string(length_ - lowest) +
                               " bytes: the file is cut short or bytes were appended");
    }
    const std::byte* at = &data[end];
    entries_ = loadLe<std::uint16_t>(at + 10);
    directorySize_ = loadLe<std::uint32_t>(at + 12);
    directory_ = loadLe<std::uint32_t>(at + 16);
    const std::uint64_t comment = loadLe<std::uint16_t>(at + 20);
    if (comment > length_ - end - kEndSize)
        return problem(CkptFault::ZipEnd, end + 20, "the archive comment reaches past the end of the file");
    if (loadLe<std::uint16_t>(at + 4) != loadLe<std::uint16_t>(at + 6))
        return problem(CkptFault::ZipEnd, end + 4, "an archive in several volumes");
    std::uint64_t directoryLimit = end;
    const bool wants64 = entries_ == 0xffff || directorySize_ == kNo32 || directory_ == kNo32;
    if (end >= kLocatorSize && loadLe<std::uint32_t>(at - kLocatorSize) == kLocatorSignature) {
        const std::uint64_t end64 = loadLe<std::uint64_t>(at - kLocatorSize + 8);
        if (!inside(end64, 56, end - kLocatorSize) || loadLe<std::uint32_t>(&data[end64]) != kEnd64Signature)
            return problem(CkptFault::ZipEnd, end - kLocatorSize,
                           "the zip64 locator points to byte " + std::to_string(end64) +
                               ", where no zip64 end record lies");
        const std::byte* at64 = &data[end64];
        const std::uint64_t entries64 = loadLe<std::uint64_t>(at64 + 32);
        const std::uint64_t size64 = loadLe<std::uint64_t>(at64 + 40);
        const std::uint64_t directory64 = loadLe<std::uint64_t>(at64 + 48);
        if ((entries_ != 0xffff && entries_ != entries64) ||
            (directorySize_ != kNo32 && directorySize_ != size64) ||
            (directory_ != kNo32 && directory_ != directory64))
            return problem(CkptFault::ZipEnd, end64, "the two end records contradict each other");
        entries_ = entries64;
        directorySize_ = size64;
        directory_ = directory64;
        directoryLimit = end64;
    } else if (wants64) {
        return problem(CkptFault::ZipEnd, end, "the end record asks for a zip64 record that is not there");
    }
    if (!inside(directory_, directorySize_, directoryLimit))
        return problem(CkptFault::ZipEnd, end,
                       "the directory (" + std::to_string(directorySize_) + " bytes at " +
                           std::to_string(directory_) + ") does not lie before the end record");
    if (entries_ > directorySize_ / kEntrySize)
        return problem(CkptFault::ZipEnd, end,
                       std::to_string(entries_) + " entries cannot lie in a directory of " +
                           std::to_string(directorySize_) + " bytes");
    if (const std::uint64_t used = end + kEndSize + comment; used < length_)
        problems.push_back(problem(CkptFault::TrailingBytes, used,
                                   std::to_string(length_ - used) + " bytes follow the end of the archive"));
    return std::nullopt;
}

std::optional<CkptProblem> ZipArchive::readZip64(ZipRecord& record, std::span<const std::byte> extra,
                                                 std::uint64_t entry) const
{
    const bool wants = record.size == kNo32 || record.compressed == kNo32 || record.header == kNo32;
    std::size_t at = 0;
    while (extra.size() - at >= 4) {
        const auto id = loadLe<std::uint16_t>(&extra[at]);
        const std::size_t size = loadLe<std::uint16_t>(&extra[at + 2]);
        at += 4;
        if (size > extra.size() - at)
            break;
        if (id == 1) {
            const auto field = extra.subspan(at, size);
            std::size_t used = 0;
            for (std::uint64_t* value : {&record.size, &record.compressed, &record.header}) {
                if (*value != kNo32)
                    continue;
                if (field.size() - used < 8)
                    return problem(CkptFault::ZipDirectory, entry, "the zip64 field is too short",
                                   record.name);
                *value = loadLe<std::uint64_t>(&field[used]);
                used += 8;
            }
            return std::nullopt;
        }
        at += size;
    }
    if (wants)
        return problem(CkptFault::ZipDirectory, entry, "sizes beyond 32 bits without a zip64 field",
                       record.name);
    return std::nullopt;
}

std::optional<CkptProblem> ZipArchive::readDirectory(std::vector<CkptProblem>& problems)
{
    const auto data = bytes();
    const std::uint64_t end = directory_ + directorySize_;
    reserveMore(records_, entries_);
    std::uint64_t at = directory_;
    for (std::uint64_t i = 0; i < entries_; ++i) {
        if (end - at < kEntrySize || loadLe<std::uint32_t>(&data[at]) != kEntrySignature)
            return problem(CkptFault::ZipDirectory, at,
                           "no directory entry where entry " + std::to_string(i) + " of " +
                               std::to_string(entries_) + " should lie");
        const std::byte* e = &data[at];
        const std::uint64_t nameSize = loadLe<std::uint16_t>(e + 28);
        const std::uint64_t extraSize = loadLe<std::uint16_t>(e + 30);
        const std::uint64_t commentSize = loadLe<std::uint16_t>(e + 32);
        if (nameSize + extraSize + commentSize > end - at - kEntrySize)
            return problem(CkptFault::ZipDirectory, at, "a directory entry reaches past the directory");
        ZipRecord r;
        r.entry = at;
        r.flags = loadLe<std::uint16_t>(e + 8);
        r.method = loadLe<std::uint16_t>(e + 10);
        r.crc = loadLe<std::uint32_t>(e + 16);
        r.compressed = loadLe<std::uint32_t>(e + 20);
        r.size = loadLe<std::uint32_t>(e + 24);
        r.header = loadLe<std::uint32_t>(e + 42);
        r.name = asText(data.subspan(at + kEntrySize, nameSize));
        if (auto p = readZip64(r, data.subspan(at + kEntrySize + nameSize, extraSize), at))
            return p;
        if (!safeName(r.name) && problems.size() < kMaxProblems)
            problems.push_back(problem(CkptFault::ZipName, at + kEntrySize,
                                       "a name that is empty, absolute, holds NUL or leaves its folder"));
        if (r.method == 0 && r.size != r.compressed)
            return problem(CkptFault::ZipDirectory, at, "a stored record with two different sizes", r.name);
        std::uint64_t need = 0;
        if (!addInto(kLocalSize + nameSize, r.compressed, need) || !inside(r.header, need, directory_))
            return problem(CkptFault::ZipDirectory, at,
                           "the record (" + std::to_string(r.compressed) + " bytes at " +
                               std::to_string(r.header) + ") does not lie before the directory",
                           r.name);
        records_.push_back(r);
        at += kEntrySize + nameSize + extraSize + commentSize;
    }
    return std::nullopt;
}

void ZipArchive::index(std::vector<CkptProblem>& problems)
{
    std::size_t capacity = 16;
    while (capacity < records_.size() * 2)
        capacity *= 2;
    table_.assign(capacity, {});
    for (std::uint32_t i = 0; i < records_.size(); ++i) {
        const std::uint64_t hash = hashName(records_[i].name);
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        std::size_t slot = hash & (capacity - 1);
        int tries = 0;
        while (table_[slot].record != 0 && tries < kTries &&
               (table_[slot].tag != tag || records_[table_[slot].record - 1].name != records_[i].name)) {
            slot = (slot + 1) & (capacity - 1);
            ++tries;
        }
        if (table_[slot].record == 0)
            table_[slot] = {tag, i + 1};
        else if (problems.size() < kMaxProblems)
            problems.push_back(
                problem(CkptFault::ZipName, records_[i].entry,
                        tries < kTries ? "two records have this name; readers disagree on which one counts"
                                       : "the names are made so that looking one up takes long",
                        records_[i].name));
    }
    // Each record ends before the next one starts. The local extra field is left out here: it is checked with the header.
    std::vector<std::uint32_t> order(records_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto earlier = [this](std::uint32_t a, std::uint32_t b) {
        return records_[a].header < records_[b].header;
    };
    if (!std::is_sorted(order.begin(), order.end(), earlier))
        std::sort(order.begin(), order.end(), earlier);
    for (std::size_t i = 1; i < order.size(); ++i) {
        const ZipRecord& before = records_[order[i - 1]];
        const ZipRecord& r = records_[order[i]];
        if (r.header - before.header < kLocalSize + before.name.size() + before.compressed) {
            problems.push_back(problem(CkptFault::ZipOverlap, r.header,
                                       "shares bytes with " + std::string(before.name), r.name));
            break; // one is enough to name the kind
        }
    }
}

std::optional<std::uint32_t> ZipArchive::find(std::string_view name) const
{
    const std::uint64_t hash = hashName(name);
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t slot = hash & (table_.size() - 1);
    for (int tries = 0; table_[slot].record != 0 && tries < kTries;
         ++tries, slot = (slot + 1) & (table_.size() - 1))
        if (table_[slot].tag == tag && records_[table_[slot].record - 1].name == name)
            return table_[slot].record - 1;
    return std::nullopt;
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
    const std::byte* h =
        &data[r.header]; // 30 + name + compressed bytes lie before the directory: readDirectory()
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
