// The engine against Python torch, bit by bit: python/parity.py starts both and prints the table.
#include "tests/core/engine/python_judge.h"

using namespace lockstep;

class TestEngineParity : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyCellEqualsPythonTorch();
};

void TestEngineParity::everyCellEqualsPythonTorch()
{
    if (!hasJudge())
        QSKIP("The judge is Python torch in .venv, which is not there. Run ./dev setup.");
    QVERIFY(judge(QStringLiteral("parity.py")));
}

QTEST_GUILESS_MAIN(TestEngineParity)
#include "tst_engine_parity.moc"
