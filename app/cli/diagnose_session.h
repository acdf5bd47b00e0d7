// Two runs under diagnosis, with what is learnt of them on the way.
#pragma once

#include "app/cli/cli_context.h"
#include "app/cli/opened_run.h"
#include "core/align/proof.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct DiagnoseSession {
    std::optional<OpenedRun> reference, suspect, twin;
    Diagnosis diagnosis;
    std::vector<ReplayOutcome> replays;

    // Both have the same ranks, so that every bit counts.
    bool exact() const;
    // Judges what is open now. Errors: reading.
    Status judge();
    // Something was found that correct runs do not have.
    bool anyAboveBenign() const;
};

// Empty names: the newest run of a single process (else a twin) and the newest of several ranks. Errors: no such run.
Status openPair(ProjectStore& project, const std::string& reference, const std::string& suspect,
                DiagnoseSession& session);
// A replay of the suspect as it was configured, without deviations, if the project has one. Errors: reading.
Status findTwin(ProjectStore& project, DiagnoseSession& session);
// Judges a pair beside a twin; one that has none gets a replay up to the step, which goes with this call. Errors: no worker,
// reading; Cancelled after a signal.
Status judgeBesideReplay(CliContext& context, DiagnoseSession& session, std::int64_t until);
// Holds the suspect against a clean replay first, where nothing recorded is exact; then replays one cause after another.
// Errors: no worker, reading; Cancelled after a signal. What was found before stands.
Status prove(CliContext& context, DiagnoseSession& session);

// Progress for people, on standard error; nothing beside a JSON document.
void sayProgress(const CliContext& context, const std::string& text);

} // namespace lockstep
