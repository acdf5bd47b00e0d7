// The documents, texts and exit codes of the commands, with a rank that needs no torch. The forms are an interface other
// programs rely on (docs/cli.md).
#include "app/cli/table.h"
#include "core/base/hexfloat.h"
#include "tests/e2e/cli_runner.h"
#include "tests/support/fake_loss.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <csignal>
#include <memory>

using namespace lockstep;
using namespace lockstep::e2e;

class TestCli : public ProjectTest
{
    Q_OBJECT

    QStringList runArguments(const QStringList& more) const
    {
        return QStringList{"run", project_, "--json"} + more;
    }

    static std::string names(const rapidjson::Value& object)
    {
        std::string all;
        for (const auto& member : object.GetObject())
            all += std::string(all.empty() ? "" : ",") + member.name.GetString();
        return all;
    }

private Q_SLOTS:
    void init() { QVERIFY(makeProject(QStringLiteral(LOCKSTEP_FAKE_WORKER))); }
    void cleanup() { QVERIFY(cli_->nothingLeft()); }

    void aTableLosesTheMiddleOfLongValues()
    {
        Table table({{"check"}, {"number", Align::Right, 20}, {"limit", Align::Right}});
        table.row({"preflight.workload", "AdamW (lr: 0.003, betas: 0.9 0.999, amsgrad: False)",
                   "a long limit stays"});
        table.row({"preflight.lr", "0.003", "0.003"});
        const QString text = QString::fromStdString(table.text());
        QVERIFY2(text.contains(QStringLiteral("AdamW (lr...d: False)")) ||
                     text.contains(QStringLiteral("AdamW (lr...: False)")),
                 qPrintable(text));
        QVERIFY(text.contains(QStringLiteral("a long limit stays")));
        const std::string letters = "\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d";
        for (std::size_t most = 4; most < 30; ++most) { // no character is cut in two
            const std::string cut = shortened(letters, most);
            QVERIFY(cut.size() <= most);
            QCOMPARE(QString::fromStdString(cut).toStdString(), cut);
            QVERIFY(!QString::fromStdString(cut).contains(QChar::ReplacementCharacter));
        }
    }

    void initSaysWhereAndWhichSchema()
    {
        const CliResult result =
            cli_->run({"init", folder_->filePath(QStringLiteral("q")), "--workload", "digits-cnn", "--json"});
        QCOMPARE(result.exitCode, 0);
        const auto json = result.json();
        QVERIFY(QFile::exists(QString::fromUtf8(json["project"].GetString()) + "/lockstep.db"));
        QVERIFY(json["schema"].IsInt() && json["schema"].GetInt() >= 1);
    }

    void aFinishedRun()
    {
        const CliResult result = cli_->run(runArguments({"--mode", "ddp", "--world", "2", "--steps", "20"}));
        QCOMPARE(result.exitCode, 0);
        const auto json = result.json();
        QCOMPARE(json["run"].GetString(), "ddp-w2-01");
        QCOMPARE(json["name"].GetString(), "ddp-w2");
        QCOMPARE(json["state"].GetString(), "finished");
        QCOMPARE(json["exit"].Size(), 2u);
        QCOMPARE(json["exit"][1].GetInt(), 0);
        QVERIFY(json["first_failure"].IsNull());
    }

    void aFailedRunNamesRankStepAndReason()
    {
        const CliResult result = cli_->run(runArguments(
            {"--mode", "ddp", "--steps", "5000", "--workload-option", "fake.step_us=500", "--workload-option",
             "fake.rank1=error@7", "--workload-option", "fake.rank0=echo@8"}));
        QCOMPARE(result.exitCode, 4);
        const auto json = result.json();
        QCOMPARE(json["state"].GetString(), "failed");
        QCOMPARE(json["exit"][1].GetInt(), 1);
        QCOMPARE(json["first_failure"]["rank"].GetInt(), 1);
        QCOMPARE(json["first_failure"]["step"].GetInt(), 7);
        QCOMPARE(json["first_failure"]["sentence"].GetString(),
                 "Rank 1 cannot go on. The test wants it. Change the test.");
    }

    void theTextFormSaysTheSame()
    {
        const CliResult result = cli_->run(
            {"run", project_, "--steps", "5", "--name", "mine", "--workload-option", "fake.rank0=error@3"});
        QCOMPARE(result.exitCode, 4);
        QVERIFY(result.out.startsWith("mine-01  started\nmine-01  failed  step 2"));
        QVERIFY(result.error.contains("Rank 0 cannot go on. The test wants it. Change the test."));
        QVERIFY(!result.error.contains('\x1b')); // no live line where nobody looks
    }

