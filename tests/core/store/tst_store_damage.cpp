// Files that are not as they should be: newer, cut, scribbled on, read-only, copied while open.
#include "core/store/project_store.h"
#include "core/store/run_reader.h"
#include "core/store/run_writer.h"
#include "support/child_process.h"

#include <QtTest>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

constexpr int kSteps = 10'000;

double valueAt(std::int64_t step)
{
    return 1.0 / double(step);
}

// A finished run; with `open` the writer is still alive and everything sits in the -wal file.
std::optional<RunWriter> makeRun(const std::string& folder, bool open)
{
    RunWriter writer = std::move(RunWriter::create(folder)).value();
    for (std::int64_t step = 1; step <= kSteps; ++step)
        (void)writer.append(StepRecord{0, step, {{Quantity::Loss, 0, bitsOf(valueAt(step))}}});
    (void)writer.append(SamplesRecord{0, 1, 0, 0, {1, 2, 3}, {}});
    (void)writer.append(TensorRecord{0, 1, "w", false, TensorRecord::State, 0, 0, 0, 0, 0, 1.5, 7});
    (void)writer.append(EventRecord{0, 1, "stop", 5, "{}"});
    (void)writer.commit();
    if (open)
        return writer;
    (void)writer.finish();
    return std::nullopt;
}

std::string contents(const fs::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& file, const std::string& bytes)
{
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

// Reads everything there is. Empty: all right. Otherwise the first error; values that are wrong without an error are
// reported as such.
std::string readAll(const std::string& folder, ErrorKind* kind = nullptr)
{
    const auto failed = [kind](const Error& error) {
        if (kind)
            *kind = error.kind;
        return error.sentence();
    };
    Result<RunReader> reader = RunReader::open(folder);
    if (!reader.ok())
        return failed(reader.error());
    const auto series = reader->series();
    if (!series.ok())
        return failed(series.error());
    const auto chunks = reader->chunks({0, Quantity::Loss, 0});
    if (!chunks.ok())
        return failed(chunks.error());
    const auto data = reader->read({0, Quantity::Loss, 0});
    if (!data.ok())
        return failed(data.error());
    for (std::size_t i = 0; i < data->size(); ++i) {
        if (data->bits[i] != bitsOf(valueAt(data->steps[i])))
            return "WRONG VALUE";
    }
    if (data->size() != kSteps)
        return "LOST VALUES";
    for (const Status& status :
         {reader->samples(0, 0, kSteps).ok() ? Status() : Status(reader->samples(0, 0, kSteps).error()),
          reader->tensors(0, 0, kSteps).ok() ? Status() : Status(reader->tensors(0, 0, kSteps).error()),
          reader->events().ok() ? Status() : Status(reader->events().error()),
          reader->segments().ok() ? Status() : Status(reader->segments().error())}) {
        if (!status.ok())
            return failed(status.error());
    }
    return {};
}

// The steps somebody without write access sees; run in a child that has given up its rights.
std::string asStranger(const std::function<std::string()>& look)
{
    test::ChildProcess child([&](int descriptor) {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
            return 1;
        const std::string answer = look();
        return ::write(descriptor, answer.data(), answer.size()) < 0 ? 2 : 0;
    });
    std::string answer = child.read(true);
    return child.wait() == 0 ? answer : "the child failed";
}

// No write permission for anybody below this folder; QTemporaryDir needs it back to clean up.
class ReadOnly
{
public:
    explicit ReadOnly(const std::string& folder) : folder_(folder) { set(0555, 0444); }
    ~ReadOnly() { set(0755, 0644); }

private:
    void set(mode_t folders, mode_t files)
    {
        std::vector<fs::path> paths{folder_};
        for (const auto& entry : fs::recursive_directory_iterator(folder_))
            paths.push_back(entry.path());
        for (const fs::path& path : paths)
            ::chmod(path.c_str(), fs::is_directory(path) ? folders : files);
    }
    std::string folder_;
};

struct Folder {
    QTemporaryDir dir;
    std::string path() const { return dir.path().toStdString(); }
    std::string run() const { return path() + "/run"; }
    Folder() { ::chmod(dir.path().toLocal8Bit().constData(), 0755); }
};

} // namespace

