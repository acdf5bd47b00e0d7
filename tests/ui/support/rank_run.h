// A run of several ranks whose values and fingerprints the test chooses rank by rank; ranks may be out of step.
#pragma once

#include "core/config/run_config.h"
#include "core/store/run_writer.h"
#include "ui/support/project_fixture.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

namespace lockstep::test {

class RankRun
{
public:
    RankRun(ProjectFixture& project, int world, const std::string& mode = "ddp") : project_(project)
    {
        RunConfig config;
        config.mode = mode;
        config.world = world;
        config.steps = 1000;
        info_.name = mode + "-w" + std::to_string(world);
        info_.configJson = toJson(config);
        info_.environmentJson = "{}";
        info_.startedUnixMs = 1;
        info_ = must(project.store().addRun(info_));
        writer_.emplace(must(RunWriter::create(info_.folder)));
    }

    QString id() const { return QString::fromStdString(info_.id); }

    void record(int rank, std::int64_t step, std::vector<StepValue> values)
    {
        StepRecord record;
        record.rank = rank;
        record.step = step;
        record.values = std::move(values);
        must(writer_->append(record));
        info_.lastStep = std::max(info_.lastStep, step);
    }
    void commit()
    {
        must(writer_->commit());
        must(project_.store().updateRun(info_));
    }
    void finish()
    {
        must(writer_->finish());
        writer_.reset();
        info_.state = RunState::Finished;
        info_.endedUnixMs = 2;
        must(project_.store().updateRun(info_));
    }

private:
    // A fixture that cannot be made is a broken test environment, not a result.
    template<typename T>
    static T must(Result<T> result)
    {
        if (!result) {
            std::fprintf(stderr, "fixture: %s\n", result.error().sentence().c_str());
            std::abort();
        }
        return std::move(result).value();
    }
    static void must(const Status& status)
    {
        if (!status) {
            std::fprintf(stderr, "fixture: %s\n", status.error().sentence().c_str());
            std::abort();
        }
    }

    ProjectFixture& project_;
    RunInfo info_;
    std::optional<RunWriter> writer_;
};

} // namespace lockstep::test
