// lockstep-worker as real processes: exit codes, signals, peers that vanish, error files, the stream it leaves behind.
#include "core/ckpt/open.h"
#include "core/config/run_config.h"
#include "core/wire/codec.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <map>
#include <memory>

using namespace lockstep;

namespace {

// What a stream says, in the order of the wire.
struct Stream {
    std::optional<wire::Hello> hello;
    std::optional<wire::Goodbye> goodbye;
    std::map<std::int64_t, StepRecord> steps;
    std::vector<EventRecord> events;
    std::size_t samples = 0;
    bool damaged = false;

    static Stream parse(const QByteArray& bytes)
    {
        Stream s;
        wire::FrameReader reader;
        reader.feed(bytes.constData(), std::size_t(bytes.size()));
        for (wire::Frame frame;;) {
            const Result<bool> more = reader.next(frame);
            s.damaged = !more.ok();
            if (!more || !*more)
                return s;
            s.add(frame);
        }
    }
    void add(const wire::Frame& frame)
    {
        switch (frame.kind) {
        case wire::FrameKind::Hello:
            hello = *wire::decodeHello(frame.payload);
            break;
        case wire::FrameKind::Goodbye:
            goodbye = *wire::decodeGoodbye(frame.payload);
            break;
        case wire::FrameKind::Step: {
            StepRecord record = *wire::decodeStep(frame.payload);
            steps[record.step] = std::move(record);
            break;
        }
        case wire::FrameKind::Samples:
            ++samples;
            break;
        case wire::FrameKind::Event:
            events.push_back(*wire::decodeEvent(frame.payload));
            break;
        default:
            break;
        }
    }
    bool hasEvent(const std::string& kind) const
    {
        return std::any_of(events.begin(), events.end(),
                           [&kind](const EventRecord& e) { return e.kind == kind; });
    }
};

quint16 freePort()
{
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    return server.serverPort();
}

// The ranks of one run, each with its own stream and error file in a temporary folder.
class Ranks
{
public:
    explicit Ranks(RunConfig config) : config_(std::move(config))
    {
        QFile file(folder_.filePath(QStringLiteral("run.json")));
        file.open(QIODevice::WriteOnly);
        file.write(QByteArray::fromStdString(toJson(config_)));
    }
    ~Ranks()
    {
        for (const auto& p : processes_) {
            p->kill();
            p->waitForFinished();
        }
    }

    void start(std::map<QString, QString> extra = {})
    {
        const int world = config_.mode == "ddp" ? config_.world : 1;
        const QString port = extra.count(QStringLiteral("MASTER_PORT")) ? extra[QStringLiteral("MASTER_PORT")]
                                                                        : QString::number(freePort());
        for (int r = 0; r < world; ++r) {
            QProcessEnvironment env = QProcessEnvironment::systemEnvironment();
            env.insert(QStringLiteral("RANK"), QString::number(r));
            env.insert(QStringLiteral("WORLD_SIZE"), QString::number(world));
            env.insert(QStringLiteral("MASTER_PORT"), port);
            env.insert(QStringLiteral("TORCHELASTIC_ERROR_FILE"), errorFile(r));
            env.insert(QStringLiteral("LOCKSTEP_RUN_DIR"), folder_.path());
            for (const auto& [name, value] : extra)
                env.insert(name, value);
            auto p = std::make_unique<QProcess>();
            p->setProcessEnvironment(env);
            p->start(QStringLiteral(LOCKSTEP_WORKER),
                     {QStringLiteral("--config"), folder_.filePath(QStringLiteral("run.json")),
                      QStringLiteral("--stream"), streamFile(r)});
            processes_.push_back(std::move(p));
        }
    }
    QProcess& operator[](int rank) { return *processes_[std::size_t(rank)]; }
    int exitCode(int rank)
    {
        processes_[std::size_t(rank)]->waitForFinished(60000);
        return processes_[std::size_t(rank)]->exitStatus() == QProcess::NormalExit
                   ? processes_[std::size_t(rank)]->exitCode()
                   : -1;
    }
    // Waits until this rank has sent something.
    bool waitForRecords(int rank)
    {
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < 60000) {
            if (!stream(rank).steps.empty() && stream(rank).steps.rbegin()->first > 3)
                return true;
            QTest::qWait(20);
        }
        return false;
    }
    Stream stream(int rank) const
    {
        QFile file(streamFile(rank));
        file.open(QIODevice::ReadOnly);
        return Stream::parse(file.readAll());
    }
    QString errorFile(int rank) const { return folder_.filePath(QStringLiteral("error%1.json").arg(rank)); }
    QString streamFile(int rank) const { return folder_.filePath(QStringLiteral("stream%1").arg(rank)); }
    QString folder() const { return folder_.path(); }
    QString errors(int rank)
    {
        return QString::fromUtf8(processes_[std::size_t(rank)]->readAllStandardError());
    }

private:
    RunConfig config_;
    QTemporaryDir folder_;
    std::vector<std::unique_ptr<QProcess>> processes_;
};

