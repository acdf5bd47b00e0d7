// The engine against Python torch, bit by bit: python/parity.py starts both and prints the table.
#include <QFile>
#include <QProcess>
#include <QtTest>

class TestEngineParity : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyCellEqualsPythonTorch();
};

void TestEngineParity::everyCellEqualsPythonTorch()
{
    const QString python = QStringLiteral(LOCKSTEP_VENV_PYTHON);
    if (!QFile::exists(python))
        QSKIP("The judge is Python torch in .venv, which is not there. Run ./dev setup.");
    QProcess judge;
    judge.setProcessChannelMode(QProcess::ForwardedChannels);
    judge.start(python,
                {QStringLiteral(LOCKSTEP_ENGINE_PYTHON "/parity.py"), QStringLiteral(LOCKSTEP_WORKER)});
    QVERIFY(judge.waitForFinished(-1));
    QCOMPARE(judge.exitStatus(), QProcess::NormalExit);
    QCOMPARE(judge.exitCode(), 0);
}

QTEST_GUILESS_MAIN(TestEngineParity)
#include "tst_engine_parity.moc"
