// A zip archive that lies in a file or in a part of one (an item of a .distcp file). Reads the end record and the central
// directory only; local headers are looked at when a record's bytes are wanted, so opening costs the size of the directory.
// Format: PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5. Stored and deflated entries, zip64, data descriptors.
#pragma once

#include "core/ckpt/fault.h"
#include "core/ckpt/mapped_file.h"
#include "core/ckpt/zip_names.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct ZipRecord {
    std::string_view name;    // as in the directory, with the top folder
    std::uint64_t header = 0; // first byte of the local header, from the start of the archive
    std::uint64_t compressed = 0;
    std::uint64_t size = 0;  // uncompressed
    std::uint64_t entry = 0; // byte of the directory entry
    std::uint32_t crc = 0;
    std::uint16_t method = 0; // 0 stored, 8 deflated
    std::uint16_t flags = 0;

    bool stored() const { return method == 0; }
    bool folder() const { return !name.empty() && name.back() == '/'; }
};

class ZipArchive
{
public:
    // Reads the archive in [base, base + length) of `file`. Problems that leave the directory usable go to `problems`
    // (trailing bytes, overlap, duplicate names); others are the result.
    static CkptResult<std::shared_ptr<const ZipArchive>> open(std::shared_ptr<const MappedFile> file,
                                                              std::uint64_t base, std::uint64_t length,
                                                              std::vector<CkptProblem>& problems);

    const std::vector<ZipRecord>& records() const { return records_; }
    // Index of the record with this full name.
    std::optional<std::uint32_t> find(std::string_view name) const { return names_.find(records_, name); }
    // The same with the top folder put in front; the folder ends with "/" or is empty.
    std::optional<std::uint32_t> findUnder(std::string_view folder, std::string_view name) const;

    // The record's bytes as they lie in the file, after its local header has been compared with the directory.
    CkptResult<std::span<const std::byte>> payload(std::uint32_t record) const;
    // Inflated contents, or nothing for stored records (use payload()). The size announced is never trusted beyond what a deflate
    // stream of that length can hold, nor beyond `limit`.
    CkptResult<std::unique_ptr<std::byte[]>> inflate(std::uint32_t record, std::uint64_t limit) const;
    // Compares the data descriptor behind a record with the directory, if the record has one.
    std::optional<CkptProblem> checkDescriptor(std::uint32_t record) const;

    const std::shared_ptr<const MappedFile>& file() const { return file_; }
    std::uint64_t base() const { return base_; }
    std::uint64_t length() const { return length_; }
    // Start of the central directory, from the start of the archive.
    std::uint64_t directory() const { return directory_; }

    CkptProblem problem(CkptFault fault, std::uint64_t offset, std::string why,
                        std::string_view record = {}) const;

private:
    ZipArchive() = default;
    // zip_directory.cpp
    std::optional<CkptProblem> readEnd(std::vector<CkptProblem>& problems);
    std::optional<CkptProblem> readDirectory(std::vector<CkptProblem>& problems);
    std::optional<CkptProblem> readZip64(ZipRecord& record, std::span<const std::byte> extra,
                                         std::uint64_t entry) const;
    void nameRecords(std::vector<CkptProblem>& problems);
    void checkOverlap(std::vector<CkptProblem>& problems) const;
    std::span<const std::byte> bytes() const { return file_->bytes().subspan(base_, length_); }

    std::shared_ptr<const MappedFile> file_;
    std::uint64_t base_ = 0;
    std::uint64_t length_ = 0;
    std::uint64_t directory_ = 0;
    std::uint64_t directorySize_ = 0;
    std::uint64_t entries_ = 0;
    std::vector<ZipRecord> records_;
    ZipNames names_;
};

// Largest size that is sane for a deflated record to inflate to, when all of them together come from a file of `fileSize`
// bytes: ordinary re-zipped checkpoints pass, bombs do not.
std::uint64_t inflateLimit(std::uint64_t compressed, std::uint64_t fileSize);

} // namespace lockstep
