// The end record and the central directory of a ZipArchive: where they lie, what they say, and whether that can be.
#include "core/ckpt/bytes.h"
#include "core/ckpt/large_block.h"
#include "core/ckpt/zip_archive.h"
#include "core/ckpt/zip_format.h"

#include <algorithm>
#include <numeric>

namespace lockstep {

using namespace zip;

namespace {

constexpr std::size_t kMaxProblems = 1000;

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

void ZipArchive::nameRecords(std::vector<CkptProblem>& problems)
{
    names_.expect(records_.size());
    for (std::uint32_t i = 0; i < records_.size(); ++i) {
        const ZipNames::Added added = names_.add(records_, i);
        if (added != ZipNames::Added::New && problems.size() < kMaxProblems)
            problems.push_back(
                problem(CkptFault::ZipName, records_[i].entry,
                        added == ZipNames::Added::Twice
                            ? "two records have this name; readers disagree on which one counts"
                            : "the names are made so that looking one up takes long",
                        records_[i].name));
    }
}

// Each record ends before the next one starts. The local extra field is left out here: it is checked with the header.
void ZipArchive::checkOverlap(std::vector<CkptProblem>& problems) const
{
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
            return; // one is enough to name the kind
        }
    }
}

} // namespace lockstep
