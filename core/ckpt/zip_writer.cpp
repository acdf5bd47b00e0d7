#include "core/ckpt/zip_writer.h"

#include "core/ckpt/zip_format.h"

#include <algorithm>
#include <libdeflate.h>

namespace lockstep {
namespace {

constexpr int kFlags = 0x0808;                              // descriptor follows; names are UTF-8
constexpr std::uint16_t kDosDate = (0 << 9) | (1 << 5) | 1; // 1980-01-01: the same tree gives the same bytes
constexpr std::size_t kCrcBlock = 1 << 20;                  // stays in the cache between CRC and write

class Bytes
{
public:
    Bytes& le(std::uint64_t value, int bytes)
    {
        for (int i = 0; i < bytes; ++i)
            text_ += static_cast<char>(value >> (8 * i));
        return *this;
    }
    Bytes& append(std::string_view text)
    {
        text_ += text;
        return *this;
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

} // namespace

Status ZipWriter::add(const std::string& name, std::string_view payload)
{
    return add(name, payload.size(), [&](const ByteSink& sink) {
        return sink(std::as_bytes(std::span(payload.data(), payload.size())));
    });
}

Status ZipWriter::add(const std::string& name, std::uint64_t size,
                      const std::function<Status(const ByteSink&)>& produce)
{
    const std::uint64_t offset = file_.position();
    const bool large = size >= zip::kNo32 || offset >= zip::kNo32;
    Bytes extra;
    if (size >= zip::kNo32)
        extra.le(1, 2).le(16, 2).le(size, 8).le(size, 8);
    // The padding field itself has a head of 4 bytes and may be empty.
    const std::uint64_t start = offset + zip::kLocalSize + name.size() + extra.text().size() + 4;
    const std::uint64_t padding = (kPayloadAlignment - start % kPayloadAlignment) % kPayloadAlignment;
    extra.append("FB").le(padding, 2).append(std::string(padding, 'Z'));

    const std::uint64_t shown = size >= zip::kNo32 ? zip::kNo32 : 0;
    Bytes header;
    header.append("PK\x03\x04").le(large ? 45 : 20, 2).le(kFlags, 2).le(0, 2).le(0, 2).le(kDosDate, 2);
    header.le(0, 4).le(shown, 4).le(shown, 4).le(name.size(), 2).le(extra.text().size(), 2);
    header.append(name).append(extra.text());
    if (Status status = file_.write(header.text()); !status.ok())
        return status;

    std::uint32_t crc = 0;
    std::uint64_t sent = 0;
    const ByteSink sink = [&](std::span<const std::byte> bytes) -> Status {
        sent += bytes.size();
        while (!bytes.empty()) {
            const auto block = bytes.first(std::min(bytes.size(), kCrcBlock));
            crc = libdeflate_crc32(crc, block.data(), block.size());
            if (Status status = file_.write(block); !status.ok())
                return status;
            bytes = bytes.subspan(block.size());
        }
        return {};
    };
    if (Status status = produce(sink); !status.ok())
        return status;
    if (sent != size)
        return Error{ErrorKind::Input, "Entry " + name + " could not be written",
                     "its source gave " + std::to_string(sent) + " bytes instead of " + std::to_string(size),
                     ""};

    Bytes descriptor;
    const int width = large ? 8 : 4;
    descriptor.append("PK\x07\x08").le(crc, 4).le(size, width).le(size, width);
    if (Status status = file_.write(descriptor.text()); !status.ok())
        return status;
    combinedCrc_ = libdeflate_crc32(combinedCrc_, &crc, sizeof crc);
    entries_.push_back({name, offset, size, crc});
    return {};
}

Status ZipWriter::finish()
{
    const std::uint64_t start = file_.position();
    for (const Entry& entry : entries_) {
        Bytes extra;
        if (entry.size >= zip::kNo32)
            extra.le(entry.size, 8).le(entry.size, 8);
        if (entry.offset >= zip::kNo32)
            extra.le(entry.offset, 8);
        const std::size_t extraSize = extra.text().empty() ? 0 : extra.text().size() + 4;
        const std::uint64_t size = std::min(entry.size, zip::kNo32);
        Bytes record;
        record.append(std::string_view("PK\x01\x02", 4))
            .le(extraSize ? 45 : 20, 2)
            .le(extraSize ? 45 : 20, 2);
        record.le(kFlags, 2).le(0, 2).le(0, 2).le(kDosDate, 2).le(entry.crc, 4).le(size, 4).le(size, 4);
        record.le(entry.name.size(), 2).le(extraSize, 2).le(0, 2).le(0, 2).le(0, 2).le(0, 4);
        record.le(std::min(entry.offset, zip::kNo32), 4).append(entry.name);
        if (extraSize)
            record.le(1, 2).le(extra.text().size(), 2).append(extra.text());
        if (Status status = file_.write(record.text()); !status.ok())
            return status;
    }
    const std::uint64_t end = file_.position();
    const std::uint64_t count = entries_.size();
    Bytes tail;
    tail.append(std::string_view("PK\x06\x06", 4)).le(44, 8).le(45, 2).le(45, 2).le(0, 4).le(0, 4);
    tail.le(count, 8).le(count, 8).le(end - start, 8).le(start, 8);
    tail.append(std::string_view("PK\x06\x07", 4)).le(0, 4).le(end, 8).le(1, 4);
    tail.append(std::string_view("PK\x05\x06", 4)).le(0, 2).le(0, 2);
    tail.le(std::min<std::uint64_t>(count, 0xffff), 2).le(std::min<std::uint64_t>(count, 0xffff), 2);
    tail.le(std::min(end - start, zip::kNo32), 4).le(std::min(start, zip::kNo32), 4).le(0, 2);
    return file_.write(tail.text());
}

} // namespace lockstep
