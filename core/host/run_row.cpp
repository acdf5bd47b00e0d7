#include "core/host/run_row.h"

#include "core/config/json.h"
#include "core/host/run_control.h"

#include <QDateTime>

#include <limits>

namespace lockstep {

namespace {

constexpr int kProgressSavedMs = 2000; // how often the project learns the last step of a running run

} // namespace

Status RunRow::enter(const std::string& projectFolder, const std::string& name, const std::string& configJson)
{
    Result<ProjectStore> project = ProjectStore::open(projectFolder);
    if (!project)
        return project.error();
    project_ = std::make_unique<ProjectStore>(std::move(project).value());
    RunInfo wanted;
    wanted.name = name;
    wanted.configJson = configJson;
    wanted.environmentJson = "{}";
    wanted.startedUnixMs = QDateTime::currentMSecsSinceEpoch();
    wanted.lastLoss = std::numeric_limits<double>::quiet_NaN();
    Result<RunInfo> added = project_->addRun(wanted);
    if (!added)
        return added.error();
    info_ = std::move(added).value();
    sinceSaved_.start();
    return {};
}

void RunRow::abandon(const Error& why)
{
    info_.state = RunState::Failed;
    info_.endedUnixMs = QDateTime::currentMSecsSinceEpoch();
    info_.firstFailure = {-1, -1, why.sentence()};
    removeHostFile(info_.folder);
    static_cast<void>(save()); // would fail from the same cause
}

Status RunRow::setConfig(const std::string& json)
{
    info_.configJson = json;
    return save();
}

Status RunRow::setEnvironment(const std::string& json)
{
    info_.environmentJson = json;
    return save();
}

Status RunRow::saveProgress(const Recorder& recorder)
{
    if (sinceSaved_.elapsed() < kProgressSavedMs)
        return {};
    sinceSaved_.restart();
    info_.lastStep = recorder.committedStep();
    info_.lastLoss = recorder.committedLoss();
    return save();
}

Status RunRow::addCheckpoint(const EventRecord& event)
{
    if (event.kind != "checkpoint")
        return {};
    const Result<rapidjson::Document> detail = parseJson(event.detail, "the checkpoint event");
    if (!detail || !detail->IsObject() || !detail->HasMember("path") || !detail.value()["path"].IsString())
        return {};
    CheckpointSeen seen;
    seen.path = detail.value()["path"].GetString();
    seen.runId = info_.id;
    seen.step = event.step;
    if (detail->HasMember("bytes") && detail.value()["bytes"].IsInt64())
        seen.bytes = detail.value()["bytes"].GetInt64();
    return project_->addCheckpoint(seen);
}

Status RunRow::close(RunVerdict& verdict, const Recorder& recorder, const std::string& recorderError)
{
    if (!recorderError.empty()) {
        verdict.state = RunState::Failed;
        verdict.firstFailure = {-1, recorder.committedStep(), recorderError};
        verdict.kind = ErrorKind::RunFailed;
    }
    info_.state = verdict.state;
    info_.exitCodes = verdict.exitCodes;
    info_.firstFailure = verdict.firstFailure;
    info_.endedUnixMs = QDateTime::currentMSecsSinceEpoch();
    info_.lastStep = recorder.committedStep();
    info_.lastLoss = recorder.committedLoss();
    removeHostFile(info_.folder);
    return save();
}

} // namespace lockstep
