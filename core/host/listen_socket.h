// A bound, listening TCP socket on the loopback interface, to be handed to rank 0 for the rendezvous store:
// the port is taken from now on, so no other program can grab it between choosing and using it.
#pragma once

#include "core/base/status.h"

#include <cstdint>

namespace lockstep {

class ListenSocket
{
public:
    // `port` 0 takes a free one. Errors: Busy if the port is in use, Environment otherwise.
    static Result<ListenSocket> open(std::uint16_t port = 0);
    ListenSocket(ListenSocket&& other) noexcept;
    ListenSocket& operator=(ListenSocket&& other) noexcept;
    ~ListenSocket();

    int fd() const { return fd_; } // closed on exec unless a child clears the flag
    std::uint16_t port() const { return port_; }

private:
    ListenSocket(int fd, std::uint16_t port) : fd_(fd), port_(port) {}
    int fd_ = -1;
    std::uint16_t port_ = 0;
};

} // namespace lockstep
