#include "core/engine/stream_sink.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace lockstep {

namespace {

Error noHost(const std::string& address, const std::string& why)
{
    return {ErrorKind::Environment, "The recording host at " + address + " cannot be reached", why,
            "Start the run with lockstep-cli, or unset LOCKSTEP_CONNECT to train without recording"};
}

} // namespace

StreamSink::StreamSink(StreamSink&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), socket_(other.socket_)
{
}

StreamSink& StreamSink::operator=(StreamSink&& other) noexcept
{
    std::swap(descriptor_, other.descriptor_);
    std::swap(socket_, other.socket_);
    return *this;
}

StreamSink::~StreamSink()
{
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

Result<StreamSink> StreamSink::connectTo(const std::string& address)
{
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos)
        return noHost(address, "the form is host:port");
    addrinfo hints = {};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(),
                                       &hints, &found);
        code != 0)
        return noHost(address, ::gai_strerror(code));
    StreamSink sink;
    int lastError = 0;
    for (const addrinfo* a = found; a && sink.descriptor_ < 0; a = a->ai_next) {
        const int s = ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (s >= 0 && ::connect(s, a->ai_addr, a->ai_addrlen) == 0) {
            sink.descriptor_ = s;
        } else {
            lastError = errno;
            if (s >= 0)
                ::close(s);
        }
    }
    ::freeaddrinfo(found);
    if (sink.descriptor_ < 0)
        return noHost(address, std::strerror(lastError));
    sink.socket_ = true;
    const int on = 1; // frames are gathered by the recorder, so small writes are final ones
    ::setsockopt(sink.descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return sink;
}

Result<StreamSink> StreamSink::openFile(const std::string& path)
{
    StreamSink sink;
    sink.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (sink.descriptor_ < 0)
        return Error{ErrorKind::Io, "The stream file " + path + " cannot be written", std::strerror(errno),
                     "Choose another file for --stream"};
    return sink;
}

Status StreamSink::write(std::string_view bytes)
{
    while (descriptor_ >= 0 && !bytes.empty()) {
        const ssize_t n = socket_ ? ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                  : ::write(descriptor_, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return Error{ErrorKind::Io, "The records of this rank could not be handed on",
                         std::strerror(errno),
                         socket_ ? "See whether lockstep-cli is still running" : "Free some disk space"};
        bytes.remove_prefix(std::size_t(n));
    }
    return {};
}

bool StreamSink::peerGone() const
{
    if (!socket_ || descriptor_ < 0)
        return false;
    pollfd p = {descriptor_, POLLRDHUP, 0};
    return ::poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

} // namespace lockstep
