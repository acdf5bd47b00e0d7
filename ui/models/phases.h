// The phases of a migration and what the window says about them. Pure functions over a snapshot.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/roles.h"

#include <QString>
#include <QStringList>

#include <span>
#include <vector>

namespace lockstep {

struct PhaseInfo {
    const char* id;      // as in the store: "preflight", "data", ...; "report" has no gate
    const char* title;   // English; phaseTitle() translates
    const char* teaches; // what the phase asks, shown while nothing is known
    const char* changes; // the one thing it changes
};

std::span<const PhaseInfo> allPhases();
QString phaseTitle(const PhaseInfo& phase);
QString phaseTeaches(const PhaseInfo& phase);
QString phaseChanges(const PhaseInfo& phase);
// False: what this gate trains are the engine's workloads, and the project is of a script.
bool judgesItself(const QString& phase, const ProjectSnapshot& snapshot);
// The same of a project whose runs are a user's scripts: the phases that train do so with the engine's workloads only.
QString phaseChanges(const PhaseInfo& phase, const ProjectSnapshot& snapshot);

struct PhaseStatus {
    const PhaseInfo* phase = nullptr;
    State state = State::None;
    QString word;     // "passed", "closed", ...
    QString detail;   // second line of the rail: "11 of 11 checks", "opens after gate 1"
    QString checks;   // "11 of 11"; empty without checks
    QString deciding; // the number that decides, or why there is none
    QString limit;
    QString judgedOn;   // "Judged on one-01 and two-01; newer runs exist: two-02"; empty: on no runs
    bool older = false; // judged on runs that newer ones have followed
    std::int64_t judgedUnixMs = 0;
    bool open = false; // may be worked on: every gate before it passed or was overridden
};

// One per phase, in order. `judging` is the phase whose gate is being judged now, empty for none.
std::vector<PhaseStatus> phaseStatuses(const ProjectSnapshot& snapshot, bool projectOpen,
                                       const QString& judging = {});

// The gates before this phase that were overridden, each with its reason: "1 Data & sampler: set_epoch comes later".
QStringList overridesBefore(const ProjectSnapshot& snapshot, const QString& phase);

// The word of a state as the product says it everywhere.
QString stateWord(State state);

} // namespace lockstep
