#include "core/host/worker_answers.h"

#include "core/host/launch_environment.h"

#include <QProcess>
#include <QTemporaryFile>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kAnswerMs = 60'000;

struct Answer {
    int exitCode = 0;
    std::string out;
    std::string err;
};

Result<Answer> ask(const QStringList& question)
{
    const Result<std::string> worker = findWorker();
    if (!worker)
        return worker.error();
    QProcess process;
    process.start(QString::fromStdString(*worker), question);
    if (!process.waitForFinished(kAnswerMs) || process.exitStatus() != QProcess::NormalExit)
        return Error{ErrorKind::Environment, "lockstep-worker does not answer",
                     process.errorString().toStdString(), "Run ./dev build, then ask again"};
    return Answer{process.exitCode(), process.readAllStandardOutput().toStdString(),
                  process.readAllStandardError().trimmed().toStdString()};
}

Result<Answer> askAbout(const RunConfig& config, const QString& question)
{
    QTemporaryFile file;
    const std::string json = toJson(config);
    if (!file.open() || file.write(json.data(), qint64(json.size())) != qint64(json.size()) || !file.flush())
        return Error{ErrorKind::Io, "The worker cannot be asked", "a temporary file cannot be written",
                     "Check the space and rights of the temporary folder"};
    return ask({question, QStringLiteral("--config"), file.fileName()});
}

} // namespace

Result<rapidjson::Document> workerCatalogue()
{
    const Result<Answer> answer = ask({QStringLiteral("--catalogue")});
    if (!answer)
        return answer.error();
    Result<rapidjson::Document> catalogue = parseJson(answer->out, "What lockstep-worker --catalogue says");
    const auto named = [](const rapidjson::Value& entry) {
        return entry.IsObject() && entry.HasMember("name") && entry["name"].IsString();
    };
    const auto sound = [&named](const rapidjson::Value& said) {
        if (!said.IsObject() || !said.HasMember("workloads") || !said.HasMember("faults") ||
            !said.HasMember("left_out") || !said["workloads"].IsArray())
            return false;
        const auto workloads = said["workloads"].GetArray();
        return std::all_of(workloads.begin(), workloads.end(), named);
    };
    if (catalogue && !sound(*catalogue))
        return Error{ErrorKind::Environment, "lockstep-worker does not say what it can train",
                     "it is of another version", "Build it again with ./dev build"};
    return catalogue;
}

Result<std::string> workerEnvironment(const RunConfig& config)
{
    const Result<Answer> answer = askAbout(config, QStringLiteral("--environment"));
    if (!answer)
        return answer.error();
    if (answer->exitCode != 0)
        return Error{ErrorKind::Environment, "The worker cannot report its environment", answer->err,
                     "Run ./dev build, then ask again"};
    return answer->out;
}

Status checkWithWorker(const RunConfig& config)
{
    const Result<Answer> answer = askAbout(config, QStringLiteral("--check"));
    if (!answer)
        return answer.error();
    if (answer->exitCode == 0)
        return {};
    // On standard output as {what, why, fix}; anything else is a worker that could not even start.
    const Result<rapidjson::Document> said = parseJson(answer->out, "What lockstep-worker --check says");
    if (!said || !said->IsObject())
        return Error{ErrorKind::Environment, "The worker cannot check the run", answer->err,
                     "Run ./dev build, then ask again"};
    return Error{ErrorKind::Usage, memberText(*said, "what"), memberText(*said, "why"),
                 memberText(*said, "fix")};
}

Status checkWorkloadName(const std::string& workload)
{
    const Result<rapidjson::Document> catalogue = workerCatalogue();
    if (!catalogue)
        return catalogue.error();
    std::string known;
    for (const auto& entry : (*catalogue)["workloads"].GetArray()) {
        const std::string name = entry["name"].GetString();
        if (name == workload)
            return {};
        known += (known.empty() ? "" : ", ") + name;
    }
    return Error{ErrorKind::Usage, "There is no workload called " + workload, "known are " + known,
                 "Choose one of these for --workload"};
}

} // namespace lockstep
