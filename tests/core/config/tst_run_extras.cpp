// How a run was started: what stands beside its configuration, and what a command's words say.
#include "core/config/run_config.h"
#include "core/config/run_extras.h"
#include "core/config/script_words.h"

#include <QTest>

using namespace lockstep;

namespace {

std::vector<std::string> words(const char* command)
{
    std::vector<std::string> list;
    for (const QByteArray& word : QByteArray(command).split(' '))
        list.push_back(word.toStdString());
    return list;
}

ScriptCommand someCommand()
{
    ScriptCommand command;
    command.words = {"python", "train me.py", "--name", "\"\xc3\xbc\"", ""};
    command.program = "/opt/venv/bin/python";
    command.folder = "/data/work";
    command.world = 4;
    command.ddp = true;
    command.threads = 2;
    command.record = "tensor";
    command.metric = "loss=([0-9.]+)";
    return command;
}

} // namespace

class TestRunExtras : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aCommandComesBackAsItWas()
    {
        const ScriptCommand command = someCommand();
        const std::string text = withScriptCommand(toJson({}), command);
        QVERIFY(scriptCommandOf(text) == command);
        QVERIFY(runConfigFromJson(text).ok()); // older readers pass over it
        ScriptCommand other = command;
        other.words.push_back("--lr");
        QVERIFY(scriptCommandOf(withScriptCommand(text, other)) == other); // replaced, not repeated
    }

    void aRunOfTheEngineHasNoCommand()
    {
        QVERIFY(!scriptCommandOf(toJson({})));
        for (const char* text :
             {"", "[]", "{\"command\":3}", "{\"command\":{}}", "{\"command\":{\"words\":[1]}}"})
            QVERIFY(!scriptCommandOf(text));
        QCOMPARE(withScriptCommand("no json", someCommand()), std::string("no json"));
    }

    void whatHappensWhenRanksAreLostIsKept()
    {
        QCOMPARE(onLossOf(toJson({})), std::string("stop"));
        QCOMPARE(onLossOf(withOnLoss(toJson({}), "survivors")), std::string("survivors"));
        QCOMPARE(onLossOf("no json"), std::string("stop"));
    }

    void ranksAreWhatTheLauncherIsTold()
    {
        QCOMPARE(ranksOfCommand(words("python train.py")), 1);
        QCOMPARE(ranksOfCommand(words("torchrun --nproc-per-node 4 train.py")), 4);
        QCOMPARE(ranksOfCommand(words("torchrun --nnodes=2 --nproc_per_node=4 train.py")), 8);
        QCOMPARE(ranksOfCommand(words("accelerate launch --num_processes 3 train.py")), 3);
        QCOMPARE(ranksOfCommand(words("torchrun --nproc-per-node gpu train.py")), 0);
        QCOMPARE(ranksOfCommand(words("torchrun train.py --nproc-per-node")), 1);
        QCOMPARE(ranksOfCommand(words("python train.py --num-processes 4")), 1); // of its data loader
        QCOMPARE(ranksOfCommand(words("torchrun --nproc-per-node 2 -m pkg.train --nnodes 3")), 2);
        QCOMPARE(ranksOfCommand(words("torchrun --nproc-per-node 99999 --nnodes 99999 train.py")), 0);
        QCOMPARE(ranksOfCommand(words("torchrun --nproc-per-node -2 --nnodes -2 train.py")), 0);
    }

    void aRunIsCalledLikeItsScript()
    {
        QCOMPARE(scriptName(words("python a/b/train_ddp.py")), std::string("train_ddp"));
        QCOMPARE(scriptName(words("python -m pkg")), std::string("pkg"));
        QCOMPARE(scriptName(words("python -m pkg.train --lr 0.1")), std::string("train"));
        QCOMPARE(scriptName(words("python -m")), std::string());
        QCOMPARE(scriptName(words("python -m torch.distributed.run a/x.py")), std::string("x"));
        QCOMPARE(scriptName(words("ls -l")), std::string("script"));
    }
};

QTEST_GUILESS_MAIN(TestRunExtras)
#include "tst_run_extras.moc"
