// The rules by which the host names the rank that broke a run, on made-up ends.
#include "core/host/rank_files.h"
#include "core/host/root_cause.h"

#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <fstream>

using namespace lockstep;

namespace {

RankEnd finished(int rank)
{
    RankEnd end;
    end.rank = rank;
    end.endedNs = 1000;
    end.stepAtEnd = 10;
    end.goodbye = wire::Goodbye{};
    end.goodbye->rank = rank;
    end.goodbye->step = 10;
    end.goodbye->kind = "finished";
    return end;
}

RankEnd exited(int rank, int code, std::int64_t atNs)
{
    RankEnd end;
    end.rank = rank;
    end.code = code;
    end.endedNs = atNs;
    end.stepAtEnd = 5;
    return end;
}

RankEnd signalled(int rank, int signal, std::int64_t atNs)
{
    RankEnd end = exited(rank, signal, atNs);
    end.how = EndKind::Signalled;
    return end;
}

RankEnd reported(int rank, const std::string& sentence, bool secondary, std::int64_t atNs)
{
    RankEnd end = exited(rank, 1, atNs + 50);
    end.goodbye = wire::Goodbye{};
    end.goodbye->rank = rank;
    end.goodbye->exitCode = 1;
    end.goodbye->step = 5;
    end.goodbye->secondary = secondary;
    end.goodbye->monotonicNs = atNs;
    end.goodbye->kind = "error";
    end.goodbye->sentence = sentence;
    return end;
}

RankEnd stopped(int rank)
{
    RankEnd end = finished(rank);
    end.code = 143;
    end.goodbye->exitCode = 143;
    end.goodbye->kind = "stopped";
    return end;
}

RankEnd broughtDown(RankEnd end)
{
    end.endedByHost = true;
    return end;
}

} // namespace