    void sigtermStopsAfterTheStep_data()
    {
        QTest::addColumn<int>("signal");
        QTest::newRow("SIGTERM") << SIGTERM;
        QTest::newRow("SIGINT") << SIGINT;
        QTest::newRow("SIGHUP") << SIGHUP;
    }
    void sigtermStopsAfterTheStep()
    {
        QFETCH(int, signal);
        const auto process = cli_->start(
            runArguments({"--mode", "ddp", "--steps", "1000000", "--workload-option", "fake.step_us=1000"}));
        QTRY_COMPARE(cli_->processes("RANK=1").size(), 1);
        QVERIFY(sendSignal(process->processId(), signal));
        const CliResult result = Cli::wait(*process);
        QCOMPARE(result.exitCode, 128 + signal);
        const auto json = result.json();
        QCOMPARE(json["state"].GetString(), "stopped");
        QCOMPARE(json["exit"][0].GetInt(), 143);
        QCOMPARE(json["exit"][1].GetInt(), 143);
    }

    void runsAreListedNewestFirstWithTheirConfiguration()
    {
        cli_->run(runArguments({"--steps", "3", "--lr", "0.5"}));
        cli_->run(runArguments({"--mode", "ddp", "--steps", "4", "--fault", "B6,k=2"}));
        const CliResult result = cli_->run({"runs", project_, "--json"});
        QCOMPARE(result.exitCode, 0);
        const auto json = result.json();
        QCOMPARE(json.Size(), 2u);
        QCOMPARE(json[0]["run"].GetString(), "ddp-w2-01");
        QCOMPARE(json[1]["run"].GetString(), "single-01");
        QCOMPARE(json[1]["config"]["lr"].GetDouble(), 0.5);
        QCOMPARE(json[1]["environment"]["engine"].GetString(), "fake");
        QCOMPARE(json[0]["config"]["faults"][0]["id"].GetString(), "B6");
        QCOMPARE(json[0]["config"]["faults"][0]["parameters"]["k"].GetString(), "2");
        QVERIFY(names(json[0]).starts_with("run,name,state,exit,first_failure"));
        QVERIFY(cli_->run({"runs", project_}).out.contains("single-01  single  finished  toy-mlp       3"));
    }

    void runsOfGatesAreCountedUnlessAllAreAskedFor()
    {
        cli_->run(runArguments({"--steps", "3"}));
        cli_->run(runArguments({"--steps", "3", "--name", "gate-gradients-baseline"}));
        const QByteArray own = cli_->run({"runs", project_}).out;
        QVERIFY(own.contains("single-01"));
        QVERIFY(!own.contains("gate-gradients-baseline-01"));
        QVERIFY(own.contains("1 run of gates and drills not shown; --all shows it"));
        const QByteArray all = cli_->run({"runs", project_, "--all"}).out;
        QVERIFY(all.contains("single-01") && all.contains("gate-gradients-baseline-01"));
        QVERIFY(!all.contains("not shown"));
        const auto json =
            cli_->run({"runs", project_, "--json"}).json(); // an interface: everything, and what it is
        QCOMPARE(json.Size(), 2u);
        QVERIFY(json[0]["auxiliary"].GetBool());
        QVERIFY(!json[1]["auxiliary"].GetBool());
    }

