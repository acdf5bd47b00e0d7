// Writes a zip of stored entries the way torch does: payloads at multiples of 64 reached by an "FB" extra
// field of Z's in the local header, sizes and CRC in a data descriptor and in the central directory, zip64
// where 32 bits do not do. Format: APPNOTE.TXT 6.3 sections 4.3 to 4.5; caffe2/serialize/inline_container.cc
// for torch's habits.
#pragma once

#include "core/ckpt/atomic_file.h"
#include "core/ckpt/save_value.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

inline constexpr std::uint64_t kPayloadAlignment = 64;

class ZipWriter
{
public:
    explicit ZipWriter(AtomicFile& file) : file_(file) {}

    // The size has to be known in advance: it decides between the two forms of the descriptor.
    Status add(const std::string& name, std::string_view payload);
    // `produce` must send exactly `size` bytes, else the whole write fails.
    Status add(const std::string& name, std::uint64_t size,
               const std::function<Status(const ByteSink&)>& produce);
    // Central directory, zip64 end record with its locator (torch always writes both) and end record.
    Status finish();

    // CRC-32 of the entries' CRCs so far, the second half of torch's serialization_id.
    std::uint32_t combinedCrc() const { return combinedCrc_; }

private:
    struct Entry {
        std::string name;
        std::uint64_t offset;
        std::uint64_t size;
        std::uint32_t crc;
    };

    AtomicFile& file_;
    std::vector<Entry> entries_;
    std::uint32_t combinedCrc_ = 0;
};

} // namespace lockstep
