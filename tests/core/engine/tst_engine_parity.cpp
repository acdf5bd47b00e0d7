// The engine against Python torch, bit by bit: python/parity.py and python/evaluation.py start both and print tables.
#include "tests/core/engine/python_judge.h"

using namespace lockstep;

class TestEngineParity : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (!hasJudge())
            QSKIP("The judge is Python torch in .venv, which is not there. Run ./dev setup.");
    }
    void everyCellEqualsPythonTorch() { QVERIFY(judge(QStringLiteral("parity.py"))); }
    void anEvaluationIsReplayedAndMovesNothing() { QVERIFY(judge(QStringLiteral("evaluation.py"))); }
};

QTEST_GUILESS_MAIN(TestEngineParity)
#include "tst_engine_parity.moc"
