// A project in a temporary folder with runs whose values the test chooses.
#pragma once

#include "core/config/run_config.h"
#include "core/store/project_store.h"
#include "core/store/run_writer.h"

#include <QString>
#include <QTemporaryDir>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::test {

// A run that records until finish().
class RecordedRun
{
public:
    RecordedRun(ProjectStore& store, RunInfo info, RunWriter writer, int ranks);

    QString id() const { return QString::fromStdString(info_.id); }
    const RunInfo& info() const { return info_; }
    // Records steps first..last of every rank; loss(rank, step) gives loss and gradient norm. Commits.
    void record(std::int64_t first, std::int64_t last, const std::function<double(int, std::int64_t)>& loss);
    void finish(RunState state = RunState::Finished);

private:
    ProjectStore& store_;
    RunInfo info_;
    std::optional<RunWriter> writer_;
    int ranks_;
};

class ProjectFixture
{
public:
    explicit ProjectFixture(const std::string& workload = "toy-mlp");

    QString folder() const { return dir_.filePath(QStringLiteral("project")); }
    ProjectStore& store() { return *store_; }
    // Still running; `change` edits the configuration.
    std::unique_ptr<RecordedRun> start(const std::string& mode, int world,
                                       const std::function<void(RunConfig&)>& change = {},
                                       const std::function<void(RunInfo&)>& changeInfo = {});
    // A user's script: `words` as `probe` keeps them. Finished, 40 steps.
    QString script(const std::vector<std::string>& words, int world = 1);
    // 40 steps, finished. `offset` is added to the loss from step `from` on.
    QString finished(const std::string& mode, int world, double offset = 0, std::int64_t from = 0,
                     const std::function<void(RunConfig&)>& change = {});

private:
    QTemporaryDir dir_;
    std::optional<ProjectStore> store_;
};

// The curve all runs of the fixture follow.
double plainLoss(int rank, std::int64_t step);

} // namespace lockstep::test
