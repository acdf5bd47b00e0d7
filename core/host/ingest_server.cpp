#include "core/host/ingest_server.h"

#include <QDeadlineTimer>
#include <QRandomGenerator>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace lockstep {

namespace {

constexpr int kStrangerPatienceMs = 5000;        // for the Hello after connecting
constexpr std::size_t kStrangerBytes = 1u << 20; // a Hello carries two JSON documents and stays far below
constexpr std::size_t kReadSize = 64u << 10;

// 128 random bits as hex digits.
std::string makeToken()
{
    std::array<quint32, 4> words{};
    QRandomGenerator::system()->fillRange(words.data(), qsizetype(words.size()));
    return fmt::format("{:08x}{:08x}{:08x}{:08x}", words[0], words[1], words[2], words[3]);
}

// Takes the same time wherever the first difference is.
bool equalInConstantTime(std::string_view a, std::string_view b)
{
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size(); ++i)
        difference |= unsigned(static_cast<unsigned char>(a[i])) ^
                      static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
    return difference == 0;
}

Error foreignRecord(int rank, int claimed)
{
    return Error{ErrorKind::Corrupt, fmt::format("Rank {} sent a record of rank {}", rank, claimed),
                 "every rank may report only itself",
                 "Use lockstep-worker and lockstep-cli of the same version"};
}

} // namespace

struct IngestServer::Connection {
    std::unique_ptr<QTcpSocket> socket;
    wire::FrameReader reader;
    int rank = -1; // -1: no valid Hello yet
    std::size_t received = 0;
    bool closed = false;
};

IngestServer::IngestServer(int world, IngestSink& sink, int replayed, QObject* parent)
    : QObject(parent),
      world_(world),
      replayed_(replayed),
      sink_(sink),
      token_(makeToken()),
      server_(std::make_unique<QTcpServer>())
{
    connect(server_.get(), &QTcpServer::newConnection, this, &IngestServer::acceptAll);
}

IngestServer::~IngestServer()
{
    for (const auto& connection : connections_)
        connection->socket->disconnect(this);
}

Status IngestServer::listen(std::uint16_t port)
{
    server_->setListenBacklogSize(std::max(50, world_));
    if (server_->listen(QHostAddress::LocalHost, port))
        return {};
    const bool inUse = server_->serverError() == QAbstractSocket::AddressInUseError;
    return Error{inUse ? ErrorKind::Busy : ErrorKind::Environment,
                 fmt::format("Port {} cannot be opened for the records of the ranks", port),
                 server_->errorString().toStdString(), "Leave out the port to take a free one"};
}

std::string IngestServer::address() const
{
    return fmt::format("127.0.0.1:{}", server_->serverPort());
}

bool IngestServer::isConnected(int rank) const
{
    return std::any_of(connections_.begin(), connections_.end(),
                       [rank](const auto& c) { return c->rank == rank && !c->closed; });
}

void IngestServer::acceptAll()
{
    std::erase_if(connections_, [](const auto& c) { return c->closed; });
    while (QTcpSocket* socket = server_->nextPendingConnection()) {
        auto owned = std::make_unique<Connection>();
        Connection* connection = owned.get();
        socket->setParent(nullptr);
        connection->socket.reset(socket);
        connections_.push_back(std::move(owned));
        connect(socket, &QTcpSocket::readyRead, this, [this, connection] { read(*connection); });
        connect(socket, &QTcpSocket::disconnected, this, [this, connection] { close(*connection); });
        QTimer::singleShot(kStrangerPatienceMs, socket, [this, connection] {
            if (connection->rank < 0)
                close(*connection);
        });
        read(*connection); // what came before the signals were connected
    }
}

void IngestServer::read(Connection& connection)
{
    std::array<char, kReadSize> bytes; // NOLINT: filled by read
    while (!connection.closed) {
        const qint64 count = connection.socket->read(bytes.data(), qint64(bytes.size()));
        if (count <= 0)
            return;
        connection.received += std::size_t(count);
        connection.reader.feed(bytes.data(), std::size_t(count));
        for (wire::Frame frame; !connection.closed;) {
            const Result<bool> complete = connection.reader.next(frame);
            if (!complete) {
                reject(connection, complete.error());
            } else if (!complete.value()) {
                if (connection.rank < 0 && connection.received > kStrangerBytes)
                    close(connection);
                break;
            } else if (!deliver(connection, frame)) {
                close(connection);
            }
        }
    }
}

