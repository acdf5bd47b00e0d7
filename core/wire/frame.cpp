#include "core/wire/frame.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace lockstep::wire {

namespace {

constexpr std::size_t kStreamHeaderSize = kMagic.size() + sizeof(std::uint32_t);
constexpr std::size_t kFrameHeaderSize = 8;

template<typename T>
T readAt(const char* bytes)
{
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

template<typename T>
void appendRaw(std::string& out, T value)
{
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool known(std::uint16_t kind)
{
    return kind >= std::uint16_t(FrameKind::Hello) && kind <= std::uint16_t(FrameKind::Goodbye);
}

Error wrongMagic()
{
    return {ErrorKind::Corrupt, "This is not a Lockstep stream",
            "it does not begin with the Lockstep magic at byte 0",
            "Check that the other end is lockstep-worker or lockstep_probe"};
}

Error otherVersion(std::uint32_t version)
{
    return {version > kProtocolVersion ? ErrorKind::NewerSchema : ErrorKind::Input,
            "The stream speaks protocol version " + std::to_string(version),
            "this program speaks version " + std::to_string(kProtocolVersion) + " (byte 8 of the stream)",
            "Use lockstep-cli and lockstep-worker of the same release"};
}

Error tooLong(std::uint32_t length, std::uint64_t position)
{
    return {ErrorKind::Corrupt, "The stream is damaged",
            "the frame at byte " + std::to_string(position) + " claims " + std::to_string(length) +
                " bytes, more than the limit of " + std::to_string(kMaxPayload),
            "Run again; if it returns, the sender and this program are of different releases"};
}

} // namespace

void FrameReader::feed(const char* data, std::size_t size)
{
    if (consumed_ > 0) {
        buffer_.erase(buffer_.begin(), buffer_.begin() + std::ptrdiff_t(consumed_));
        consumed_ = 0;
    }
    buffer_.insert(buffer_.end(), data, data + size);
}

Result<bool> FrameReader::next(Frame& frame)
{
    if (!headerSeen_) {
        // Strangers are turned away at the first byte that differs, not only after twelve.
        const std::size_t seen = std::min(pending(), kMagic.size());
        if (std::string_view(buffer_.data(), seen) != kMagic.substr(0, seen))
            return wrongMagic();
        if (pending() < kStreamHeaderSize)
            return false;
        const auto version = readAt<std::uint32_t>(buffer_.data() + kMagic.size());
        if (version != kProtocolVersion)
            return otherVersion(version);
        headerSeen_ = true;
        consumed_ = position_ = kStreamHeaderSize;
    }
    while (pending() >= kFrameHeaderSize) {
        const char* header = buffer_.data() + consumed_;
        const auto length = readAt<std::uint32_t>(header);
        const auto kind = readAt<std::uint16_t>(header + 4);
        const auto flags = readAt<std::uint16_t>(header + 6);
        if (length > kMaxPayload)
            return tooLong(length, position_);
        if (pending() < kFrameHeaderSize + length)
            return false;
        consumed_ += kFrameHeaderSize + length;
        position_ += kFrameHeaderSize + length;
        if (known(kind) && flags == 0) {
            frame.kind = FrameKind(kind);
            frame.payload = {header + kFrameHeaderSize, length};
            return true;
        }
    }
    return false;
}

std::string streamHeader()
{
    std::string header(kMagic);
    appendRaw(header, kProtocolVersion);
    return header;
}

void appendFrame(std::string& out, FrameKind kind, std::string_view payload)
{
    assert(payload.size() <= kMaxPayload);
    appendRaw(out, std::uint32_t(payload.size()));
    appendRaw(out, std::uint16_t(kind));
    appendRaw(out, std::uint16_t(0));
    out += payload;
}

} // namespace lockstep::wire
