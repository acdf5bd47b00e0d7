// A configuration as a command line: every key that matters must come out, or a repeated run would be another run.
#include "app/gui/run_arguments.h"
#include "app/gui/script_arguments.h"
#include "ui/models/shell_words.h"

#include <QFile>
#include <QProcess>
#include <QTest>

using namespace lockstep;

class RunArgumentsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void onlyDifferencesAreWritten()
    {
        QCOMPARE(runArguments({}), QStringList({"--mode", "single", "--workload", "toy-mlp"}));
        RunConfig config;
        config.mode = "ddp";
        config.world = 4;
        config.lr = 0.1;
        QCOMPARE(runArguments(config),
                 QStringList({"--mode", "ddp", "--workload", "toy-mlp", "--world", "4", "--lr", "0.1"}));
    }

    void everyKeyOfTheConfigurationComesOut()
    {
        RunConfig c;
        c.name = "n";
        c.mode = "ddp";
        c.workload = "digits-cnn";
        c.world = 3;
        c.alignWorld = 5;
        c.joinFrom = 2;
        c.dataWorld = 6;
        c.batch = 6;
        c.steps = 7;
        c.epochs = 8;
        c.order = "python";
        c.shuffle = false;
        c.dropLast = true;
        c.seed = 9;
        c.samplerSeed = 10;
        c.optimizer = "sgd";
        c.lr = 0.1234567890123456;
        c.momentum = 0.8;
        c.weightDecay = 0.01;
        c.scheduler = "step";
        c.schedulerPeriod = 11;
        c.clipNorm = 1.5;
        c.clipValue = 2.5;
        c.accumulate = 12;
        c.amp = "bf16";
        c.scalerScale = 1024;
        c.scalerGrowthInterval = 16;
        c.backend = "nccl";
        c.device = "cuda";
        c.reduction = "ordered";
        c.findUnused = true;
        c.staticGraph = true;
        c.bucketView = true;
        c.bucketMb = 3.5;
        c.broadcastBuffers = false;
        c.dropout = 0.25;
        c.threads = 13;
        c.record = "tensor";
        c.keepSteps = "2,5-9";
        c.checkpointEvery = 14;
        c.logEvery = 17;
        c.evalEvery = 19;
        c.freeze = "0.";
        c.freezeUntil = 18;
        c.collectiveTimeoutSeconds = 15;
        c.resume = "/a b/c.pt";
        c.faults = {{"B6", {{"k", "2"}}}, {"B2", {}}};
        c.workloadOptions = {{"ragged", "1"}};
        const QStringList words = runArguments(c);
        const RunConfig standard;
        const auto plain = flatten(standard);
        for (const auto& [key, value] : flatten(c)) {
            const auto usual =
                std::find_if(plain.begin(), plain.end(), [&](const auto& p) { return p.first == key; });
            if (usual != plain.end())
                QVERIFY2(usual->second != value, ("not set by this test: " + key).c_str());
        }
        for (const char* option : {"--align-world",
                                   "--join-from",
                                   "--batch",
                                   "--steps",
                                   "--epochs",
                                   "--order",
                                   "--no-shuffle",
                                   "--drop-last",
                                   "--seed",
                                   "--sampler-seed",
                                   "--optimizer",
                                   "--lr",
                                   "--momentum",
                                   "--weight-decay",
                                   "--scheduler",
                                   "--scheduler-period",
                                   "--clip-norm",
                                   "--clip-value",
                                   "--accumulate",
                                   "--amp",
                                   "--backend",
                                   "--device",
                                   "--reduction",
                                   "--find-unused",
                                   "--static-graph",
                                   "--bucket-view",
                                   "--bucket-mb",
                                   "--no-broadcast-buffers",
                                   "--dropout",
                                   "--threads",
                                   "--record",
                                   "--checkpoint-every",
                                   "--log-every",
                                   "--eval-every",
                                   "--freeze",
                                   "--freeze-until",
                                   "--collective-timeout",
                                   "--resume",
                                   "--fault",
                                   "--workload-option",
                                   "--name"})
            QVERIFY2(words.contains(QLatin1String(option)), option);
        QVERIFY(words.contains(QStringLiteral("0.1234567890123456"))); // every digit
        QVERIFY(words.contains(QStringLiteral("B6,k=2")));
        QVERIFY(shellLine(words).contains(QStringLiteral("'/a b/c.pt'")));
    }

    void aScriptIsStartedAsItIsTyped()
    {
        ScriptRun script;
        script.command.words = {"/v/bin/python", "train me.py", "--lr", "1"};
        QCOMPARE(probeArguments(script),
                 QStringList({"--single", "--", "/v/bin/python", "train me.py", "--lr", "1"}));
        script.name = QStringLiteral("mine");
        script.command.words = {"torchrun", "--nproc-per-node", "2", "t.py"};
        script.command.world = 2;
        script.command.ddp = true;
        script.command.metric = "loss=(.*)";
        script.command.threads = 3;
        QCOMPARE(probeArguments(script),
                 QStringList({"--name", "mine", "--ddp", "--threads", "3", "--metric", "loss=(.*)", "--",
                              "torchrun", "--nproc-per-node", "2", "t.py"}));
        script.command.words = {"accelerate", "launch", "t.py"}; // does not say its ranks
        QVERIFY(probeArguments(script).join(QLatin1Char(' ')).contains(QStringLiteral("--world 2")));
    }

    void anInterpreterIsKnownByItsTorch()
    {
        const QString path = QStringLiteral("/v/bin/python");
        const InterpreterFacts good =
            interpreterFacts(path, 0, "a banner\n\n[\"3.11.2\", \"2.15.0+cpu\"]\n", "a warning");
        QCOMPARE(good.torch, QStringLiteral("2.15.0+cpu"));
        QVERIFY(good.error.isEmpty());
        QVERIFY(interpreterFacts(path, 1, "", "Traceback\nModuleNotFoundError: No module named 'torch'\n")
                    .error.contains(QStringLiteral("No module named 'torch'")));
        QVERIFY(interpreterFacts(path, 0, "[\"3.8\", \"1.13.1\"]", "")
                    .error.contains(QStringLiteral("2.1 or newer")));
        for (const InterpreterFacts& bad :
             {interpreterFacts(path, -1, "", ""), interpreterFacts(path, 0, "", ""),
              interpreterFacts(path, 0, "hello", "")})
            QVERIFY(bad.error.endsWith(QLatin1Char('.')));
    }

    void theCommandLineProgramKnowsEveryOption()
    {
        const QString cli = QStringLiteral(LOCKSTEP_BIN_DIR "/lockstep-cli");
        if (!QFile::exists(cli))
            QSKIP("lockstep-cli is not built; ./dev build makes it");
        QProcess process;
        process.start(cli, {QStringLiteral("run"), QStringLiteral("--help")});
        QVERIFY(process.waitForFinished());
        const QString help = QString::fromUtf8(process.readAllStandardOutput());
        QFile source(QStringLiteral(LOCKSTEP_SOURCE_DIR "/app/gui/run_arguments.cpp"));
        QVERIFY(source.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(source.readAll());
        qsizetype found = 0;
        for (auto at = text.indexOf(QStringLiteral("\"--")); at >= 0;
             at = text.indexOf(QStringLiteral("\"--"), at + 1)) {
            const QString option = text.mid(at + 1, text.indexOf(QLatin1Char('"'), at + 1) - at - 1);
            QVERIFY2(help.contains(option), qPrintable(option));
            ++found;
        }
        QVERIFY(found > 30);
    }
};

QTEST_GUILESS_MAIN(RunArgumentsTest)
#include "tst_run_arguments.moc"