class TestRootCause : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void allRanksAtZeroIsFinished()
    {
        const std::vector ranks{finished(0), finished(1)};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.state, RunState::Finished);
        QCOMPARE(verdict.exitCodes, (std::vector{0, 0}));
        QCOMPARE(verdict.firstFailure.rank, -1);
    }

    void exitCodeZeroWithoutGoodbyeIsAFailure()
    {
        const std::vector ranks{finished(0), exited(1, 0, 900)};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.state, RunState::Failed);
        QCOMPARE(verdict.firstFailure.rank, 1);
        QVERIFY(verdict.firstFailure.sentence.find("without its last report") != std::string::npos);
    }

    void anEchoNeverWinsEvenWhenItIsEarlier()
    {
        const std::vector ranks{reported(0, "peer gone", true, 100), signalled(1, SIGKILL, 500)};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.state, RunState::Failed);
        QCOMPARE(verdict.firstFailure.rank, 1);
        QCOMPARE(verdict.firstFailure.step, 5);
        QVERIFY(verdict.firstFailure.sentence.find("SIGKILL in step 5") != std::string::npos);
        QCOMPARE(verdict.exitCodes, (std::vector{1, 137}));
    }

    void glooTextsAreEchoesWithoutTheFlag()
    {
        const std::vector ranks{
            reported(0, "[pair.cc:553] Connection closed by peer [127.0.0.1]:4242", false, 100),
            reported(1, "Sample 7 cannot be read", false, 200)};
        QCOMPARE(judgeRun(ranks, {}).firstFailure.rank, 1);
    }

    void theEarliestCauseOfItsOwnWins()
    {
        const std::vector ranks{reported(0, "b", false, 300), reported(1, "a", false, 200),
                                exited(2, 9, 250)};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.firstFailure.rank, 1);
        QCOMPARE(verdict.firstFailure.sentence, std::string("a"));
    }

    void theSilentRankIsTheCauseWhenTheOthersTimedOut()
    {
        RankEnd hung = broughtDown(signalled(1, SIGKILL, 9000));
        hung.stepAtEnd = 4;
        const std::vector ranks{
            reported(0, "Timed out waiting 5000ms for recv operation to complete", true, 100), hung};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.state, RunState::Failed);
        QCOMPARE(verdict.firstFailure.rank, 1);
        QCOMPARE(verdict.firstFailure.step, 4);
        QVERIFY(verdict.firstFailure.sentence.find("Rank 1 stopped answering in step 4") == 0);
        QVERIFY(verdict.firstFailure.sentence.find("Timed out waiting 5000ms") != std::string::npos);
    }

    void aHungRankThatObeysTheHostsSigtermIsNoStop()
    {
        const std::vector ranks{reported(0, "Timed out waiting 5000ms", true, 100), broughtDown(stopped(1))};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.state, RunState::Failed);
        QCOMPARE(verdict.firstFailure.rank, 1);
    }

    void theSlowestOfSeveralSilentRanksIsNamed()
    {
        RankEnd ahead = broughtDown(signalled(1, SIGTERM, 9000));
        RankEnd behind = broughtDown(signalled(2, SIGTERM, 9100));
        ahead.stepAtEnd = 7;
        behind.stepAtEnd = 6;
        const std::vector ranks{reported(0, "Timed out waiting 5000ms", true, 100), ahead, behind};
        QCOMPARE(judgeRun(ranks, {}).firstFailure.rank, 2);
    }

    void onlyEchoesNameTheEarliest()
    {
        const std::vector ranks{reported(0, "peer gone", true, 300), reported(1, "peer gone too", true, 200)};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.state, RunState::Failed);
        QCOMPARE(verdict.firstFailure.rank, 1);
    }

    void aRequestedStopIsStopped()
    {
        const std::vector ranks{stopped(0), stopped(1)};
        const RunVerdict verdict = judgeRun(ranks, {true, 0});
        QCOMPARE(verdict.state, RunState::Stopped);
        QCOMPARE(verdict.exitCodes, (std::vector{143, 143}));
        QCOMPARE(verdict.firstFailure.rank, -1);
    }

    void sigtermToARankWithoutOurRequestIsStoppedToo()
    {
        const std::vector ranks{stopped(0), stopped(1)};
        QCOMPARE(judgeRun(ranks, {}).state, RunState::Stopped);
    }

    void aStopAfterTheLastStepIsFinished()
    {
        const std::vector ranks{finished(0), finished(1)};
        QCOMPARE(judgeRun(ranks, {true, 0}).state, RunState::Finished);
    }

    void anErrorDuringAStopIsAFailure()
    {
        const std::vector ranks{stopped(0), reported(1, "The disk is full", false, 100)};
        const RunVerdict verdict = judgeRun(ranks, {true, 0});
        QCOMPARE(verdict.state, RunState::Failed);
        QCOMPARE(verdict.firstFailure.rank, 1);
    }

    void echoesDuringAStopAreAStop()
    {
        const std::vector ranks{stopped(0), reported(1, "Connection closed by peer", true, 100)};
        QCOMPARE(judgeRun(ranks, {true, 0}).state, RunState::Stopped);
    }

    void aRankThatDidNotStopInTimeIsNamed()
    {
        const std::vector ranks{stopped(0), broughtDown(signalled(1, SIGKILL, 900))};
        const RunVerdict verdict = judgeRun(ranks, {true, 30});
        QCOMPARE(verdict.state, RunState::Stopped);
        QCOMPARE(verdict.firstFailure.rank, 1);
        QVERIFY(verdict.firstFailure.sentence.find("30 s") != std::string::npos);
    }

    void anAnnouncedExitCodeCountsWhenTheHostCutTheWaitingShort()
    {
        RankEnd echo = broughtDown(reported(0, "peer gone", true, 100));
        echo.how = EndKind::Signalled;
        echo.code = SIGKILL;
        const std::vector ranks{echo, exited(1, 7, 50)};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.exitCodes, (std::vector{1, 7}));
        QCOMPARE(verdict.firstFailure.rank, 1);
    }

    void exitCodeThreeMeansTheRunCouldNotBegin()
    {
        RankEnd end = reported(0, "The fault Q9 is unknown. x. y.", false, 100);
        end.code = 3;
        const std::vector ranks{end};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.state, RunState::Failed);
        QCOMPARE(verdict.kind, ErrorKind::Environment);
    }

    void aMissingLibraryIsNamed()
    {
        RankEnd end = exited(0, 127, 100);
        end.stepAtEnd = -1;
        end.lastLogLine =
            "lockstep-worker: error while loading shared libraries: libtorch_cpu.so: cannot open shared "
            "object file: No such file or directory";
        const std::vector ranks{end};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.kind, ErrorKind::Environment);
        QVERIFY(verdict.firstFailure.sentence.find("libtorch_cpu.so") != std::string::npos);
        QVERIFY(verdict.firstFailure.sentence.find("./dev setup") != std::string::npos);
    }

    void theErrorFileSpeaksForARankWithoutGoodbye()
    {
        RankEnd end = exited(1, 1, 100);
        end.errorFile = ErrorFile{"ValueError: empty loader"};
        const std::vector ranks{finished(0), end};
        const RunVerdict verdict = judgeRun(ranks, {});
        QCOMPARE(verdict.firstFailure.rank, 1);
        QVERIFY(verdict.firstFailure.sentence.find("ValueError: empty loader") != std::string::npos);
    }

    void errorFilesOfTorchElasticAreRead_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("message");
        QTest::newRow("nested")
            << QByteArray("{\"message\":{\"message\":\"E: x\",\"extraInfo\":{\"timestamp\":\"1\"}}}")
            << QByteArray("E: x");
        QTest::newRow("plain") << QByteArray("{\"message\":\"E: y\"}") << QByteArray("E: y");
        QTest::newRow("empty") << QByteArray() << QByteArray();
        QTest::newRow("cut") << QByteArray("{\"message\":{\"mess") << QByteArray();
        QTest::newRow("list") << QByteArray("[1]") << QByteArray();
    }
    void errorFilesOfTorchElasticAreRead()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, message);
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("e.json")).toStdString();
        std::ofstream(path, std::ios::binary) << text.toStdString();
        const std::optional<ErrorFile> file = readErrorFile(path);
        QCOMPARE(file.has_value(), !message.isEmpty());
        if (file)
            QCOMPARE(file->message, message.toStdString());
    }

    void theLastLineOfALogIsFound_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("line");
        QTest::newRow("plain") << QByteArray("a\nb\n") << QByteArray("b");
        QTest::newRow("blank lines at the end") << QByteArray("a\nb\n\n  \n") << QByteArray("b");
        QTest::newRow("no newline") << QByteArray("only") << QByteArray("only");
        QTest::newRow("nothing") << QByteArray() << QByteArray();
        QTest::newRow("long line") << QByteArray("x\n") + QByteArray(9000, 'y') << QByteArray(300, 'y');
    }
    void theLastLineOfALogIsFound()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, line);
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("r.log")).toStdString();
        std::ofstream(path, std::ios::binary) << text.toStdString();
        QCOMPARE(lastLogLine(path), line.toStdString());
    }
};

QTEST_APPLESS_MAIN(TestRootCause)
#include "tst_root_cause.moc"
