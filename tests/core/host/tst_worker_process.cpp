// Ends of real processes, as the host sees them.
#include "core/host/listen_socket.h"
#include "core/host/worker_process.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using namespace lockstep;

class TestWorkerProcess : public QObject
{
    Q_OBJECT

    ProcessSpec shell(const QString& script)
    {
        ProcessSpec spec;
        spec.program = QStringLiteral("/bin/sh");
        spec.arguments = {QStringLiteral("-c"), script};
        spec.environment = QProcessEnvironment::systemEnvironment();
        spec.logFile = folder_.filePath(QStringLiteral("rank0.log"));
        return spec;
    }

    ProcessEnd run(ProcessSpec spec)
    {
        WorkerProcess process(std::move(spec));
        ProcessEnd end;
        bool ended = false;
        connect(&process, &WorkerProcess::ended, this, [&](const ProcessEnd& e) { end = e, ended = true; });
        process.start();
        if (!QTest::qWaitFor([&] { return ended; }, 20000))
            qWarning("the process did not end");
        return end;
    }

    QByteArray log() const
    {
        QFile file(folder_.filePath(QStringLiteral("rank0.log")));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    QTemporaryDir folder_;

private Q_SLOTS:
    void cleanup() { QFile::remove(folder_.filePath(QStringLiteral("rank0.log"))); }

    // A run that goes on with fewer ranks keeps what the log said before.
    void aSecondProcessContinuesTheLog()
    {
        run(shell(QStringLiteral("echo first")));
        run(shell(QStringLiteral("echo second")));
        QCOMPARE(log(), QByteArray("first\nsecond\n"));
    }

    void exitCodesAreReported()
    {
        const ProcessEnd end = run(shell(QStringLiteral("exit 3")));
        QVERIFY(end.started && !end.signalled);
        QCOMPARE(end.code, 3);
        QVERIFY(end.monotonicNs > 0 && end.monotonicNs <= monotonicNs());
    }

    void signalsAreReportedByNumber_data()
    {
        QTest::addColumn<int>("signal");
        for (int signal : {SIGKILL, SIGSEGV, SIGTERM, SIGABRT})
            QTest::newRow(strsignal(signal)) << signal;
    }
    void signalsAreReportedByNumber()
    {
        QFETCH(int, signal);
        const ProcessEnd end = run(shell(QStringLiteral("ulimit -c 0; kill -%1 $$").arg(signal)));
        QVERIFY(end.started && end.signalled);
        QCOMPARE(end.code, signal);
    }

    void aMissingProgramIsAnEnd()
    {
        ProcessSpec spec = shell({});
        spec.program = QStringLiteral("/nonexistent/worker");
        const ProcessEnd end = run(spec);
        QVERIFY(!end.started);
        QVERIFY(!end.problem.isEmpty());
    }

    void outputAndErrorsGoToTheLog()
    {
        run(shell(QStringLiteral("echo out; echo err >&2")));
        QCOMPARE(log(), QByteArray("out\nerr\n"));
    }

    void theProcessLeadsASessionOfItsOwn()
    {
        run(shell(QStringLiteral("ps -o sid= -p $$; echo $$")));
        const QList<QByteArray> lines = log().split('\n');
        QCOMPARE(lines[0].trimmed(), lines[1].trimmed());
    }

    void killReachesWhatTheProcessStarted()
    {
        WorkerProcess process(shell(QStringLiteral("sleep 1000 & echo $!; wait")));
        QSignalSpy ended(&process, &WorkerProcess::ended);
        process.start();
        QTRY_VERIFY(log().endsWith('\n'));
        const pid_t child = log().trimmed().toInt();
        QVERIFY(child > 0);
        process.kill();
        QTRY_COMPARE(ended.size(), 1);
        QTRY_VERIFY(!QFile::exists(QStringLiteral("/proc/%1/exe").arg(child)) ||
                    QFile::symLinkTarget(QStringLiteral("/proc/%1/exe").arg(child)).isEmpty());
    }

    void theSocketOfTheStoreIsInheritedByThatProcessOnly()
    {
        const Result<ListenSocket> socket = ListenSocket::open();
        QVERIFY(socket.ok());
        const QString script =
            QStringLiteral("test -S /proc/self/fd/%1 && echo yes || echo no").arg(socket->fd());
        ProcessSpec heir = shell(script);
        heir.inheritedFd = socket->fd();
        run(heir);
        QCOMPARE(log(), QByteArray("yes\n"));
        run(shell(script));
        QCOMPARE(log(), QByteArray("yes\nno\n"));
    }

    void aPortInUseIsBusy()
    {
        const Result<ListenSocket> first = ListenSocket::open();
        QVERIFY(first.ok() && first->port() > 0);
        const Result<ListenSocket> second = ListenSocket::open(first->port());
        QVERIFY(!second);
        QCOMPARE(second.error().kind, ErrorKind::Busy);
    }
};

QTEST_GUILESS_MAIN(TestWorkerProcess)
#include "tst_worker_process.moc"
