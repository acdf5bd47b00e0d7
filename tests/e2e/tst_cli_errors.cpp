// Bad input and bad surroundings: an exit code, and one sentence of what, why and what to do on standard error.
#include "core/store/run_reader.h"
#include "tests/e2e/cli_runner.h"

#include <QFile>
#include <QProcess>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace lockstep;
using namespace lockstep::e2e;

class TestCliErrors : public ProjectTest
{
    Q_OBJECT

    // Bytes of a file replaced in place.
    static void overwrite(const QString& path, qint64 at, const QByteArray& bytes)
    {
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.seek(at));
        QCOMPARE(file.write(bytes), bytes.size());
    }

    static QByteArray read(const QString& path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    static void isOneSentence(const CliResult& result, int exitCode, const char* word)
    {
        QCOMPARE(result.exitCode, exitCode);
        QVERIFY2(result.error.contains(word), result.error.constData());
        QVERIFY(result.error.startsWith("lockstep-cli: "));
        QCOMPARE(result.error.count('\n'), 1);
    }

    // A worker that is a shell script.
    QString script(const QByteArray& text) const
    {
        const QString path = folder_->filePath(QStringLiteral("worker"));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            qFatal("no script");
        file.write("#!/bin/sh\n" + text);
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return path;
    }

private Q_SLOTS:
    void init() { QVERIFY(makeProject(QStringLiteral(LOCKSTEP_FAKE_WORKER))); }
    void cleanup() { QVERIFY(cli_->nothingLeft()); }

    void wrongUsageIsExitCode2_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QByteArray>("word");
        using L = QStringList;
        using B = QByteArray;
        QTest::newRow("nothing") << L{} << B("subcommand");
        QTest::newRow("unknown command") << L{"fly"} << B("fly");
        QTest::newRow("unknown option") << L{"run", "DIR", "--fast"} << B("--fast");
        QTest::newRow("no folder") << L{"run"} << B("is required");
        QTest::newRow("word for a number") << L{"run", "DIR", "--steps", "many"} << B("--steps");
        QTest::newRow("unknown mode") << L{"run", "DIR", "--mode", "magic"} << B("single, ddp, fsdp, twin");
        QTest::newRow("negative batch") << L{"run", "DIR", "--batch", "-1"} << B("--batch");
        QTest::newRow("NaN rate") << L{"run", "DIR", "--lr", "nan"} << B("--lr");
        QTest::newRow("world of a single run") << L{"run", "DIR", "--world", "2"} << B("--world");
        QTest::newRow("nccl on a CPU") << L{"run", "DIR", "--mode", "ddp", "--backend", "nccl"} << B("NCCL");
        QTest::newRow("folder without a name") << L{"init", ""} << B("Name a folder");
        QTest::newRow("empty checkpoint") << L{"run", "DIR", "--resume", ""} << B("--resume");
        QTest::newRow("broken fault") << L{"run", "DIR", "--fault", "k=2"} << B("--fault");
        QTest::newRow("broken option") << L{"run", "DIR", "--workload-option", "x"} << B("--workload-option");
    }
    void wrongUsageIsExitCode2()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QByteArray, word);
        arguments.replaceInStrings(QStringLiteral("DIR"), project_);
        const CliResult result = cli_->run(arguments);
        isOneSentence(result, 2, word.constData());
        QVERIFY(result.out.isEmpty());
        QVERIFY(cli_->run({"runs", project_, "--json"}).json().Empty()); // nothing was started
    }

    void aNumberNoRunCanUseIsExitCode2_data()
    {
        QTest::addColumn<QString>("option");
        QTest::addColumn<QString>("value");
        for (const auto& [option, values] : std::initializer_list<std::pair<const char*, QStringList>>{
                 {"--batch", {"9223372036854775807", "99999999999999999999"}},
                 {"--steps", {"-99999999999999999999"}},
                 {"--seed", {"18446744073709551616"}},
                 {"--world", {"4294967298"}},
                 {"--lr", {"inf", "nan"}},
                 {"--momentum", {"inf"}},
                 {"--weight-decay", {"inf", "1e308"}},
                 {"--dropout", {"nan", "-1", "1e20"}},
                 {"--clip-norm", {"nan", "inf", "1e308"}},
                 {"--clip-value", {"nan", "inf", "1e308"}},
                 {"--scaler-scale", {"inf"}},
                 {"--bucket-mb", {"inf"}},
                 {"--silence", {"nan", "-1", "inf"}},
                 {"--stop-grace", {"-1", "2147483647"}},
                 {"--checkpoint-every", {"-1"}},
                 {"--collective-timeout", {"nan", "-1", "inf", "1e308"}}})
            for (const QString& value : values)
                QTest::addRow("%s %s", option, qPrintable(value)) << QString(option) << value;
    }
    void aNumberNoRunCanUseIsExitCode2()
    {
        QFETCH(QString, option);
        QFETCH(QString, value);
        isOneSentence(cli_->run({"run", project_, option, value}), 2, qPrintable(option));
        QVERIFY(cli_->run({"runs", project_, "--json"}).json().Empty()); // nothing was started
    }

    void aProjectIsNotMadeTwice()
    {
        const CliResult result = cli_->run({"init", project_});
        QCOMPARE(result.exitCode, 3);
        QVERIFY(result.error.contains(project_.toUtf8()));
    }

    void aFolderThatCannotBeWrittenIsNamed()
    {
        isOneSentence(cli_->run({"init", "/proc/lockstep"}), 3, "/proc/lockstep");
    }

    void everyCommandRefusesAFolderThatIsNoProject()
    {
        const QString empty = folder_->path();
        for (const QStringList& arguments :
             {QStringList{"run", empty}, QStringList{"runs", empty}, QStringList{"export", empty, "x"},
              QStringList{"compare", empty, "x", "y"}, QStringList{"stop", empty, "x"}})
            isOneSentence(cli_->run(arguments), 3, "project");
    }

    void anAnswerThatCannotBeWrittenIsSaid()
    {
        isOneSentence(cli_->runLimited("exec >/dev/full", {"runs", project_}), 3, "standard output");
        QCOMPARE(cli_->runLimited("exec 2>/dev/full", {"fly"}).exitCode, 2); // nobody hears the sentence
        QCOMPARE(cli_->runLimited("exec 2>&-", {"runs", folder_->path()}).exitCode, 3);
    }

    void aGateDoesNotPassOverAConfigurationItCannotRead()
    {
        QCOMPARE(cli_->run({"run", project_, "--steps", "5"}).exitCode, 0);
        QCOMPARE(QProcess::execute("sqlite3", {project_ + "/lockstep.db", "UPDATE run SET config = '[1,2'"}),
                 0);
        isOneSentence(cli_->run({"gate", project_, "preflight"}), 3, "single-01");
    }

    void aFileThatIsNoFileIsNamed()
    {
        QCOMPARE(cli_->run({"run", project_, "--steps", "5", "--name", "one"}).exitCode, 0);
        QCOMPARE(cli_->run({"run", project_, "--mode", "ddp", "--steps", "5", "--name", "two"}).exitCode, 0);
        QVERIFY(QDir().mkdir(project_ + "/envelope.json"));
        isOneSentence(cli_->run({"compare", project_, "one", "two"}), 3, "envelope.json");
    }

    void aMissingWorkerIsNamed()
    {
        cli_->setEnvironment(QStringLiteral("LOCKSTEP_WORKER"),
                             QStringLiteral("/nonexistent/lockstep-worker"));
        isOneSentence(cli_->run({"run", project_}), 3, "/nonexistent/lockstep-worker");
    }

    void aMissingLibTorchIsNamed()
    {
        const QString worker =
            script("echo 'lockstep-worker: error while loading shared libraries: libtorch_cpu.so: "
                   "cannot open shared object file: No such file or directory' >&2; exit 127\n");
        cli_->setEnvironment(QStringLiteral("LOCKSTEP_WORKER"), worker);
        const CliResult result = cli_->run({"run", project_, "--mode", "ddp", "--json"});
        QCOMPARE(result.exitCode, 3);
        const std::string sentence = result.json()["first_failure"]["sentence"].GetString();
        QVERIFY(sentence.find("libtorch_cpu.so") != std::string::npos);
        QVERIFY(sentence.find("./dev setup") != std::string::npos);
    }

    void aWorkerThatIsNoProgramIsNamed()
    {
        const QString worker = script("");
        overwrite(worker, 0, "\x01\x02");
        cli_->setEnvironment(QStringLiteral("LOCKSTEP_WORKER"), worker);
        const CliResult result = cli_->run({"run", project_, "--json"});
        QCOMPARE(result.exitCode, 3);
        QCOMPARE(result.json()["state"].GetString(), "failed");
    }

    void whatTheWorkerCannotUseIsExitCode3()
    {
        const CliResult result = cli_->run(
            {"run", project_, "--json", "--workload-option", "fake.all=unusable@0", "--mode", "ddp"});
        QCOMPARE(result.exitCode, 3);
        QCOMPARE(result.json()["first_failure"]["sentence"].GetString(),
                 "The fault Q9 is unknown. It is not in the catalogue. Choose another one.");
    }

    void aPortInUseIsNamed()
    {
        QTcpServer other;
        QVERIFY(other.listen(QHostAddress::LocalHost));
        const QString port = QString::number(other.serverPort());
        isOneSentence(cli_->run({"run", project_, "--mode", "ddp", "--master-port", port}), 3,
                      qPrintable(port));
        QVERIFY(cli_->run({"runs", project_, "--json"}).json().Empty());
    }

    void aMissingCheckpointIsNamed()
    {
        isOneSentence(cli_->run({"run", project_, "--resume", "/nonexistent.pt"}), 3, "/nonexistent.pt");
    }

    void aProjectOfANewerVersionIsRefusedAndNotTouched()
    {
        const QString store = project_ + "/lockstep.db";
        overwrite(store, 60, QByteArray("\x00\x00\x03\xe7", 4)); // user_version 999 (SQLite file format, 1.3)
        const QByteArray before = read(store);
        for (const QStringList& arguments : {QStringList{"runs", project_}, QStringList{"run", project_}})
            isOneSentence(cli_->run(arguments), 3, "newer");
        QCOMPARE(read(store), before);
    }

    void aDamagedProjectIsRefused()
    {
        overwrite(project_ + "/lockstep.db", 0, "not a database at all");
        isOneSentence(cli_->run({"runs", project_}), 3, "lockstep.db");
    }

    void aDamagedRunIsRefused()
    {
        QCOMPARE(cli_->run({"run", project_, "--steps", "50"}).exitCode, 0);
        overwrite(project_ + "/runs/single-01/run.db", 0, QByteArray(8192, 'x'));
        QCOMPARE(cli_->run({"export", project_, "single-01"}).exitCode, 3);
        QCOMPARE(cli_->run({"runs", project_}).exitCode, 0); // the project itself is well
    }

    void aFullDiskEndsTheRunAndKeepsWhatWasCommitted()
    {
        // sh counts in blocks of 512 bytes: no file may grow beyond 256 KiB. Writing past it is the same error to the
        // program as a full disk: a write that fails.
        const CliResult result = cli_->runLimited(
            QStringLiteral("ulimit -f 512"),
            {"run", project_, "--json", "--steps", "1000000", "--workload-option", "fake.step_us=20"});
        QCOMPARE(result.exitCode, 4);
        const auto json = result.json();
        QCOMPARE(json["state"].GetString(), "failed");
        const QByteArray sentence = json["first_failure"]["sentence"].GetString();
        QVERIFY2(sentence.startsWith("Recording stopped after step "), sentence.constData());
        QVERIFY2(sentence.contains("space"), sentence.constData());

        Result<RunReader> run = RunReader::open((project_ + "/runs/single-01").toStdString());
        QVERIFY(run.ok());
        const Result<SeriesData> loss = run->read({0, Quantity::Loss, 0});
        QVERIFY(loss.ok());
        QVERIFY(loss->size() > 0);
        for (std::size_t i = 0; i < loss->size(); ++i)
            QCOMPARE(loss->steps[i], std::int64_t(i) + 1);
        QVERIFY(loss->steps.back() >= json["last_step"].GetInt64());
    }

    void aSmallFileSystemThatFillsUpIsTheSame()
    {
        // A file system of 1 MiB in a mount namespace of its own; everything happens inside, the answers come out.
        QProcess process;
        process.start(QStringLiteral("unshare"),
                      {"-m", "/bin/sh", "-c",
                       "mount -t tmpfs -o size=1m none \"$1\" || exit 77\n"
                       "\"$0\" init \"$1/p\" >&2 || exit 78\n"
                       "LOCKSTEP_WORKER=\"$2\" \"$0\" run \"$1/p\" --json --steps 1000000 "
                       "--workload-option fake.step_us=20 >&2\n"
                       "[ $? = 4 ] || exit 79\n"
                       "\"$0\" export \"$1/p\" single-01 --series loss --json",
                       cliProgram(), folder_->filePath(QStringLiteral("p")),
                       QStringLiteral(LOCKSTEP_FAKE_WORKER)});
        if (!process.waitForStarted() || !process.waitForFinished(60000) || process.exitCode() == 1 ||
            process.exitCode() == 77)
            QSKIP("A tmpfs cannot be mounted here. Run the tests as root for this one.");
        const QByteArray said = process.readAllStandardError();
        QVERIFY2(process.exitCode() == 0, said.constData());
        QVERIFY2(said.contains("Recording stopped after step "), said.constData());
        CliResult exported;
        exported.out = process.readAllStandardOutput();
        const auto json = exported.json();
        const auto& steps = json["series"][0]["steps"];
        QVERIFY(steps.Size() > 0);
        for (rapidjson::SizeType i = 0; i < steps.Size(); ++i)
            QCOMPARE(steps[i].GetInt(), int(i) + 1);
    }
};

QTEST_GUILESS_MAIN(TestCliErrors)
#include "tst_cli_errors.moc"
