// The receiving end of the ranks' streams, over real loopback connections.
#include "core/host/ingest_server.h"

#include <QSignalSpy>
#include <QTcpSocket>
#include <QTest>

#include <fmt/format.h>

using namespace lockstep;

namespace {

// Writes down what arrives, one line each.
class Log : public IngestSink
{
public:
    QStringList lines;
    void onHello(const wire::Hello& h) override { add("hello {}", h.rank); }
    void onStep(const StepRecord& r) override
    {
        add("step {} {} ({} values)", r.rank, r.step, r.values.size());
    }
    void onSamples(const SamplesRecord& r) override { add("samples {} {}", r.rank, r.step); }
    void onTensor(const TensorRecord& r) override { add("tensor {} {}", r.rank, r.name); }
    void onEvent(const EventRecord& r) override { add("event {} {}", r.rank, r.kind); }
    void onHeartbeat(const wire::Heartbeat& h) override { add("heartbeat {} {}", h.rank, h.step); }
    void onGoodbye(const wire::Goodbye& g) override { add("goodbye {} {}", g.rank, g.kind); }
    void onClosed(int rank) override { add("closed {}", rank); }
    void onBroken(int rank, const Error&) override { add("broken {}", rank); }

private:
    template<typename... Args>
    void add(fmt::format_string<Args...> format, Args&&... args)
    {
        lines << QString::fromStdString(fmt::format(format, std::forward<Args>(args)...));
    }
};

template<typename Record>
QByteArray frame(wire::FrameKind kind, const Record& record)
{
    std::string out;
    wire::appendFrame(out, kind, wire::encode(record));
    return QByteArray::fromStdString(out);
}

QByteArray hello(int rank, const std::string& token)
{
    wire::Hello hello;
    hello.rank = rank;
    hello.world = 2;
    hello.token = token;
    return QByteArray::fromStdString(wire::streamHeader()) + frame(wire::FrameKind::Hello, hello);
}

QByteArray step(int rank, std::int64_t number)
{
    StepRecord record;
    record.rank = rank;
    record.step = number;
    record.values = {{Quantity::Loss, 0, bitsOf(1.5)}};
    return frame(wire::FrameKind::Step, record);
}

QByteArray goodbye(int rank)
{
    wire::Goodbye goodbye;
    goodbye.rank = rank;
    goodbye.kind = "finished";
    return frame(wire::FrameKind::Goodbye, goodbye);
}

void send(QTcpSocket& socket, const IngestServer& server, const QByteArray& bytes)
{
    if (socket.state() == QAbstractSocket::UnconnectedState) {
        const QString address = QString::fromStdString(server.address());
        socket.connectToHost(QStringLiteral("127.0.0.1"), address.section(QLatin1Char(':'), 1).toUShort());
        QVERIFY(socket.waitForConnected());
    }
    socket.write(bytes);
    QVERIFY(socket.waitForBytesWritten());
}

} // namespace

class TestIngestServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void recordsOfTwoRanksArriveInOrder()
    {
        Log log;
        IngestServer server(2, log);
        QVERIFY(server.listen());
        QTcpSocket a, b;
        send(a, server, hello(0, server.token()) + step(0, 1) + step(0, 2));
        QTRY_COMPARE(log.lines.size(), 3);
        send(b, server, hello(1, server.token()) + step(1, 1));
        QTRY_COMPARE(log.lines.size(), 5);
        QCOMPARE(log.lines, (QStringList{"hello 0", "step 0 1 (1 values)", "step 0 2 (1 values)", "hello 1",
                                         "step 1 1 (1 values)"}));
        QVERIFY(server.isConnected(0) && server.isConnected(1));
    }

    void aStreamInSingleBytesIsTheSame()
    {
        Log log;
        IngestServer server(2, log);
        QVERIFY(server.listen());
        QTcpSocket a;
        for (const char byte : hello(0, server.token()) + step(0, 1) + goodbye(0))
            send(a, server, QByteArray(1, byte));
        QTRY_COMPARE(log.lines, (QStringList{"hello 0", "step 0 1 (1 values)", "goodbye 0 finished"}));
    }

    void aTwinReportsTheStepsOfTheRanksItReplays()
    {
        Log log;
        IngestServer server(1, log, 2);
        QVERIFY(server.listen());
        QTcpSocket twin;
        send(twin, server, hello(0, server.token()) + step(0, 1) + step(1, 1));
        QTRY_COMPARE(log.lines, (QStringList{"hello 0", "step 0 1 (1 values)", "step 1 1 (1 values)"}));
        send(twin, server, step(2, 1)); // beyond the ranks it replays
        QTRY_COMPARE(log.lines.last(), QStringLiteral("closed 0"));
    }

    void closingDeliversEverythingFirst()
    {
        Log log;
        IngestServer server(1, log);
        QVERIFY(server.listen());
        {
            QTcpSocket a;
            send(a, server, hello(0, server.token()) + step(0, 1) + goodbye(0));
            a.disconnectFromHost();
        }
        QTRY_COMPARE(log.lines,
                     (QStringList{"hello 0", "step 0 1 (1 values)", "goodbye 0 finished", "closed 0"}));
    }

    void drainReadsAConnectionNobodyAccepted()
    {
        Log log;
        IngestServer server(1, log);
        QVERIFY(server.listen());
        {
            QTcpSocket a; // its own blocking calls do not run the server's event loop
            send(a, server, hello(0, server.token()) + step(0, 1) + goodbye(0));
            a.disconnectFromHost();
        }
        QVERIFY(log.lines.isEmpty());
        server.drain(0, 1000);
        QCOMPARE(log.lines,
                 (QStringList{"hello 0", "step 0 1 (1 values)", "goodbye 0 finished", "closed 0"}));
    }

    void drainOfOneRankLeavesTheOthers()
    {
        Log log;
        IngestServer server(2, log);
        QVERIFY(server.listen());
        QTcpSocket a, b;
        send(a, server, hello(0, server.token()));
        send(b, server, hello(1, server.token()));
        b.disconnectFromHost();
        server.drain(1, 1000);
        QVERIFY(server.isConnected(0));
        QVERIFY(!server.isConnected(1));
        QCOMPARE(log.lines.last(), QStringLiteral("closed 1"));
    }

    void strangersAreClosedWithoutAWord_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("wrong token") << hello(0, "0123");
        QTest::newRow("empty token") << hello(0, "");
        QTest::newRow("no magic") << QByteArray("GET / HTTP/1.1\r\n\r\n");
        QTest::newRow("record before hello") << QByteArray::fromStdString(wire::streamHeader()) + step(0, 1);
        QTest::newRow("endless hello") << QByteArray::fromStdString(wire::streamHeader()) +
                                              QByteArray("\x00\x00\x00\x03\x01\x00\x00\x00", 8) +
                                              QByteArray(2 << 20, 'x');
    }
    void strangersAreClosedWithoutAWord()
    {
        QFETCH(QByteArray, bytes);
        Log log;
        IngestServer server(2, log);
        QVERIFY(server.listen());
        QTcpSocket a;
        send(a, server, QByteArray(bytes.constData(), std::min<qsizetype>(bytes.size(), 8)));
        a.write(bytes.mid(8));
        QTRY_COMPARE(a.state(), QAbstractSocket::UnconnectedState);
        QVERIFY(log.lines.isEmpty());
    }

    void aRankOutsideTheWorldIsAStranger()
    {
        Log log;
        IngestServer server(2, log);
        QVERIFY(server.listen());
        QTcpSocket a;
        send(a, server, hello(2, server.token()));
        QTRY_COMPARE(a.state(), QAbstractSocket::UnconnectedState);
        QVERIFY(log.lines.isEmpty());
    }

    void asecondConnectionOfARankIsRefused()
    {
        Log log;
        IngestServer server(2, log);
        QVERIFY(server.listen());
        QTcpSocket a, b;
        send(a, server, hello(0, server.token()));
        QTRY_VERIFY(server.isConnected(0));
        send(b, server, hello(0, server.token()));
        QTRY_COMPARE(b.state(), QAbstractSocket::UnconnectedState);
        QVERIFY(server.isConnected(0));
        QCOMPARE(log.lines, QStringList{"hello 0"});
    }

    void brokenStreamsOfARankAreReported_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("length above the cap") << QByteArray(64, '\xff');
        QTest::newRow("record of another rank") << step(1, 1);
        std::string cut;
        wire::appendFrame(cut, wire::FrameKind::Step, "xx");
        QTest::newRow("payload that ends early") << QByteArray::fromStdString(cut);
    }
    void brokenStreamsOfARankAreReported()
    {
        QFETCH(QByteArray, bytes);
        Log log;
        IngestServer server(2, log);
        QVERIFY(server.listen());
        QTcpSocket a;
        send(a, server, hello(0, server.token()) + bytes + step(0, 1));
        QTRY_COMPARE(log.lines, (QStringList{"hello 0", "broken 0", "closed 0"}));
    }

    void framesOfAnUnknownKindAreSkipped()
    {
        Log log;
        IngestServer server(1, log);
        QVERIFY(server.listen());
        std::string unknown;
        wire::appendFrame(unknown, wire::FrameKind(999), "from the future");
        QTcpSocket a;
        send(a, server, hello(0, server.token()) + QByteArray::fromStdString(unknown) + step(0, 1));
        QTRY_COMPARE(log.lines, (QStringList{"hello 0", "step 0 1 (1 values)"}));
    }

    void aPortInUseIsBusy()
    {
        Log log;
        IngestServer first(1, log), second(1, log);
        QVERIFY(first.listen());
        const QString port = QString::fromStdString(first.address()).section(QLatin1Char(':'), 1);
        const Status status = second.listen(port.toUShort());
        QVERIFY(!status);
        QCOMPARE(status.error().kind, ErrorKind::Busy);
    }
};

QTEST_GUILESS_MAIN(TestIngestServer)
#include "tst_ingest_server.moc"