class TestStoreDamage : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aNewerSchemaIsRefusedAndNotTouched()
    {
        Folder folder;
        makeRun(folder.run(), false);
        (void)ProjectStore::create(folder.path(), "toy-mlp");
        for (const std::string& file : {folder.run() + "/run.db", folder.path() + "/lockstep.db"}) {
            std::string bytes = contents(file);
            bytes[63] = 99; // user_version, big-endian at byte 60
            write(file, bytes);
        }
        const Result<RunReader> reader = RunReader::open(folder.run());
        QVERIFY(!reader.ok());
        QVERIFY(reader.error().kind == ErrorKind::NewerSchema);
        QVERIFY(reader.error().sentence().find("schema is 99") != std::string::npos);
        const std::string before = contents(folder.path() + "/lockstep.db");
        const Result<ProjectStore> project = ProjectStore::open(folder.path());
        QVERIFY(!project.ok());
        QVERIFY(project.error().kind == ErrorKind::NewerSchema);
        QCOMPARE(project.error().exitCode(), 3);
        QCOMPARE(contents(folder.path() + "/lockstep.db"), before);
    }

    void whatIsNotARunSaysSo()
    {
        Folder folder;
        fs::create_directories(folder.run());
        QVERIFY(RunReader::open(folder.run()).error().kind == ErrorKind::NotFound);
        QVERIFY(ProjectStore::open(folder.path()).error().kind == ErrorKind::NotFound);
        for (const std::string& bytes : {std::string(), std::string("hello"), std::string(4096, 'x')}) {
            write(folder.run() + "/run.db", bytes);
            const Result<RunReader> reader = RunReader::open(folder.run());
            QVERIFY(!reader.ok());
            QVERIFY(reader.error().kind == ErrorKind::Corrupt);
        }
        // A project file is no run.
        QVERIFY(ProjectStore::create(folder.path(), "").ok());
        fs::copy_file(folder.path() + "/lockstep.db", folder.run() + "/run.db",
                      fs::copy_options::overwrite_existing);
        QVERIFY(RunReader::open(folder.run()).error().kind == ErrorKind::Corrupt);
    }

    void aRunIsWrittenOnce()
    {
        Folder folder;
        makeRun(folder.run(), false);
        const Result<RunWriter> again = RunWriter::create(folder.run());
        QVERIFY(!again.ok());
        QVERIFY(again.error().kind == ErrorKind::Input);
        QCOMPARE(readAll(folder.run()), std::string());
    }

    void cutFilesAreDamagedNeverWrong()
    {
        Folder folder;
        makeRun(folder.run(), false);
        const std::string file = folder.run() + "/run.db";
        const std::string whole = contents(file);
        QCOMPARE(readAll(folder.run()), std::string());
        for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 61) {
            write(file, whole.substr(0, size));
            ErrorKind kind = ErrorKind::Usage;
            const std::string problem = readAll(folder.run(), &kind);
            QVERIFY2(!problem.empty() && problem != "WRONG VALUE" && problem != "LOST VALUES",
                     std::to_string(size).c_str());
            QVERIFY2(kind == ErrorKind::Corrupt, problem.c_str());
        }
    }

    void scribbledFilesNeverCrashAndNeverGiveWrongValues()
    {
        Folder folder;
        makeRun(folder.run(), false);
        const std::string file = folder.run() + "/run.db";
        const std::string whole = contents(file);
        std::mt19937_64 random(1);
        int found = 0;
        for (int round = 0; round < 300; ++round) {
            std::string bytes = whole;
            for (int hit = 1 + int(random() % 8); hit > 0; --hit)
                bytes[random() % bytes.size()] = char(random());
            write(file, bytes);
            const std::string problem = readAll(folder.run());
            QVERIFY2(problem != "WRONG VALUE", std::to_string(round).c_str());
            found += !problem.empty();
        }
        QVERIFY(found > 150); // most bytes are values, and values are hashed
    }

    void readOnlyFoldersOpen_data()
    {
        QTest::addColumn<bool>("commitsInWal");
        QTest::newRow("finished") << false;
        QTest::newRow("copied-with-commits-in-the-wal") << true;
    }
    void readOnlyFoldersOpen()
    {
        QFETCH(bool, commitsInWal);
        Folder folder;
        (void)ProjectStore::create(folder.path() + "/project", "toy-mlp");
        const std::string original = folder.path() + "/project/runs/original";
        const auto writer = makeRun(original, commitsInWal);
        // A copy of a living run: its -wal file holds nearly everything, there is no -shm file.
        const std::string copy = folder.path() + "/project/runs/copy";
        fs::create_directories(copy);
        fs::copy_file(original + "/run.db", copy + "/run.db");
        if (commitsInWal) {
            QVERIFY(fs::file_size(original + "/run.db-wal") > 0);
            fs::copy_file(original + "/run.db-wal", copy + "/run.db-wal");
        }
        const ReadOnly guard(folder.path());
        const std::string seen = asStranger([&] {
            Result<ProjectStore> project = ProjectStore::open(folder.path() + "/project");
            if (!project.ok())
                return project.error().sentence();
            if (project->info().workload != "toy-mlp")
                return std::string("no workload");
            RunInfo run;
            const Result<RunInfo> added = project->addRun(run);
            if (added.ok() || added.error().kind != ErrorKind::Io)
                return std::string("writing should be refused");
            return readAll(copy);
        });
        QCOMPARE(seen, std::string());
        QVERIFY(!fs::exists(copy + "/run.db-shm"));
    }

    void aCopiedProjectOpensElsewhere()
    {
        Folder folder;
        std::string id;
        {
            Result<ProjectStore> project = ProjectStore::create(folder.path() + "/one", "digits-cnn");
            QVERIFY(project.ok());
            RunInfo run;
            run.name = "single";
            id = project->addRun(run)->id;
            makeRun(project->run(id)->folder, false);
        }
        fs::copy(folder.path() + "/one", folder.path() + "/two with spaces %20 ü?",
                 fs::copy_options::recursive);
        fs::remove_all(folder.path() + "/one");
        Result<ProjectStore> moved = ProjectStore::open(folder.path() + "/two with spaces %20 ü?");
        QVERIFY2(moved.ok(), moved.ok() ? "" : moved.error().sentence().c_str());
        QCOMPARE(readAll(moved->run("single")->folder), std::string());
    }

    void anUnwritableFolderIsAnIoError()
    {
        Folder folder;
        const ReadOnly guard(folder.path());
        const std::string seen = asStranger([&] {
            const Result<ProjectStore> project = ProjectStore::create(folder.path(), "");
            const Result<RunWriter> writer = RunWriter::create(folder.run());
            return std::string(!project.ok() && project.error().kind == ErrorKind::Io && !writer.ok() &&
                                       writer.error().kind == ErrorKind::Io
                                   ? "refused"
                                   : "not refused");
        });
        QCOMPARE(seen, std::string("refused"));
    }
};

QTEST_GUILESS_MAIN(TestStoreDamage)
#include "tst_store_damage.moc"
