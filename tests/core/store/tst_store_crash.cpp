// What a killed writer, a full disk and a busy reader leave behind: real files, real processes.
#include "core/store/project_store.h"
#include "core/store/run_reader.h"
#include "core/store/run_writer.h"
#include "support/child_process.h"

#include <QtTest>

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <random>
#include <sqlite3.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace lockstep;
using test::ChildProcess;

namespace {

std::uint64_t valueAt(int rank, std::int64_t step)
{
    return (std::uint64_t(step) * 1000003 + std::uint64_t(rank)) * 0x9e3779b97f4a7c15ULL;
}

Status appendStep(RunWriter& writer, int rank, std::int64_t step)
{
    StepRecord record{rank, step, {}};
    for (std::uint16_t index = 0; index < 5; ++index)
        record.values.push_back({Quantity::GradProj, index, valueAt(rank, step) + index});
    return writer.append(record);
}

// Empty when everything up to `step` of both ranks is there and right.
std::string missing(const std::string& folder, std::int64_t step)
{
    Result<RunReader> reader = RunReader::open(folder);
    if (!reader.ok())
        return reader.error().sentence();
    for (int rank = 0; rank < 2; ++rank) {
        for (std::uint16_t index = 0; index < 5; ++index) {
            const Result<SeriesData> data = reader->read({rank, Quantity::GradProj, index});
            if (!data.ok())
                return data.error().sentence();
            if (std::int64_t(data->size()) < step)
                return "only " + std::to_string(data->size()) + " of " + std::to_string(step) + " steps";
            for (std::size_t i = 0; i < data->size(); ++i) {
                if (data->steps[i] != std::int64_t(i + 1) ||
                    data->bits[i] != valueAt(rank, data->steps[i]) + index)
                    return "a wrong value at step " + std::to_string(data->steps[i]);
            }
        }
    }
    return {};
}

std::string integrity(const std::string& file)
{
    sqlite3* db = nullptr;
    sqlite3_stmt* statement = nullptr;
    std::string answer = "cannot open";
    if (sqlite3_open(file.c_str(), &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        answer = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return answer;
}

// Writes steps until killed; reports each committed step as a line.
int writeForever(const std::string& folder, int stepsPerCommit, int descriptor)
{
    Result<RunWriter> writer = RunWriter::create(folder);
    if (!writer.ok())
        return 1;
    for (std::int64_t step = 1;; ++step) {
        for (int rank = 0; rank < 2; ++rank) {
            if (!appendStep(*writer, rank, step).ok())
                return 2;
        }
        if (step % stepsPerCommit != 0)
            continue;
        if (!writer->commit().ok())
            return 3;
        const std::string line = std::to_string(step) + "\n";
        if (::write(descriptor, line.data(), line.size()) < 0)
            return 4;
    }
}

std::int64_t lastLine(const std::string& text)
{
    const auto end = text.rfind('\n');
    if (end == std::string::npos)
        return 0;
    const auto begin = text.rfind('\n', end - 1);
    return std::atoll(text.c_str() + (begin == std::string::npos || end == 0 ? 0 : begin + 1));
}

// The newest step that the child reported, once it has reported `step` or a later one.
std::int64_t waitForStep(ChildProcess& child, std::int64_t step)
{
    std::int64_t newest = lastLine(child.read(false));
    while (newest < step) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        newest = std::max(newest, lastLine(child.read(false)));
    }
    return newest;
}

} // namespace

class TestStoreCrash : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    // The moments are spread over creation, tails, folding and checkpoints (a chunk fills every 4,096 steps).
    void everyCommittedStepSurvivesSigkill()
    {
        std::mt19937 random(QDateTime::currentMSecsSinceEpoch());
        for (int kill = 0; kill < 30; ++kill) {
            QTemporaryDir dir;
            const std::string folder = dir.path().toStdString() + "/run";
            const int stepsPerCommit = kill % 3 == 0 ? 1 : kill % 3 == 1 ? 7 : 500;
            ChildProcess child(
                [&](int descriptor) { return writeForever(folder, stepsPerCommit, descriptor); });
            std::int64_t reported = 0;
            if (kill % 5 > 0) // else while it is being created
                reported = waitForStep(child, kill * stepsPerCommit);
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
            child.kill();
            reported = std::max(reported, lastLine(child.read(true)));
            QCOMPARE(child.wait(), 128 + SIGKILL);
            if (!QFile::exists(QString::fromStdString(folder + "/run.db"))) {
                QCOMPARE(reported, std::int64_t(0));
                continue;
            }
            const std::string problem = missing(folder, reported);
            QVERIFY2(problem.empty(), problem.c_str());
            QCOMPARE(integrity(folder + "/run.db"), std::string("ok"));
            const std::string again = missing(folder, reported); // after SQLite has recovered the file
            QVERIFY2(again.empty(), again.c_str());
        }
    }

