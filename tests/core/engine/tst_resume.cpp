// Interrupted and resumed against uninterrupted, bit by bit, and across worlds: python/resume.py starts the runs.
// LOCKSTEP_RESUME_CAMPAIGN=1 runs the long list with 500 steps per cell (about an hour).
#include "tests/core/engine/python_judge.h"

using namespace lockstep;

class TestResume : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aResumedRunEqualsTheUninterruptedOne();
};

void TestResume::aResumedRunEqualsTheUninterruptedOne()
{
    if (!hasJudge())
        QSKIP("The comparison runs in Python from .venv, which is not there. Run ./dev setup.");
    QVERIFY(judge(QStringLiteral("resume.py"), campaign("LOCKSTEP_RESUME_CAMPAIGN")));
}

QTEST_GUILESS_MAIN(TestResume)
#include "tst_resume.moc"