    void everyOptionReachesTheConfiguration()
    {
        cli_->run(runArguments({"--mode",         "ddp",
                                "--world",        "3",
                                "--workload",     "toy-mlp",
                                "--batch",        "16",
                                "--steps",        "2",
                                "--epochs",       "4",
                                "--align-world",  "5",
                                "--order",        "python",
                                "--seed",         "6",
                                "--sampler-seed", "7",
                                "--optimizer",    "sgd",
                                "--momentum",     "0.25",
                                "--weight-decay", "0.125",
                                "--scheduler",    "cosine",
                                "--clip-norm",    "0.75",
                                "--accumulate",   "2",
                                "--amp",          "bf16",
                                "--reduction",    "ordered",
                                "--find-unused",  "--bucket-view",
                                "--bucket-mb",    "1.5",
                                "--record",       "tensor",
                                "--fault",        "A3",
                                "--fault",        "B6,k=2",
                                "--name",         "all"}));
        const auto json = cli_->run({"runs", project_, "--json"}).json();
        const auto& c = json[0]["config"];
        QCOMPARE(c["mode"].GetString(), "ddp");
        QCOMPARE(c["world"].GetInt(), 3);
        QCOMPARE(c["batch"].GetInt(), 16);
        QCOMPARE(c["epochs"].GetInt(), 4);
        QCOMPARE(c["align_world"].GetInt(), 5);
        QCOMPARE(c["order"].GetString(), "python");
        QCOMPARE(c["seed"].GetInt(), 6);
        QCOMPARE(c["sampler_seed"].GetInt(), 7);
        QCOMPARE(c["optimizer"].GetString(), "sgd");
        QCOMPARE(c["momentum"].GetDouble(), 0.25);
        QCOMPARE(c["weight_decay"].GetDouble(), 0.125);
        QCOMPARE(c["scheduler"].GetString(), "cosine");
        QCOMPARE(c["clip_norm"].GetDouble(), 0.75);
        QCOMPARE(c["accumulate"].GetInt(), 2);
        QCOMPARE(c["amp"].GetString(), "bf16");
        QCOMPARE(c["reduction"].GetString(), "ordered");
        QVERIFY(c["find_unused"].GetBool() && c["bucket_view"].GetBool());
        QCOMPARE(c["bucket_mb"].GetDouble(), 1.5);
        QCOMPARE(c["record"].GetString(), "tensor");
        QCOMPARE(c["faults"].Size(), 2u);
        QCOMPARE(json[0]["name"].GetString(), "all");
    }

    void exportGivesExactValues()
    {
        cli_->run(runArguments({"--mode", "ddp", "--steps", "50"}));
        const CliResult result = cli_->run({"export", project_, "ddp-w2-01", "--series", "loss", "--json"});
        QCOMPARE(result.exitCode, 0);
        const auto json = result.json();
        QCOMPARE(json["run"].GetString(), "ddp-w2-01");
        QCOMPARE(json["series"].Size(), 2u);
        for (const auto& series : json["series"].GetArray()) {
            QCOMPARE(series["quantity"].GetString(), "loss");
            QCOMPARE(series["steps"].Size(), 50u);
            for (rapidjson::SizeType i = 0; i < 50; ++i) {
                const double expected = fakeLoss(series["rank"].GetInt(), i + 1);
                QCOMPARE(series["steps"][i].GetInt(), int(i + 1));
                QVERIFY(series["values"][i].GetDouble() == expected);
                QVERIFY(parseHexFloat(series["hex"][i].GetString()) == expected);
            }
        }
    }

    void exportFiltersRanksAndSeries()
    {
        cli_->run(runArguments({"--mode", "ddp", "--steps", "5"}));
        const auto json = cli_->run({"export", project_, "ddp-w2", "--rank", "1", "--series",
                                     "loss,param_fingerprint", "--json"})
                              .json();
        QCOMPARE(json["series"].Size(), 2u);
        for (const auto& series : json["series"].GetArray())
            QCOMPARE(series["rank"].GetInt(), 1);
        QCOMPARE(cli_->run({"export", project_, "ddp-w2", "--series", "lossy"}).exitCode, 2);
        QCOMPARE(cli_->run({"export", project_, "ddp-w2", "--rank", "x"}).exitCode, 2);
        QCOMPARE(cli_->run({"export", project_, "ddp-w2", "--rank", "7"}).exitCode, 3);
        QCOMPARE(cli_->run({"export", project_, "nope"}).exitCode, 3);
    }

    void exportAsCsvHasOneLinePerValue()
    {
        cli_->run(runArguments({"--steps", "2"}));
        const CliResult result = cli_->run({"export", project_, "single-01", "--csv", "--series", "loss"});
        QCOMPARE(result.out, QByteArray("step,rank,quantity,index,value,hex\n"
                                        "1,0,loss,0,2.4752475247524752,0x1.3cd4e930288dfp+1\n"
                                        "2,0,loss,0,2.4509803921568629,0x1.39b9b9b9b9b9cp+1\n"));
    }

