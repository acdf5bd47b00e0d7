// SIGKILL at random moments of a run, of a rank and of lockstep-cli: what was committed before is in the store, the store
// opens clean, the run says what happened, and no process is left. LOCKSTEP_KILL_MOMENTS=30 for more of them.
#include "core/store/run_reader.h"
#include "tests/e2e/cli_runner.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <map>
#include <memory>

using namespace lockstep;
using namespace lockstep::e2e;

namespace {

constexpr int kMoments = 8;
constexpr int kLatestMs = 1500; // a DDP run of the real worker trains from about 0.6 s on

using Values = std::map<std::pair<int, std::int64_t>, std::uint64_t>; // (rank, step) -> bits of the loss

// Everything that can be read of the losses; checks on the way that no step is missing in between.
Values losses(const QString& runFolder)
{
    Values values;
    Result<RunReader> run = RunReader::open(runFolder.toStdString());
    if (!run)
        return values;
    for (int rank : {0, 1}) {
        const Result<SeriesData> loss = run->read({rank, Quantity::Loss, 0});
        if (!loss)
            continue; // nothing of this rank yet
        for (std::size_t i = 0; i < loss->size(); ++i) {
            if (loss->steps[i] != std::int64_t(i) + 1)
                qWarning("rank %d: step %lld follows step %zu", rank, (long long)loss->steps[i], i);
            values[{rank, loss->steps[i]}] = loss->bits[i];
        }
    }
    return values;
}

} // namespace

class TestSigkill : public QObject
{
    Q_OBJECT

    QTemporaryDir folder_;
    std::unique_ptr<Cli> cli_;
    QString project_;
    Values expected_; // of an undisturbed run

    QStringList endless(const QString& name) const
    {
        const QStringList run{"run", project_,  "--json",    "--mode", "ddp", "--world",
                              "2",   "--steps", "100000000", "--name", name};
        return hasRealWorker() ? run : run + QStringList{"--workload-option", "fake.step_us=300"};
    }

    QString runFolder(const QString& name) const { return project_ + "/runs/" + name + "-01"; }

    // All of `before` is in `after`, and the values are right as far as the undisturbed run goes.
    void isKept(const Values& before, const Values& after) const
    {
        for (const auto& [key, bits] : before) {
            const auto found = after.find(key);
            QVERIFY2(found != after.end(),
                     qPrintable(QStringLiteral("rank %1 step %2 is lost").arg(key.first).arg(key.second)));
            QCOMPARE(found->second, bits);
        }
        for (const auto& [key, bits] : after)
            if (const auto found = expected_.find(key); found != expected_.end())
                QCOMPARE(bits, found->second);
    }

    // SQLite's own opinion, where its shell is installed.
    static void isClean(const QString& runFolder)
    {
        QProcess sqlite;
        sqlite.start(QStringLiteral("sqlite3"),
                     {"-readonly", runFolder + "/run.db", "PRAGMA integrity_check"});
        if (!sqlite.waitForStarted())
            return; // RunReader has opened it; the shell only adds a second judge
        QVERIFY(sqlite.waitForFinished());
        QCOMPARE(sqlite.readAllStandardOutput().trimmed(), QByteArray("ok"));
    }

    // The state the project gives the run, and the sentence.
    std::pair<std::string, std::string> verdict(const QString& name) const
    {
        const auto json = cli_->run({"runs", project_, "--json"}).json();
        for (const auto& run : json.GetArray())
            if (name == run["name"].GetString())
                return {run["state"].GetString(), run["first_failure"].IsNull()
                                                      ? std::string()
                                                      : run["first_failure"]["sentence"].GetString()};
        return {};
    }

private Q_SLOTS:
    void initTestCase()
    {
        cli_ = std::make_unique<Cli>(hasRealWorker() ? realWorker() : QStringLiteral(LOCKSTEP_FAKE_WORKER));
        project_ = folder_.filePath(QStringLiteral("p"));
        QCOMPARE(cli_->run({"init", project_}).exitCode, 0);
        QCOMPARE(cli_->run({"run", project_, "--mode", "ddp", "--steps", "2000", "--name", "whole"}).exitCode,
                 0);
        expected_ = losses(runFolder(QStringLiteral("whole")));
        QCOMPARE(expected_.size(), std::size_t(4000));
    }

    void aRank_data() { moments(); }
    void aRank()
    {
        QFETCH(int, afterMs);
        const QString name = QStringLiteral("rank-%1").arg(QString::fromUtf8(QTest::currentDataTag()));
        const int rank = afterMs % 2;
        const auto process = cli_->start(endless(name));
        QTest::qWait(afterMs);
        const QByteArray which = "RANK=" + QByteArray::number(rank);
        QTRY_VERIFY(!cli_->processes(which).isEmpty());
        const Values before = losses(runFolder(name));
        QVERIFY(sendSignal(cli_->processes(which).value(0), SIGKILL));
        const CliResult result = Cli::wait(*process);
        QCOMPARE(result.exitCode, 4);
        const auto json = result.json();
        QCOMPARE(json["state"].GetString(), "failed");
        QCOMPARE(json["first_failure"]["rank"].GetInt(), rank);
        QVERIFY2(std::string(json["first_failure"]["sentence"].GetString()).find("SIGKILL") !=
                     std::string::npos,
                 json["first_failure"]["sentence"].GetString());
        QCOMPARE(json["exit"][rapidjson::SizeType(rank)].GetInt(), 137);
        QVERIFY(cli_->nothingLeft());
        isKept(before, losses(runFolder(name)));
        isClean(runFolder(name));
        QCOMPARE(verdict(name).first, std::string("failed"));
    }

    void lockstepCli_data() { moments(); }
    void lockstepCli()
    {
        QFETCH(int, afterMs);
        const QString name = QStringLiteral("cli-%1").arg(QString::fromUtf8(QTest::currentDataTag()));
        const auto process = cli_->start(endless(name));
        QTest::qWait(afterMs);
        const Values before = losses(runFolder(name));
        QVERIFY(sendSignal(process->processId(), SIGKILL));
        QCOMPARE(Cli::wait(*process).exitCode, 137);
        QVERIFY(cli_->nothingLeft());
        const auto [state, sentence] = verdict(name);
        if (state.empty() && before.empty())
            return; // killed before it could enter the run in the project
        QCOMPARE(state, std::string("interrupted"));
        QVERIFY(sentence.starts_with("The run was interrupted"));
        isKept(before, losses(runFolder(name)));
        if (!before.empty())
            isClean(runFolder(name));
    }

private:
    static void moments()
    {
        QTest::addColumn<int>("afterMs");
        const quint32 seed = QRandomGenerator::system()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        bool given = false;
        const int wanted = qEnvironmentVariableIntValue("LOCKSTEP_KILL_MOMENTS", &given);
        for (int i = 0; i < (given ? wanted : kMoments); ++i) {
            const int afterMs = random.bounded(kLatestMs);
            QTest::newRow(qPrintable(QStringLiteral("%1-%2ms").arg(i).arg(afterMs))) << afterMs;
        }
    }
};

QTEST_GUILESS_MAIN(TestSigkill)
#include "tst_sigkill.moc"
