// lockstep.db: the project's index of runs, gates, overrides, findings and checkpoints seen. Short
// transactions from any process; a program of a newer schema is refused, never touched.
#pragma once

#include "core/base/status.h"
#include "core/store/run_info.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep {

struct ProjectInfo {
    std::string folder;
    std::string name;     // folder name unless given
    std::string workload; // default workload of new runs
    int schema = 0;
    std::int64_t createdUnixMs = 0;
};

struct GateCheck {
    std::string id;      // stable, e.g. "data.overlap"
    std::string verdict; // "pass", "fail", "cannot_judge"
    std::string value;   // as shown, with the number
    std::string limit;
    std::int64_t step = -1;
    int rank = -1;
    std::string parameter;
    std::string sentence;
    std::string fix;
    std::string cause;               // catalogue id ("A3") where a failed check has one; also notes ("A5")
    std::string evidenceJson = "[]"; // rows for people: [{"label":"epoch 1","text":"1010 419 955"}]
};

struct GateInfo {
    std::string phase;   // preflight | data | gradients | precision | drills
    std::string verdict; // pass | fail | cannot_judge
    std::int64_t judgedUnixMs = 0;
    std::vector<GateCheck> checks;
    std::string overrideReason; // empty: not overridden
    std::int64_t overriddenUnixMs = 0;
    std::string configJson; // what was judged
};

struct CheckpointSeen {
    std::string path;
    std::string runId; // empty: opened by hand
    std::int64_t step = -1;
    std::int64_t bytes = 0;
};

struct FindingRow {
    std::string runA, runB, cause, confidence, sentence, fix, evidenceJson = "[]";
    int rank = -1;
    std::int64_t step = -1;
};

class ProjectStore
{
public:
    // Creates the folder and lockstep.db. Errors: Io; Input if there is already a project.
    static Result<ProjectStore> create(const std::string& folder, const std::string& workload);
    // Errors: NotFound, Corrupt, NewerSchema. Read-only media open read-only; writing then gives Io.
    static Result<ProjectStore> open(const std::string& folder);
    ProjectStore(ProjectStore&&) noexcept;
    ProjectStore& operator=(ProjectStore&&) noexcept;
    ~ProjectStore();

    const ProjectInfo& info() const;
    std::int64_t dataVersion();

    // Makes runs/<id>/, gives the run an id from its name ("ddp-w2-01") and enters it as running.
    Result<RunInfo> addRun(const RunInfo& run);
    Status updateRun(const RunInfo& run);
    // Newest first. A run that says "running" but whose writer lock is free is returned as Interrupted.
    Result<std::vector<RunInfo>> runs();
    Result<RunInfo> run(const std::string& idOrName); // the newest of that name
    // Moves the folder to runs/.trash; restoreRun brings it back. Errors: NotFound, Busy (still recording),
    // Io.
    Status removeRun(const std::string& id);
    Status restoreRun(const std::string& id);

    // Replaces the verdict and the checks of the phase; an override stays until it is taken back.
    Status saveGate(const GateInfo& gate);
    Status overrideGate(const std::string& phase, const std::string& reason); // empty reason takes it back
    Result<std::vector<GateInfo>> gates();
    Status addCheckpoint(const CheckpointSeen& checkpoint);
    Result<std::vector<CheckpointSeen>> checkpoints();
    // Replaces the findings of the pair.
    Status saveFindings(const std::string& runA, const std::string& runB,
                        const std::vector<FindingRow>& findings);
    Result<std::vector<FindingRow>> findings();

private:
    struct Impl;
    explicit ProjectStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace lockstep