    void aKilledWriterFreesItsLockAndTheRunIsInterrupted()
    {
        QTemporaryDir dir;
        Result<ProjectStore> project = ProjectStore::create(dir.path().toStdString(), "toy-mlp");
        QVERIFY(project.ok());
        RunInfo wanted;
        wanted.name = "ddp-w2";
        const Result<RunInfo> run = project->addRun(wanted);
        QVERIFY(run.ok());
        QVERIFY(project->run(run->id)->state == RunState::Running); // entered, not yet begun
        ChildProcess child([&](int descriptor) { return writeForever(run->folder, 1, descriptor); });
        waitForStep(child, 1);
        QVERIFY(project->run(run->id)->state == RunState::Running);
        const Result<RunWriter> second = RunWriter::create(run->folder);
        QVERIFY(!second.ok());
        QVERIFY(second.error().kind == ErrorKind::Busy);
        child.kill();
        child.wait();
        QVERIFY(project->run(run->id)->state == RunState::Interrupted);
        QVERIFY(project->runs()->front().state == RunState::Interrupted);
    }

    // Locks of POSIX belong to the process: whoever closes any descriptor of the file gives them all up, and another process
    // that closes the project then believes to be the last and takes the -wal file away.
    void aProjectOpenedTwiceKeepsItsLocks()
    {
        QTemporaryDir dir;
        const std::string folder = dir.path().toStdString();
        QVERIFY(ProjectStore::create(folder, "toy-mlp").ok());
        const std::string go = folder + "/go";
        ChildProcess child([&](int) { // before this process opens anything: SQLite must not be forked
            while (!QFile::exists(QString::fromStdString(go)))
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            Result<ProjectStore> other = ProjectStore::open(folder);
            return other.ok() && other->runs().ok() ? 0 : 1;
        });
        Result<ProjectStore> first = ProjectStore::open(folder);
        QVERIFY(first.ok());
        RunInfo wanted;
        wanted.name = "one";
        QVERIFY(first->addRun(wanted).ok());
        QVERIFY(ProjectStore::open(folder).ok());
        struct stat before = {}, after = {};
        QCOMPARE(::stat((folder + "/lockstep.db-shm").c_str(), &before), 0);
        QVERIFY(QFile(QString::fromStdString(go)).open(QIODevice::WriteOnly));
        QCOMPARE(child.wait(), 0);
        QCOMPARE(::stat((folder + "/lockstep.db-shm").c_str(), &after), 0);
        QCOMPARE(after.st_ino, before.st_ino);
        wanted.name = "two";
        QVERIFY(first->addRun(wanted).ok());
        QCOMPARE(ProjectStore::open(folder)->runs()->size(), std::size_t(2));
    }