RunConfig config(const std::string& mode, int world, std::int64_t steps)
{
    RunConfig c;
    c.mode = mode;
    c.world = world;
    c.steps = steps;
    return c;
}

constexpr std::int64_t kForever = 100'000'000;

} // namespace

class TestWorker : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aSingleRunStreamsEveryStepAndSaysGoodbye();
    void anUnknownWorkloadIsNamedWithTheKnownOnes();
    void anUnknownFaultIsNamed();
    void aDamagedConfigurationIsRefused();
    void theWorldMustFit();
    void aBusyPortIsOneSentence();
    void cudaWithoutAGpuFailsAtOnce();
    void sigtermStopsAllRanksAfterTheSameStepWithACheckpoint();
    void sigtermToOneRankStopsTheOtherToo();
    void aKilledPeerIsSecondaryForTheSurvivor();
    void aLostHostEndsTheRank();
    void fullKeepsTheTensorsOfChosenSteps();
    void torchrunCanStartIt();
};

void TestWorker::aSingleRunStreamsEveryStepAndSaysGoodbye()
{
    Ranks ranks(config("single", 1, 40));
    ranks.start();
    QCOMPARE(ranks.exitCode(0), 0);
    const Stream s = ranks.stream(0);
    QVERIFY(!s.damaged);
    QVERIFY(s.hello.has_value());
    QCOMPARE(s.steps.size(), std::size_t(41)); // step 0 is the state before training
    QCOMPARE(s.samples, std::size_t(40));
    QVERIFY(s.hasEvent("epoch_end"));
    QVERIFY(s.hasEvent("checkpoint"));
    QVERIFY(s.goodbye.has_value());
    QCOMPARE(s.goodbye->kind, std::string("finished"));
    QCOMPARE(s.goodbye->exitCode, 0);
    QVERIFY(QFile::exists(ranks.folder() + QStringLiteral("/checkpoints/step_00000040.pt")));
    QVERIFY(QJsonDocument::fromJson(QByteArray::fromStdString(s.hello->environmentJson))
                .object()
                .contains(QStringLiteral("cpu_capability")));
}

void TestWorker::anUnknownWorkloadIsNamedWithTheKnownOnes()
{
    RunConfig c = config("single", 1, 5);
    c.workload = "resnet";
    Ranks ranks(c);
    ranks.start();
    QCOMPARE(ranks.exitCode(0), 3);
    const QString text = ranks.errors(0);
    QVERIFY2(text.contains(QStringLiteral("resnet")) && text.contains(QStringLiteral("toy-mlp")),
             qPrintable(text));
    QVERIFY(QFile::exists(ranks.errorFile(0)));
    QCOMPARE(ranks.stream(0).goodbye->kind, std::string("error"));
}

void TestWorker::anUnknownFaultIsNamed()
{
    RunConfig c = config("single", 1, 5);
    c.faults = {{"Z9", {}}};
    Ranks ranks(c);
    ranks.start();
    QCOMPARE(ranks.exitCode(0), 3);
    QVERIFY(ranks.errors(0).contains(QStringLiteral("Z9")));
}

