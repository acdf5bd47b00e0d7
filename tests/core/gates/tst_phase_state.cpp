// Which phases of the method are open.
#include "core/gates/phase_state.h"

#include <QTest>

using namespace lockstep;

class TestPhaseState : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void phasesOpenOneAfterAnother()
    {
        QVERIFY(requireOpen("preflight", {}).ok());
        const Status closed = requireOpen("data", {});
        QVERIFY(!closed.ok());
        QVERIFY(closed.error().why.find("preflight") != std::string::npos);
        QVERIFY(requireOpen("nonsense", {}).error().kind == ErrorKind::Usage);
        GateInfo preflight;
        preflight.phase = "preflight";
        preflight.verdict = "pass";
        QVERIFY(requireOpen("data", {preflight}).ok());
        QVERIFY(!requireOpen("gradients", {preflight}).ok());
        preflight.verdict = "fail";
        QVERIFY(!requireOpen("data", {preflight}).ok());
    }

    void anOverrideOpensTheNextPhase()
    {
        GateInfo preflight;
        preflight.phase = "preflight";
        preflight.verdict = "fail";
        preflight.overrideReason = "known";
        const std::vector<PhaseState> states = phaseStates({preflight});
        QVERIFY(states[0].passed && states[0].overridden);
        QVERIFY(states[1].open);
        QCOMPARE(states[2].blockedBy, std::string("data"));
    }
};

QTEST_GUILESS_MAIN(TestPhaseState)
#include "tst_phase_state.moc"
