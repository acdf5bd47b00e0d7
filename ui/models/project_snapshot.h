// Everything the window shows of lockstep.db, read at one moment and never changed afterwards. Made in a pool thread,
// shared with the GUI thread as pointer to const.
#pragma once

#include "core/config/run_config.h"
#include "core/config/run_extras.h"
#include "core/store/project_store.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace lockstep {

struct RunEntry {
    RunInfo info;
    RunConfig config;
    std::optional<ScriptCommand> command; // how a user's script was started; nothing for runs of the engine
    std::string onLoss = "stop";          // what the run does when ranks are lost: a word of `run --on-loss`
    bool configReadable = true;           // false: written by something we cannot read; the table shows "-"

    QString id() const { return QString::fromStdString(info.id); }
    // Ids are unique and begin with the name that was given ("ddp-w2-01"), so they are what people see.
    QString name() const { return id(); }
    bool running() const { return info.state == RunState::Running; }
    bool auxiliary() const { return info.auxiliary(); }
    bool script() const { return command || config.workloadOptions.contains("script"); } // of a user
};

struct ProjectSnapshot {
    ProjectInfo info;
    std::vector<RunEntry> runs; // newest first
    std::vector<GateInfo> gates;
    std::vector<FindingRow> findings;
    std::vector<CheckpointSeen> checkpoints;
    std::int64_t bytes = 0; // of lockstep.db and every run.db
    std::int64_t readUnixMs = 0;
    bool readOnly = false;

    const RunEntry* run(const QString& id) const
    {
        for (const RunEntry& entry : runs)
            if (entry.id() == id)
                return &entry;
        return nullptr;
    }
    const GateInfo* gate(const std::string& phase) const
    {
        for (const GateInfo& gate : gates)
            if (gate.phase == phase)
                return &gate;
        return nullptr;
    }
};

using ProjectSnapshotPtr = std::shared_ptr<const ProjectSnapshot>;

} // namespace lockstep