bool IngestServer::welcome(Connection& connection, const wire::Frame& frame)
{
    if (frame.kind != wire::FrameKind::Hello)
        return false;
    const Result<wire::Hello> hello = wire::decodeHello(frame.payload);
    if (!hello || !equalInConstantTime(token_, hello->token) || hello->rank < 0 || hello->rank >= world_ ||
        isConnected(hello->rank))
        return false;
    connection.rank = hello->rank;
    sink_.onHello(hello.value());
    return true;
}

bool IngestServer::reject(Connection& connection, const Error& error)
{
    if (connection.rank >= 0)
        sink_.onBroken(connection.rank, error);
    close(connection);
    return false;
}

bool IngestServer::mayReport(int process, int rank) const
{
    return replayed_ > 0 ? rank >= 0 && rank < replayed_ : rank == process;
}

bool IngestServer::deliver(Connection& connection, const wire::Frame& frame)
{
    if (connection.rank < 0)
        return welcome(connection, frame);

    const auto pass = [&](const auto& decoded,
                          void (IngestSink::*receive)(const std::decay_t<decltype(*decoded)>&)) {
        if (!decoded)
            return reject(connection, decoded.error());
        // How a process lives and ends it says of itself alone, a twin too.
        using Record = std::decay_t<decltype(*decoded)>;
        constexpr bool ofProcess =
            std::is_same_v<Record, wire::Heartbeat> || std::is_same_v<Record, wire::Goodbye>;
        if (ofProcess ? decoded->rank != connection.rank : !mayReport(connection.rank, decoded->rank))
            return reject(connection, foreignRecord(connection.rank, decoded->rank));
        (sink_.*receive)(decoded.value());
        return true;
    };
    switch (frame.kind) {
    case wire::FrameKind::Step:
        return pass(wire::decodeStep(frame.payload), &IngestSink::onStep);
    case wire::FrameKind::Samples:
        return pass(wire::decodeSamples(frame.payload), &IngestSink::onSamples);
    case wire::FrameKind::Tensor:
        return pass(wire::decodeTensor(frame.payload), &IngestSink::onTensor);
    case wire::FrameKind::Event:
        return pass(wire::decodeEvent(frame.payload), &IngestSink::onEvent);
    case wire::FrameKind::Heartbeat:
        return pass(wire::decodeHeartbeat(frame.payload), &IngestSink::onHeartbeat);
    case wire::FrameKind::Goodbye:
        return pass(wire::decodeGoodbye(frame.payload), &IngestSink::onGoodbye);
    case wire::FrameKind::Hello:
        return true; // a second one adds nothing
    }
    return true; // a kind of a newer worker
}

void IngestServer::close(Connection& connection)
{
    if (connection.closed)
        return;
    const bool endedByPeer = connection.socket->state() != QAbstractSocket::ConnectedState;
    if (endedByPeer && connection.rank >= 0)
        read(connection); // the tail of the stream
    if (connection.closed)
        return;
    connection.closed = true;
    connection.socket->disconnect(this);
    connection.socket->abort();
    if (connection.rank >= 0)
        sink_.onClosed(connection.rank);
    // The object goes with the next accept: a caller up the stack may still look at it.
}

void IngestServer::drain(int rank, int patienceMs)
{
    const QDeadlineTimer deadline(patienceMs);
    while (server_->waitForNewConnection(0))
        acceptAll();
    acceptAll();
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        Connection& connection = *connections_[i];
        if (connection.rank < 0 && !connection.closed) {
            connection.socket->waitForReadyRead(0); // its Hello may say that it is the one
            read(connection);
        }
        if (connection.rank != rank)
            continue;
        read(connection);
        while (!connection.closed && connection.socket->waitForReadyRead(int(deadline.remainingTime())))
            read(connection);
        close(connection);
    }
}

void IngestServer::dropAll()
{
    for (std::size_t i = 0; i < connections_.size(); ++i)
        close(*connections_[i]);
}

} // namespace lockstep
