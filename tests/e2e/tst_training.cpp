// Real training from the command line: single and DDP, stop, crash, torchrun.
#include "core/wire/codec.h"
#include "tests/e2e/cli_runner.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <memory>

using namespace lockstep;
using namespace lockstep::e2e;

namespace {

// What a recorded stream holds, read to its end.
struct StreamContents {
    wire::Hello hello;
    std::vector<StepRecord> steps;
    std::optional<wire::Goodbye> goodbye;
    std::string problem;
};

StreamContents readStream(const QString& path)
{
    StreamContents contents;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        contents.problem = "no file";
        return contents;
    }
    const QByteArray bytes = file.readAll();
    wire::FrameReader reader;
    reader.feed(bytes.constData(), std::size_t(bytes.size()));
    for (wire::Frame frame;;) {
        const Result<bool> complete = reader.next(frame);
        if (!complete)
            contents.problem = complete.error().sentence();
        if (!complete || !complete.value())
            return contents;
        if (frame.kind == wire::FrameKind::Hello) {
            if (auto hello = wire::decodeHello(frame.payload); hello.ok())
                contents.hello = hello.value();
        } else if (frame.kind == wire::FrameKind::Step) {
            const auto step = wire::decodeStep(frame.payload);
            if (step)
                contents.steps.push_back(step.value());
            else
                contents.problem = step.error().sentence();
        } else if (frame.kind == wire::FrameKind::Goodbye) {
            if (auto goodbye = wire::decodeGoodbye(frame.payload); goodbye.ok())
                contents.goodbye = goodbye.value();
        }
    }
}

} // namespace