    // RLIMIT_FSIZE stands for a full disk: every write beyond it fails.
    void aFullDiskLosesNothingThatWasCommittedAndRecordingGoesOnWhenThereIsSpace()
    {
        QTemporaryDir dir;
        const std::string folder = dir.path().toStdString() + "/run";
        ChildProcess child([&](int descriptor) {
            std::signal(SIGXFSZ, SIG_IGN);
            Result<RunWriter> writer = RunWriter::create(folder);
            if (!writer.ok())
                return 1;
            const rlimit small{300'000, RLIM_INFINITY};
            ::setrlimit(RLIMIT_FSIZE, &small);
            std::int64_t step = 0;
            Status committed;
            while (committed.ok() && step < 100'000) {
                for (int i = 0; i < 50; ++i) {
                    ++step;
                    for (int rank = 0; rank < 2; ++rank) {
                        if (!appendStep(*writer, rank, step).ok())
                            return 2;
                    }
                }
                committed = writer->commit();
            }
            if (committed.ok() || committed.error().kind != ErrorKind::Io ||
                committed.error().sentence().empty())
                return 3;
            if (!missing(folder, step - 50).empty()) // what was committed before
                return 4;
            if (writer->commit().ok()) // still full
                return 5;
            const rlimit large{RLIM_INFINITY, RLIM_INFINITY};
            ::setrlimit(RLIMIT_FSIZE, &large);
            ++step;
            if (!appendStep(*writer, 0, step).ok() || !appendStep(*writer, 1, step).ok() ||
                !writer->commit().ok())
                return 6;
            if (!missing(folder, step).empty()) // the kept records are there too
                return 7;
            if (!writer->finish().ok() || !missing(folder, step).empty())
                return 8;
            const std::string line = std::to_string(step) + "\n";
            return ::write(descriptor, line.data(), line.size()) > 0 ? 0 : 9;
        });
        const std::int64_t step = lastLine(child.read(true));
        QCOMPARE(child.wait(), 0);
        QVERIFY(step > 100);
        QCOMPARE(missing(folder, step), std::string());
        QCOMPARE(integrity(folder + "/run.db"), std::string("ok"));
    }

    void aReaderSeesTheRunGrow()
    {
        QTemporaryDir dir;
        const std::string folder = dir.path().toStdString() + "/run";
        ChildProcess child([&](int descriptor) { return writeForever(folder, 3, descriptor); });
        waitForStep(child, 1);
        Result<RunReader> reader = RunReader::open(folder);
        QVERIFY(reader.ok());
        std::size_t before = 0;
        std::int64_t version = reader->dataVersion();
        int changes = 0;
        while (before < 100 || changes < 10) {
            waitForStep(child, 1); // something new
            const Result<SeriesData> data = reader->read({1, Quantity::GradProj, 4});
            QVERIFY2(data.ok(), data.ok() ? "" : data.error().sentence().c_str());
            QVERIFY(data->size() >= before);
            QCOMPARE(data->size() % 3, std::size_t(0)); // whole commits only
            for (std::size_t i = 0; i < data->size(); ++i) {
                QCOMPARE(data->steps[i], std::int64_t(i + 1));
                QCOMPARE(data->bits[i], valueAt(1, data->steps[i]) + 4);
            }
            before = data->size();
            changes += reader->dataVersion() != version;
            version = reader->dataVersion();
        }
    }

    void twoRunsAtOnceDoNotDisturbEachOther()
    {
        QTemporaryDir dir;
        const std::string one = dir.path().toStdString() + "/one";
        const std::string two = dir.path().toStdString() + "/two";
        ChildProcess first([&](int descriptor) { return writeForever(one, 5, descriptor); });
        ChildProcess second([&](int descriptor) { return writeForever(two, 5, descriptor); });
        const std::int64_t stepsOne = waitForStep(first, 50);
        const std::int64_t stepsTwo = waitForStep(second, 50);
        first.kill();
        second.kill();
        QCOMPARE(missing(one, stepsOne), std::string());
        QCOMPARE(missing(two, stepsTwo), std::string());
    }
};

QTEST_GUILESS_MAIN(TestStoreCrash)
#include "tst_store_crash.moc"
