// A file mapped for reading. Pages are read when touched, so a 10 GB checkpoint costs what is looked at.
#pragma once

#include "core/ckpt/mapped_range.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace lockstep {

class MappedFile
{
public:
    // nullptr and `error` on failure. Only regular files; an empty file gives an empty span. `name` is what
    // messages call it.
    static std::shared_ptr<const MappedFile> open(const std::string& path, std::string name,
                                                  std::string* error);
    // Bytes in memory, for tests and nested files. `bytes` must outlive the object.
    static std::shared_ptr<const MappedFile> view(std::span<const std::byte> bytes, std::string name);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return bytes_; }
    std::uint64_t size() const { return bytes_.size(); }
    const std::string& name() const { return name_; }
    const std::string& path() const { return path_; }
    // Whether the file became shorter while it was read: the bytes behind its new end read as zeros.
    bool cutShort() const { return range_ && range_->cut(); }
    // The range [offset, offset + length) if it lies inside the file, checked without wrapping.
    bool contains(std::uint64_t offset, std::uint64_t length) const
    {
        return offset <= bytes_.size() && length <= bytes_.size() - offset;
    }

private:
    MappedFile() = default;
    std::span<const std::byte> bytes_;
    std::string name_;
    std::string path_;
    std::optional<MappedRange> range_; // if mapped
};

} // namespace lockstep
