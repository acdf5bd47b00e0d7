// What is left of a run: which ranks are gone, who hung, and what it means when nobody can reach the host.
#include "core/host/root_cause.h"

#include <QTest>

#include <csignal>

using namespace lockstep;

namespace {

constexpr const char* kClosed = "Rank 0 failed in training. Connection closed by peer [127.0.0.1]:1";
constexpr const char* kTimedOut =
    "Rank 0 failed in training. Timed out waiting 3000ms for recv operation to complete";

RankEnd killed(int rank)
{
    RankEnd end;
    end.rank = rank;
    end.how = EndKind::Signalled;
    end.code = SIGKILL;
    end.stepAtEnd = 7;
    end.connectionLost = true;
    return end;
}

RankEnd killedByHost(int rank, std::int64_t lastHeardNs)
{
    RankEnd end = killed(rank);
    end.endedByHost = true;
    end.lastHeardNs = lastHeardNs;
    return end;
}

RankEnd echo(int rank, const char* sentence)
{
    RankEnd end = killed(rank);
    end.endedByHost = true;
    end.connectionLost = false;
    end.goodbye = wire::Goodbye{rank, 7, 1, true, 100, "error", sentence};
    return end;
}

RankEnd stoppedByItself(int rank, bool connectionLost)
{
    RankEnd end;
    end.rank = rank;
    end.code = 143;
    end.stepAtEnd = 7;
    end.connectionLost = connectionLost;
    if (!connectionLost)
        end.goodbye = wire::Goodbye{rank, 7, 143, false, 100, "stopped", ""};
    return end;
}

} // namespace

class TestLostRanks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void ranksThatOnlyNoticedAreNotLost()
    {
        const std::vector<RankEnd> ends = {echo(0, kClosed), killed(1), echo(2, kClosed), echo(3, kClosed)};
        QCOMPARE(lostRanks(ends), 1);
        const std::vector<RankEnd> two = {echo(0, kClosed), killed(1), killed(2), echo(3, kClosed)};
        QCOMPARE(lostRanks(two), 2);
    }

    void aRankThatHadNoTimeToSayThatItNoticedIsNotLost()
    {
        const std::vector<RankEnd> ends = {killedByHost(0, 50), killed(1), echo(2, kClosed)};
        QCOMPARE(lostRanks(ends), 1);
        QCOMPARE(judgeRun(ends, {}).firstFailure.rank, 1);
    }

    void ofSilentRanksTheOneSilentForLongestHung()
    {
        const std::vector<RankEnd> ends = {echo(0, kTimedOut), killedByHost(1, 900), killedByHost(2, 500)};
        const RunVerdict verdict = judgeRun(ends, {});
        QCOMPARE(verdict.firstFailure.rank, 2);
        QVERIFY(verdict.firstFailure.sentence.starts_with("Rank 2 stopped answering in step 7"));
    }

    void ranksThatCannotReachTheHostBlameNobody()
    {
        const std::vector<RankEnd> ends = {stoppedByItself(0, true), stoppedByItself(1, true)};
        const RunVerdict verdict = judgeRun(ends, {});
        QCOMPARE(verdict.state, RunState::Failed);
        QCOMPARE(verdict.firstFailure.rank, -1);
        QVERIFY(verdict.firstFailure.sentence.starts_with(
            "All 2 ranks lost the connection to the recording host"));
        QCOMPARE(verdict.exitCodes, (std::vector{143, 143}));
        QCOMPARE(lostRanks(ends), 0); // they can all go on
    }

    void oneRankThatCannotReachTheHostIsNamed()
    {
        const std::vector<RankEnd> ends = {stoppedByItself(0, false), stoppedByItself(1, true)};
        const RunVerdict verdict = judgeRun(ends, {});
        QCOMPARE(verdict.state, RunState::Failed);
        QCOMPARE(verdict.firstFailure.rank, 1);
        QVERIFY(verdict.firstFailure.sentence.starts_with("Rank 1 lost the connection"));
        QCOMPARE(lostRanks(ends), 0);
    }

    void aStopThatWasAskedForIsNoLostConnection()
    {
        const std::vector<RankEnd> ends = {stoppedByItself(0, false), stoppedByItself(1, true)};
        QCOMPARE(judgeRun(ends, {true, 0}).state, RunState::Stopped);
    }

    void timeoutsAndClosedConnectionsAreToldApart()
    {
        QVERIFY(isTimeoutOfPeer(kTimedOut) && isEchoOfPeer(kTimedOut));
        QVERIFY(!isTimeoutOfPeer(kClosed) && isEchoOfPeer(kClosed));
        QVERIFY(!isEchoOfPeer("The checkpoint could not be written. No space left on device"));
    }
};

QTEST_GUILESS_MAIN(TestLostRanks)
#include "tst_lost_ranks.moc"
