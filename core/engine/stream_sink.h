// Where a rank's frames go: a TCP connection to the recording host, a file, or nowhere. Owned by the
// recorder; used by its thread only, except for open().
#pragma once

#include "core/base/status.h"

#include <string>
#include <string_view>

namespace lockstep {

class StreamSink
{
public:
    StreamSink() = default; // swallows everything
    StreamSink(StreamSink&& other) noexcept;
    StreamSink& operator=(StreamSink&& other) noexcept;
    StreamSink(const StreamSink&) = delete;
    StreamSink& operator=(const StreamSink&) = delete;
    ~StreamSink();

    // "host:port" with a numeric port. Errors: nobody listens there.
    static Result<StreamSink> connectTo(const std::string& address);
    static Result<StreamSink> openFile(const std::string& path);

    bool connected() const { return descriptor_ >= 0; }
    bool isSocket() const { return socket_; }
    // Blocks until everything is handed to the kernel. Errors: the host went away, the disk is full.
    Status write(std::string_view bytes);
    // True once the other end of a connection is gone; costs one system call.
    bool peerGone() const;

private:
    int descriptor_ = -1;
    bool socket_ = false;
};

} // namespace lockstep