void TestWorker::aDamagedConfigurationIsRefused()
{
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("bad.json")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"mode\":");
    file.close();
    QProcess p;
    p.start(QStringLiteral(LOCKSTEP_WORKER), {QStringLiteral("--config"), file.fileName()});
    QVERIFY(p.waitForFinished());
    QCOMPARE(p.exitCode(), 3);
    QVERIFY(p.readAllStandardError().contains("byte"));
}

void TestWorker::theWorldMustFit()
{
    Ranks ranks(config("ddp", 1, 5));
    ranks.start({{QStringLiteral("WORLD_SIZE"), QStringLiteral("2")}});
    QCOMPARE(ranks.exitCode(0), 3);
    QVERIFY(ranks.errors(0).contains(QStringLiteral("WORLD_SIZE")));
}

void TestWorker::aBusyPortIsOneSentence()
{
    QTcpServer occupied;
    QVERIFY(occupied.listen(QHostAddress::Any));
    Ranks ranks(config("ddp", 1, 5));
    ranks.start({{QStringLiteral("MASTER_PORT"), QString::number(occupied.serverPort())}});
    QCOMPARE(ranks.exitCode(0), 3);
    const QString text = ranks.errors(0);
    QVERIFY2(text.contains(QStringLiteral("in use")), qPrintable(text));
}

void TestWorker::cudaWithoutAGpuFailsAtOnce()
{
    if (QFile::exists(QStringLiteral("/dev/nvidia0")))
        QSKIP("This machine has a GPU. Run the test on one without.");
    RunConfig c = config("ddp", 1, 5);
    c.device = "cuda";
    c.backend = "nccl";
    Ranks ranks(c);
    ranks.start();
    QCOMPARE(ranks.exitCode(0), 3);
    const QString text = ranks.errors(0);
    QVERIFY2(text.contains(QStringLiteral("--device cuda is not possible here")), qPrintable(text));
}

void TestWorker::sigtermStopsAllRanksAfterTheSameStepWithACheckpoint()
{
    Ranks ranks(config("ddp", 2, kForever));
    ranks.start();
    QVERIFY(ranks.waitForRecords(0));
    for (int r : {0, 1}) {
        QVERIFY(ranks[r].processId() > 0); // 0 would be the whole process group
        ::kill(pid_t(ranks[r].processId()), SIGTERM);
    }
    QCOMPARE(ranks.exitCode(0), 143);
    QCOMPARE(ranks.exitCode(1), 143);
    const Stream a = ranks.stream(0);
    const Stream b = ranks.stream(1);
    QCOMPARE(a.goodbye->kind, std::string("stopped"));
    QCOMPARE(a.goodbye->step, b.goodbye->step);
    QCOMPARE(a.steps.rbegin()->first, a.goodbye->step);
    QCOMPARE(std::int64_t(a.steps.size()), a.goodbye->step + 1);
    QVERIFY(a.hasEvent("stop") && a.hasEvent("checkpoint"));
    const QString file =
        ranks.folder() +
        QStringLiteral("/checkpoints/step_%1.pt").arg(a.goodbye->step, 8, 10, QLatin1Char('0'));
    QVERIFY2(QFile::exists(file), qPrintable(file));
}

void TestWorker::sigtermToOneRankStopsTheOtherToo()
{
    Ranks ranks(config("ddp", 3, kForever));
    ranks.start();
    QVERIFY(ranks.waitForRecords(2));
    QVERIFY(ranks[1].processId() > 0); // 0 would be the whole process group
    ::kill(pid_t(ranks[1].processId()), SIGTERM);
    for (int r : {0, 1, 2})
        QCOMPARE(ranks.exitCode(r), 143);
    QCOMPARE(ranks.stream(0).goodbye->step, ranks.stream(1).goodbye->step);
    QCOMPARE(ranks.stream(0).goodbye->step, ranks.stream(2).goodbye->step);
}

