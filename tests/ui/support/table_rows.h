// Rows without a store: runs as a snapshot holds them, and a column of a model as texts.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QAbstractItemModel>
#include <QStringList>

#include <memory>
#include <string>
#include <vector>

namespace lockstep::test {

inline RunEntry entry(const std::string& id, RunState state = RunState::Finished)
{
    RunEntry run;
    run.info.id = id;
    run.info.name = id;
    run.info.state = state;
    run.info.startedUnixMs = 1'000'000;
    run.info.endedUnixMs = state == RunState::Running ? 0 : 1'062'000;
    run.info.lastStep = 12;
    run.info.lastLoss = 0.25;
    return run;
}

inline ProjectSnapshotPtr snapshot(std::vector<RunEntry> runs)
{
    auto made = std::make_shared<ProjectSnapshot>();
    made->runs = std::move(runs);
    return made;
}

inline QStringList column(const QAbstractItemModel& model, int column)
{
    QStringList texts;
    for (int row = 0; row < model.rowCount(); ++row)
        texts << model.index(row, column).data().toString();
    return texts;
}

} // namespace lockstep::test