class TestTraining : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<Cli> cli_;
    QString project_;

    CliResult run(const QStringList& arguments) const
    {
        return cli_->run(QStringList{"run", project_, "--json"} + arguments);
    }

    // Starts an endless DDP run and returns once it has committed steps.
    std::unique_ptr<QProcess> startEndless() const
    {
        auto process = cli_->start({"run", project_, "--json", "--mode", "ddp", "--steps", "100000000"});
        const auto recorded = [&] {
            const auto json = cli_->run({"export", project_, "ddp-w2-01", "--series", "loss", "--json"});
            return json.exitCode == 0;
        };
        if (!QTest::qWaitFor(recorded, 30000))
            qWarning("the run records nothing");
        return process;
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (!hasRealWorker())
            QSKIP(kNoWorker);
    }
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        cli_ = std::make_unique<Cli>(realWorker());
        project_ = folder_->filePath(QStringLiteral("p"));
        QCOMPARE(cli_->run({"init", project_, "--workload", "toy-mlp"}).exitCode, 0);
    }
    void cleanup() { QVERIFY(cli_->nothingLeft()); }

    void singleAndDdpTrainCompareAndExport()
    {
        QCOMPARE(run({"--mode", "single", "--align-world", "2", "--steps", "40", "--name", "one"}).exitCode,
                 0);
        QCOMPARE(run({"--mode", "ddp", "--world", "2", "--steps", "40", "--name", "two"}).exitCode, 0);
        QCOMPARE(run({"--mode", "ddp", "--world", "2", "--steps", "40", "--name", "again"}).exitCode, 0);

        const CliResult repeat = cli_->run({"compare", project_, "two", "again", "--json"});
        QCOMPARE(repeat.exitCode, 0);
        QVERIFY(repeat.json()["compared"]["param_fingerprint"].GetInt() >= 82); // step 0 counts

        const CliResult same = cli_->run({"compare", project_, "one", "two", "--mode", "rel:1e-4", "--json"});
        QVERIFY2(same.exitCode == 0, same.out.constData());
        QVERIFY(same.json()["compared"].HasMember("loss"));

        const auto exported =
            cli_->run({"export", project_, "two", "--series", "loss,param_fingerprint", "--json"}).json();
        QCOMPARE(exported["series"].Size(), 4u);
        for (const auto& series : exported["series"].GetArray())
            QCOMPARE(series["steps"][series["steps"].Size() - 1].GetInt(), 40);
        // DDP keeps the parameters of all ranks equal, in every bit, at every step.
        std::vector<const rapidjson::Value*> fingerprints;
        for (const auto& series : exported["series"].GetArray())
            if (std::string(series["quantity"].GetString()) == "param_fingerprint")
                fingerprints.push_back(&series);
        QCOMPARE(fingerprints.size(), std::size_t(2));
        QVERIFY((*fingerprints[0])["values"] == (*fingerprints[1])["values"]);
    }

    void aRunGoesOnFromItsCheckpoint()
    {
        QCOMPARE(run({"--mode", "ddp", "--steps", "20", "--batch", "16", "--dropout", "0.2",
                      "--checkpoint-every", "10", "--name", "whole"})
                     .exitCode,
                 0);
        const QString file = project_ + QStringLiteral("/runs/whole-01/checkpoints/step_00000010.pt");
        // Everything but the name comes from the checkpoint.
        QCOMPARE(run({"--resume", file, "--name", "again"}).exitCode, 0);
        const CliResult same = cli_->run({"compare", project_, "whole", "again", "--json"});
        QVERIFY2(same.exitCode == 0, same.out.constData());
        QCOMPARE(same.json()["compared"]["param_fingerprint"].GetInt(), 20); // two ranks, ten steps

        QCOMPARE(run({"--resume", file, "--mode", "single", "--name", "alone"}).exitCode, 0);
        const CliResult alone = cli_->run({"compare", project_, "whole", "alone", "--mode", "rel:1e-5",
                                           "--series", "loss,grad_norm", "--json"});
        QVERIFY2(alone.exitCode == 0, alone.out.constData());

        const CliResult three = run({"--resume", file, "--world", "3"});
        QCOMPARE(three.exitCode, 3);
        QVERIFY(std::string(three.json()["first_failure"]["sentence"].GetString()).find("3 ranks") !=
                std::string::npos);
        const CliResult over = run({"--resume", file, "--steps", "10"});
        QCOMPARE(over.exitCode, 3);
    }

    void aFileThatIsNoCheckpointIsRefused()
    {
        const QString file = folder_->filePath(QStringLiteral("not.pt"));
        QFile text(file);
        QVERIFY(text.open(QIODevice::WriteOnly));
        text.write("hello");
        text.close();
        const CliResult result = cli_->run({"run", project_, "--resume", file});
        QCOMPARE(result.exitCode, 3);
    }

    void aFaultShowsAtItsFirstStep()
    {
        QCOMPARE(run({"--mode", "ddp", "--steps", "10", "--name", "good"}).exitCode, 0);
        QCOMPARE(run({"--mode", "ddp", "--steps", "10", "--name", "bad", "--fault", "B2"}).exitCode, 0);
        const CliResult result = cli_->run({"compare", project_, "good", "bad", "--json"});
        QCOMPARE(result.exitCode, 1);
        const auto json = result.json();
        QCOMPARE(json["origin"]["step"].GetInt(), 1);
        QCOMPARE(json["origin"]["quantity"].GetString(), "grad_norm_local");
    }

    void causesOfTheSameBitsAreToldApartByAnotherCount_data()
    {
        // At world 2 and two micro-batches the one is the same bits as the other.
        QTest::addColumn<QString>("planted");
        QTest::addColumn<QStringList>("further");
        QTest::newRow("B2") << QStringLiteral("B2") << QStringList();
        QTest::newRow("B6") << QStringLiteral("B6") << QStringList();
        // Only a replay shows the causes then.
        QTest::newRow("B6 behind random masks")
            << QStringLiteral("B6") << QStringList{QStringLiteral("--dropout"), QStringLiteral("0.2")};
    }

    void causesOfTheSameBitsAreToldApartByAnotherCount()
    {
        QFETCH(QString, planted);
        QFETCH(QStringList, further);
        const QStringList both = QStringList{"--accumulate", "2", "--steps", "4", "--batch", "8"} + further;
        QCOMPARE(run(QStringList{"--mode", "single", "--align-world", "2", "--name", "one"} + both).exitCode,
                 0);
        QCOMPARE(run(QStringList{"--mode", "ddp", "--world", "2", "--fault", planted, "--name", "bad"} + both)
                     .exitCode,
                 0);
        QStringList diagnose{"diagnose", project_, "one", "bad", "--json"};
        if (!further.isEmpty())
            diagnose << "--prove";
        const auto found = cli_->run(diagnose).json();
        QCOMPARE(found["findings"][0]["causes"].Size(), 2U);
        const CliResult told = cli_->run({"diagnose", project_, "one", "bad", "--separate", "--json"});
        QVERIFY2(told.exitCode == 1, told.error.constData());
        const auto json = told.json();
        const auto& separates = json["separates"];
        QCOMPARE(separates["setting"]["key"].GetString(), "accumulate");
        QCOMPARE(separates["setting"]["value"].GetInt(), 3);
        QCOMPARE(separates["remains"].Size(), 1U);
        QCOMPARE(QString(separates["remains"][0].GetString()), planted);
        QCOMPARE(QString(json["findings"][0]["cause"].GetString()), planted);
        // Told once, nothing is left to tell apart.
        const CliResult again = cli_->run({"diagnose", project_, "one", "bad", "--separate"});
        QCOMPARE(again.exitCode, 3);
        QVERIFY(again.error.contains("No run can tell causes apart"));
    }

    void unknownNamesAreRefusedByTheEngine()
    {
        const CliResult workload = run({"--workload", "resnet"});
        QCOMPARE(workload.exitCode, 2);
        QVERIFY2(workload.error.contains("toy-mlp"), workload.error.constData());
        const CliResult fault = run({"--fault", "Q9"});
        QCOMPARE(fault.exitCode, 2);
        QVERIFY2(fault.error.contains("Q9"), fault.error.constData());
    }

    void sigtermFinishesTheStepAndSaves()
    {
        const auto process = startEndless();
        QVERIFY(sendSignal(process->processId(), SIGTERM));
        const CliResult result = Cli::wait(*process);
        QCOMPARE(result.exitCode, 143);
        const auto json = result.json();
        QCOMPARE(json["state"].GetString(), "stopped");
        QCOMPARE(json["exit"][0].GetInt(), 143);
        QCOMPARE(json["exit"][1].GetInt(), 143);
        const QString checkpoint = QStringLiteral("%1/runs/ddp-w2-01/checkpoints/step_%2.pt")
                                       .arg(project_)
                                       .arg(json["last_step"].GetInt64(), 8, 10, QLatin1Char('0'));
        QVERIFY2(QFile::exists(checkpoint), qPrintable(checkpoint));
    }

    void sigtermToOneRankStopsTheRun()
    {
        const auto process = startEndless();
        QVERIFY(sendSignal(cli_->processes("RANK=1").value(0), SIGTERM));
        const CliResult result = Cli::wait(*process);
        QCOMPARE(result.exitCode, 143);
        QCOMPARE(result.json()["state"].GetString(), "stopped");
    }

    void aHangingRankIsNamedAndEnded()
    {
        auto process = cli_->start({"run", project_, "--json", "--mode", "ddp", "--steps", "100000000",
                                    "--collective-timeout", "3"});
        QVERIFY(QTest::qWaitFor(
            [&] {
                return cli_->run({"export", project_, "ddp-w2-01", "--series", "loss"}).exitCode == 0;
            },
            30000));
        QVERIFY(sendSignal(cli_->processes("RANK=1").value(0), SIGSTOP));
        const CliResult result = Cli::wait(*process);
        QCOMPARE(result.exitCode, 4);
        const auto json = result.json();
        QCOMPARE(json["first_failure"]["rank"].GetInt(), 1);
        QVERIFY2(std::string(json["first_failure"]["sentence"].GetString())
                     .starts_with("Rank 1 stopped answering"),
                 json["first_failure"]["sentence"].GetString());
    }

    void torchrunStartsTheSameWorker()
    {
        const QString torchrun =
            QFileInfo(QStringLiteral(LOCKSTEP_VENV_PYTHON)).dir().filePath(QStringLiteral("torchrun"));
        if (!QFileInfo(torchrun).isExecutable())
            QSKIP("torchrun is missing in .venv. Install torch 2.15.0 there with ./dev setup.");
        const QString config = folder_->filePath(QStringLiteral("config.json"));
        QFile file(config);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"x({"mode":"ddp","world":2,"workload":"toy-mlp","steps":12})x");
        file.close();
        QProcess process;
        process.setProcessChannelMode(QProcess::MergedChannels);
        // torchrun hosts the rendezvous store; each rank writes its own stream.
        process.start(torchrun, {"--no-python", "--standalone", "--nproc-per-node", "2", "/bin/sh", "-c",
                                 "exec \"$0\" --config \"$1\" --stream \"$2/rank$RANK.stream\"", realWorker(),
                                 config, folder_->path()});
        QVERIFY(process.waitForFinished(120000));
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0,
                 process.readAll().constData());
        // The same run through our own host, as the judge.
        QCOMPARE(run({"--mode", "ddp", "--world", "2", "--steps", "12"}).exitCode, 0);
        const auto json =
            cli_->run({"export", project_, "ddp-w2", "--series", "param_fingerprint", "--json"}).json();
        for (int rank : {0, 1}) {
            const StreamContents stream =
                readStream(folder_->filePath(QStringLiteral("rank%1.stream").arg(rank)));
            QCOMPARE(stream.problem, std::string());
            QCOMPARE(stream.hello.rank, rank);
            QCOMPARE(stream.hello.world, 2);
            QVERIFY(stream.goodbye.has_value());
            QCOMPARE(stream.goodbye->kind, std::string("finished"));
            QCOMPARE(stream.steps.size(), std::size_t(13)); // steps 0 to 12
            for (const StepValue& value : stream.steps.back().values)
                if (value.quantity == Quantity::ParamFingerprint)
                    QCOMPARE(value.bits, json["series"][rapidjson::SizeType(rank)]["values"][12].GetUint64());
        }
    }
};

QTEST_GUILESS_MAIN(TestTraining)
#include "tst_training.moc"