void TestWorker::aKilledPeerIsSecondaryForTheSurvivor()
{
    Ranks ranks(config("ddp", 2, kForever));
    ranks.start();
    QVERIFY(ranks.waitForRecords(0));
    ranks[1].kill();
    QCOMPARE(ranks.exitCode(0), 1);
    const Stream s = ranks.stream(0);
    QCOMPARE(s.goodbye->kind, std::string("error"));
    QVERIFY2(s.goodbye->secondary, s.goodbye->sentence.c_str());
    QFile file(ranks.errorFile(0));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject message =
        QJsonDocument::fromJson(file.readAll()).object()[QStringLiteral("message")].toObject();
    QVERIFY(message[QStringLiteral("extraInfo")].toObject().contains(QStringLiteral("timestamp")));
    QVERIFY(QFile::exists(ranks.folder() + QStringLiteral("/flight_rank0.json")));
}

void TestWorker::aLostHostEndsTheRank()
{
    QTcpServer host;
    QVERIFY(host.listen(QHostAddress::LocalHost));
    Ranks ranks(config("single", 1, kForever));
    ranks.start(
        {{QStringLiteral("LOCKSTEP_CONNECT"), QStringLiteral("127.0.0.1:%1").arg(host.serverPort())}});
    QVERIFY(host.waitForNewConnection(20000));
    QTcpSocket* connection = host.nextPendingConnection();
    QVERIFY(connection->waitForReadyRead(20000));
    connection->abort();
    QVERIFY(ranks[0].waitForFinished(20000));
    QVERIFY(ranks[0].exitCode() != 0 || ranks[0].exitStatus() == QProcess::CrashExit);
}

void TestWorker::fullKeepsTheTensorsOfChosenSteps()
{
    RunConfig c = config("ddp", 2, 6);
    c.record = "full";
    c.keepSteps = "2,4-5";
    c.clipNorm = 0.5;
    Ranks ranks(c);
    ranks.start();
    for (int r : {0, 1}) {
        QCOMPARE(ranks.exitCode(r), 0);
        QVERIFY(ranks.stream(r).hasEvent("tensors"));
        for (int step = 1; step <= 6; ++step) {
            const QString file =
                ranks.folder() +
                QStringLiteral("/tensors/step_%1_rank%2.pt").arg(step, 8, 10, QLatin1Char('0')).arg(r);
            const bool chosen = step == 2 || step == 4 || step == 5;
            QCOMPARE(QFile::exists(file), chosen);
            if (!chosen)
                continue;
            const Result<Checkpoint> kept = openCheckpoint(file.toStdString());
            QVERIFY(kept.ok());
            for (const char* part : {"local", "reduced", "clipped", "model"}) {
                const Value tensors = kept->rootValue().get(part);
                QVERIFY2(tensors.is(ValueKind::Dict) && tensors.get("0.weight").is(ValueKind::Tensor), part);
            }
        }
    }
}

void TestWorker::torchrunCanStartIt()
{
    const QString torchrun =
        QFileInfo(QStringLiteral(LOCKSTEP_VENV_PYTHON)).absolutePath() + QStringLiteral("/torchrun");
    if (!QFile::exists(torchrun))
        QSKIP("torchrun is not in .venv. Run ./dev setup.");
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("run.json")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(toJson(config("ddp", 2, 20))));
    file.close();
    QProcess p;
    p.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    p.start(torchrun,
            {QStringLiteral("--no-python"), QStringLiteral("--standalone"),
             QStringLiteral("--nproc-per-node=2"), QStringLiteral(LOCKSTEP_WORKER),
             QStringLiteral("--config"), file.fileName(), QStringLiteral("--run-folder"), folder.path()});
    QVERIFY(p.waitForFinished(120000));
    QCOMPARE(p.exitCode(), 0);
    QVERIFY(QFile::exists(folder.filePath(QStringLiteral("checkpoints/step_00000020.pt"))));
}

QTEST_GUILESS_MAIN(TestWorker)
#include "tst_worker.moc"
