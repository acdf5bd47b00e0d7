// The frame stream between a rank (worker or probe) and the host.
//
// Stream = 8 bytes magic "LOCKSTP\n", u32 protocol version, then frames. Frame = u32 payload length, u16
// kind, u16 flags (0), payload. All integers little-endian. The length is capped before anything is
// allocated. A reader skips frames of a kind or with flags it does not know and ignores bytes after the
// fields it knows, so a newer worker can talk to an older host. The version grows only when that is not
// enough; a reader refuses every version but its own.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::wire {

inline constexpr std::string_view kMagic = "LOCKSTP\n";
inline constexpr std::uint32_t kProtocolVersion = 1;
inline constexpr std::uint32_t kMaxPayload = 64u << 20;

enum class FrameKind : std::uint16_t {
    Hello = 1,     // first frame of a rank: who it is, its token, its environment
    Step = 2,      // StepRecord
    Samples = 3,   // SamplesRecord
    Tensor = 4,    // TensorRecord
    Event = 5,     // EventRecord
    Heartbeat = 6, // alive, at which step, in which stage
    Goodbye = 7,   // last frame: planned exit code and, for errors, the cause
};

struct Frame {
    FrameKind kind;
    std::string_view payload; // valid until the next call of FrameReader::next or feed
};

// Bytes in, frames out; an explicit state machine without I/O, so both ends can be tested through a buffer.
class FrameReader
{
public:
    void feed(const char* data, std::size_t size);
    // True: `frame` is filled. False: more bytes are needed. Errors (wrong magic, other version, length above
    // the cap) name the byte offset in the stream and are final.
    Result<bool> next(Frame& frame);
    // Bytes fed but not handed out: more than 0 at the end of a stream means that it was cut inside a frame.
    std::size_t pending() const { return buffer_.size() - consumed_; }

private:
    std::vector<char> buffer_;
    std::size_t consumed_ = 0;   // bytes of buffer_ already handed out
    std::uint64_t position_ = 0; // stream offset of buffer_[consumed_]
    bool headerSeen_ = false;
};

// The stream header, to be sent once.
std::string streamHeader();
// Appends one frame to `out`.
void appendFrame(std::string& out, FrameKind kind, std::string_view payload);

} // namespace lockstep::wire
