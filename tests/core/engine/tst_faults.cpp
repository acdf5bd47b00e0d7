// Every fault of the engine, in a DDP run and in the twin: equal in every bit, and acting from the step it should on
// (python/faults.py). LOCKSTEP_FAULT_CAMPAIGN=1 plays all of them at worlds 2, 3 and 4 with two optimizers (minutes).
#include "tests/core/engine/python_judge.h"

using namespace lockstep;

class TestFaults : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyFaultActsAndTheTwinEqualsIt();
};

void TestFaults::everyFaultActsAndTheTwinEqualsIt()
{
    if (!hasJudge())
        QSKIP("The comparison runs in Python from .venv, which is not there. Run ./dev setup.");
    QVERIFY(judge(QStringLiteral("faults.py"), campaign("LOCKSTEP_FAULT_CAMPAIGN")));
}

QTEST_GUILESS_MAIN(TestFaults)
#include "tst_faults.moc"
