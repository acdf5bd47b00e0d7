// The twin against the DDP run, bit by bit, over workloads, optimizers and worlds: python/twin.py starts both.
// LOCKSTEP_TWIN_CAMPAIGN=1 runs the long list with 1,000 steps per cell (hours).
#include <QFile>
#include <QProcess>
#include <QtTest>

class TestTwin : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyCellEqualsTheRun();
};

void TestTwin::everyCellEqualsTheRun()
{
    const QString python = QStringLiteral(LOCKSTEP_VENV_PYTHON);
    if (!QFile::exists(python))
        QSKIP("The comparison runs in Python from .venv, which is not there. Run ./dev setup.");
    QStringList arguments = {QStringLiteral(LOCKSTEP_ENGINE_PYTHON "/twin.py"),
                             QStringLiteral(LOCKSTEP_WORKER)};
    if (qEnvironmentVariableIsSet("LOCKSTEP_TWIN_CAMPAIGN"))
        arguments << QStringLiteral("--campaign");
    QProcess judge;
    judge.setProcessChannelMode(QProcess::ForwardedChannels);
    judge.start(python, arguments);
    QVERIFY(judge.waitForFinished(-1));
    QCOMPARE(judge.exitStatus(), QProcess::NormalExit);
    QCOMPARE(judge.exitCode(), 0);
}

QTEST_GUILESS_MAIN(TestTwin)
#include "tst_twin.moc"
