// The row a run has in its project, from the moment the run is entered to its end; the same for ranks of ours and for a
// user's command. One thread, the one of the event loop.
#pragma once

#include "core/base/records.h"
#include "core/host/recorder.h"
#include "core/host/root_cause.h"
#include "core/store/project_store.h"

#include <QElapsedTimer>

#include <memory>
#include <string>

namespace lockstep {

class RunRow
{
public:
    // Opens the project and adds the run as running; from then on info().id is set.
    Status enter(const std::string& projectFolder, const std::string& name, const std::string& configJson);
    bool entered() const { return !info_.id.empty(); }
    // The run could not begin after all. `why` is the error to report, so one of the project itself is not.
    void abandon(const Error& why);

    const RunInfo& info() const { return info_; }
    Status setConfig(const std::string& json);
    Status setEnvironment(const std::string& json);
    // Last step and loss, at most every two seconds.
    Status saveProgress(const Recorder& recorder);
    // What an event "checkpoint" says was written; another event is none.
    Status addCheckpoint(const EventRecord& event);
    // Takes the verdict and what `recorder` committed over. A `recorderError` that is not empty outranks the verdict: a run
    // that could not be recorded has failed, however its ranks ended.
    Status close(RunVerdict& verdict, const Recorder& recorder, const std::string& recorderError);

private:
    Status save() { return project_->updateRun(info_); }

    std::unique_ptr<ProjectStore> project_;
    RunInfo info_;
    QElapsedTimer sinceSaved_;
};

} // namespace lockstep
