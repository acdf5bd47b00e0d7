#include "core/host/listen_socket.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace lockstep {

Result<ListenSocket> ListenSocket::open(std::uint16_t port)
{
    ListenSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const int on = 1; // a port in TIME_WAIT is free to take
    if (socket.fd_ < 0 || setsockopt(socket.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(socket.fd_, generic, length) != 0 || listen(socket.fd_, SOMAXCONN) != 0 ||
        getsockname(socket.fd_, generic, &length) != 0) {
        const int error = errno;
        if (error == EADDRINUSE)
            return Error{ErrorKind::Busy, fmt::format("Port {} cannot be used for the run", port),
                         "another program is listening on it",
                         "End that program, or leave out --master-port to take a free port"};
        return Error{ErrorKind::Environment, fmt::format("Port {} of 127.0.0.1 cannot be opened", port),
                     std::strerror(error), "Choose a port above 1023, or leave out --master-port"};
    }
    socket.port_ = ntohs(address.sin_port);
    return socket;
}

ListenSocket::ListenSocket(ListenSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), port_(std::exchange(other.port_, std::uint16_t(0)))
{
}

ListenSocket& ListenSocket::operator=(ListenSocket&& other) noexcept
{
    std::swap(fd_, other.fd_);
    std::swap(port_, other.port_);
    return *this;
}

ListenSocket::~ListenSocket()
{
    if (fd_ >= 0)
        close(fd_);
}

} // namespace lockstep
