// Receives the streams of the ranks: TCP on the loopback interface, one connection per rank, frames of
// core/wire. A connection counts only after a Hello with this run's token; until then it may send little and
// not for long. All calls and callbacks happen in the thread the server lives in.
#pragma once

#include "core/base/status.h"
#include "core/wire/codec.h"

#include <QObject>

#include <map>
#include <memory>
#include <string>
#include <vector>

QT_BEGIN_NAMESPACE
class QTcpServer;
class QTcpSocket;
QT_END_NAMESPACE

namespace lockstep {

// Who gets what the ranks send. Ranks are authenticated; records carry the rank of their connection.
class IngestSink
{
public:
    virtual ~IngestSink() = default;
    virtual void onHello(const wire::Hello& hello) = 0;
    virtual void onStep(const StepRecord& record) = 0;
    virtual void onSamples(const SamplesRecord& record) = 0;
    virtual void onTensor(const TensorRecord& record) = 0;
    virtual void onEvent(const EventRecord& record) = 0;
    virtual void onHeartbeat(const wire::Heartbeat& heartbeat) = 0;
    virtual void onGoodbye(const wire::Goodbye& goodbye) = 0;
    // The rank's connection is gone and everything it had sent has been delivered.
    virtual void onClosed(int rank) = 0;
    // The rank sent something that is not our protocol; its connection is closed, onClosed follows.
    virtual void onBroken(int rank, const Error& error) = 0;
};

class IngestServer : public QObject
{
    Q_OBJECT
public:
    // `world`: ranks 0 ... world-1 may connect. `replayed`: a twin's one process reports the steps of this many ranks;
    // 0: every process reports only itself. `sink` must outlive the server.
    explicit IngestServer(int world, IngestSink& sink, int replayed = 0, QObject* parent = nullptr);
    ~IngestServer() override;

    // `port` 0 takes a free one. Errors: Busy, Environment.
    Status listen(std::uint16_t port = 0);
    std::string address() const; // "127.0.0.1:PORT", for LOCKSTEP_CONNECT
    const std::string& token() const { return token_; }

    bool isConnected(int rank) const;
    // Reads what a rank whose process has ended left in its connection, even if that was not accepted yet,
    // and closes it. `patienceMs` bounds the wait for the end of the stream, in case another process still
    // holds it open.
    void drain(int rank, int patienceMs);
    // Cuts the connections of all ranks, as a network that fails would; onClosed follows for each.
    void dropAll();

private:
    struct Connection;
    void acceptAll();
    void read(Connection& connection);
    // False: the connection must be closed.
    bool deliver(Connection& connection, const wire::Frame& frame);
    bool welcome(Connection& connection, const wire::Frame& frame);
    bool reject(Connection& connection, const Error& error);
    void close(Connection& connection);

    bool mayReport(int process, int rank) const;

    const int world_;
    const int replayed_;
    IngestSink& sink_;
    std::string token_;
    std::unique_ptr<QTcpServer> server_;
    std::vector<std::unique_ptr<Connection>> connections_;
};

} // namespace lockstep
