// A user's command: where the probe goes into it, and how many ranks it will start.
#include "core/host/probe_command.h"

#include <QTest>

using namespace lockstep;

class TestProbeCommand : public QObject
{
    Q_OBJECT

    static QString probed(const QString& command)
    {
        const Result<QStringList> result = probedCommand(command.split(QLatin1Char(' ')));
        return result ? result->join(QLatin1Char(' ')) : QStringLiteral("error");
    }

private Q_SLOTS:
    void theProbeComesBeforeTheScript_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("expected");
        QTest::newRow("python") << "python train.py --lr 1"
                                << "python -m lockstep_probe train.py --lr 1";
        QTest::newRow("options") << "python -u -X dev a/train.py"
                                 << "python -u -X dev -m lockstep_probe a/train.py";
        QTest::newRow("module") << "python -m pkg.train --lr 1"
                                << "python -m lockstep_probe -m pkg.train --lr 1";
        QTest::newRow("torchrun") << "torchrun --nproc-per-node 2 train.py x"
                                  << "torchrun --nproc-per-node 2 -m lockstep_probe train.py x";
        QTest::newRow("torchrun of a module") << "torchrun --nproc_per_node=2 -m pkg.train"
                                              << "torchrun --nproc_per_node=2 -m lockstep_probe -m pkg.train";
        QTest::newRow("launcher as a module")
            << "python -m torch.distributed.run --nproc-per-node 2 train.py"
            << "python -m torch.distributed.run --nproc-per-node 2 -m lockstep_probe train.py";
        QTest::newRow("already there") << "python -m lockstep_probe --record tensor train.py"
                                       << "python -m lockstep_probe --record tensor train.py";
        QTest::newRow("no script") << "ls -l"
                                   << "error";
    }
    void theProbeComesBeforeTheScript()
    {
        QFETCH(QString, command);
        QFETCH(QString, expected);
        QCOMPARE(probed(command), expected);
    }

    void ranksAreWhatTheLauncherIsTold()
    {
        const auto ranks = [](const char* command) {
            return ranksOfCommand(QString::fromLatin1(command).split(QLatin1Char(' ')));
        };
        QCOMPARE(ranks("python train.py"), 1);
        QCOMPARE(ranks("torchrun --nproc-per-node 4 train.py"), 4);
        QCOMPARE(ranks("torchrun --nnodes=2 --nproc_per_node=4 train.py"), 8);
        QCOMPARE(ranks("accelerate launch --num_processes 3 train.py"), 3);
        QCOMPARE(ranks("torchrun --nproc-per-node gpu train.py"), 0);
    }

    void aRunIsCalledLikeItsScript()
    {
        QCOMPARE(scriptName({"python", "a/b/train_ddp.py"}), std::string("train_ddp"));
        QCOMPARE(scriptName({"python", "-m", "pkg"}), std::string("pkg"));
    }
};

QTEST_GUILESS_MAIN(TestProbeCommand)
#include "tst_probe_command.moc"
