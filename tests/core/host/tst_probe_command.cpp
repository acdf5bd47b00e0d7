// A user's command: where the probe goes into it, and how many ranks it will start.
#include "core/host/probe_command.h"

#include <QDir>
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

    void theRunsDocumentSaysHowItWasStarted()
    {
        const QStringList words{"/bin/sh", "train.py", "--lr", "0.1"};
        const ScriptCommand command = describedCommand(words, {"tensor", "loss=(.*)", 2}, 4, true);
        QCOMPARE(command.words, (std::vector<std::string>{"/bin/sh", "train.py", "--lr", "0.1"}));
        QCOMPARE(command.program, std::string("/bin/sh")); // not what the link means
        QCOMPARE(command.folder, QDir::currentPath().toStdString());
        QCOMPARE(command.world, 4);
        QVERIFY(command.ddp);
        QCOMPARE(command.record, std::string("tensor"));
        const std::string found = describedCommand({"sh", "train.py"}, {}, 1, false).program;
        QVERIFY(found.starts_with('/') && found.ends_with("/sh"));
        QVERIFY(describedCommand({"no-such-program", "train.py"}, {}, 1, false).program.empty());
    }
};

QTEST_GUILESS_MAIN(TestProbeCommand)
#include "tst_probe_command.moc"