    void compareIsEqualOnlyForEqualRuns()
    {
        cli_->run(runArguments({"--mode", "ddp", "--steps", "30", "--name", "a"}));
        cli_->run(runArguments({"--mode", "ddp", "--steps", "30", "--name", "b"}));
        const CliResult equal = cli_->run({"compare", project_, "a", "b", "--json"});
        QCOMPARE(equal.exitCode, 0);
        const auto json = equal.json();
        QCOMPARE(json["verdict"].GetString(), "equal");
        QCOMPARE(json["compared"]["loss"].GetInt(), 60);
        QCOMPARE(json["first"].Size(), 0u);
    }

    void compareNamesTheFirstDivergentStep()
    {
        cli_->run(runArguments({"--mode", "ddp", "--world", "2", "--steps", "30", "--name", "a"}));
        cli_->run(runArguments({"--mode", "ddp", "--world", "2", "--steps", "30", "--name", "b",
                                "--workload-option", "fake.rank1=wrong@17"}));
        const CliResult differ = cli_->run({"compare", project_, "a", "b", "--json"});
        QCOMPARE(differ.exitCode, 1);
        const auto json = differ.json();
        QCOMPARE(json["verdict"].GetString(), "differ");
        QCOMPARE(json["first"].Size(), 1u);
        const auto& first = json["first"][0];
        QCOMPARE(first["quantity"].GetString(), "loss");
        QCOMPARE(first["step"].GetInt(), 17);
        QCOMPARE(first["rank"].GetInt(), 1);
        QVERIFY(first["a"].GetDouble() == fakeLoss(1, 17));
        QVERIFY(first["b"].GetDouble() == fakeLoss(1, 17) + 1);
        QVERIFY(
            cli_->run({"compare", project_, "a", "b"}).out.startsWith("a-01 and b-01 part at step 17, loss"));
    }

    void compareOfNothingIsNeverEqual()
    {
        cli_->run(runArguments({"--steps", "3", "--name", "a"}));
        cli_->run(runArguments({"--steps", "3", "--name", "b", "--record", "off"}));
        const CliResult result = cli_->run({"compare", project_, "a", "b", "--json"});
        QCOMPARE(result.exitCode, 3);
        QCOMPARE(result.json()["verdict"].GetString(), "cannot_compare");
        QCOMPARE(cli_->run({"compare", project_, "a", "nope"}).exitCode, 3);
        QCOMPARE(cli_->run({"compare", project_, "a", "b", "--mode", "roughly"}).exitCode, 2);
    }

    void aDetachedRunGoesOnAndCanBeStopped()
    {
        const CliResult started = cli_->run(
            runArguments({"--detach", "--steps", "1000000", "--workload-option", "fake.step_us=1000"}));
        QCOMPARE(started.exitCode, 0);
        const auto json = started.json();
        QCOMPARE(json["state"].GetString(), "running");
        const QString run = QString::fromUtf8(json["run"].GetString());
        QVERIFY(!cli_->processes().isEmpty()); // although its starter has ended
        const CliResult stopped = cli_->run({"stop", project_, run, "--json"});
        QCOMPARE(stopped.exitCode, 0);
        QCOMPARE(stopped.json()["state"].GetString(), "stopped");
        QCOMPARE(cli_->run({"stop", project_, run}).exitCode, 3); // it has ended
    }

    void aDetachedRunThatCannotBeginSaysSo()
    {
        const CliResult result =
            cli_->run({"run", folder_->filePath(QStringLiteral("none")), "--detach", "--json"});
        QCOMPARE(result.exitCode, 3);
        QVERIFY(result.out.isEmpty());
        QVERIFY(result.error.contains("There is no project"));
    }

    void twoRunsAtOnceAreTwoRuns()
    {
        const QStringList arguments =
            runArguments({"--steps", "300", "--workload-option", "fake.step_us=1000", "--mode", "ddp"});
        const auto one = cli_->start(arguments);
        const auto two = cli_->start(arguments);
        const auto a = Cli::wait(*one).json();
        const auto b = Cli::wait(*two).json();
        QCOMPARE(a["state"].GetString(), "finished");
        QCOMPARE(b["state"].GetString(), "finished");
        QVERIFY(std::string(a["run"].GetString()) != b["run"].GetString());
    }

    void moreRanksThanCoresAreWarnedAbout()
    {
        const CliResult result = cli_->run(runArguments({"--mode", "ddp", "--world", "64", "--steps", "3"}));
        QCOMPARE(result.exitCode, 0);
        QVERIFY(result.error.contains("64 ranks of 1 thread share"));
        QCOMPARE(result.json()["exit"].Size(), 64u);
    }
};

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
