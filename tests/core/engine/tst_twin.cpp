// The twin against the DDP run, bit by bit, over workloads, optimizers and worlds: python/twin.py starts both.
// LOCKSTEP_TWIN_CAMPAIGN=1 runs the long list with 1,000 steps per cell (hours).
#include "tests/core/engine/python_judge.h"

using namespace lockstep;

class TestTwin : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyCellEqualsTheRun();
};

void TestTwin::everyCellEqualsTheRun()
{
    if (!hasJudge())
        QSKIP("The comparison runs in Python from .venv, which is not there. Run ./dev setup.");
    QVERIFY(judge(QStringLiteral("twin.py"), campaign("LOCKSTEP_TWIN_CAMPAIGN")));
}

QTEST_GUILESS_MAIN(TestTwin)
#include "tst_twin.moc"
