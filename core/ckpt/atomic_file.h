// A file that appears whole or not at all: written under a temporary name in the same folder, flushed to the
// disk, then renamed over the target. Until commit() returns, an older file of that name is untouched.
#pragma once

#include "core/base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

class AtomicFile
{
public:
    // Makes the temporary file. `durable` false leaves out the two fsync calls (tests, scratch results).
    static Result<AtomicFile> create(const std::string& path, bool durable = true);

    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&&) = delete;
    AtomicFile(const AtomicFile&) = delete;
    // Removes the temporary file unless it was committed.
    ~AtomicFile();

    Status write(std::span<const std::byte> bytes);
    Status write(std::string_view text);
    // Bytes written so far.
    std::uint64_t position() const { return position_; }
    // Flush, fsync, rename, fsync of the folder. The object is done afterwards, whatever the result.
    Status commit();

private:
    AtomicFile() = default;
    Status flush();
    Status writeAll(std::span<const std::byte> bytes);
    Error failure(const char* action, int code) const;

    std::string path_;      // where it will stand
    std::string temporary_; // empty once renamed or removed
    int fd_ = -1;
    bool durable_ = true;
    std::uint64_t position_ = 0;
    std::vector<std::byte> buffer_;
};

} // namespace lockstep
