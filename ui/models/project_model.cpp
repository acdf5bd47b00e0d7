#include "ui/models/project_model.h"

#include "ui/models/format.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>

#include <optional>
#include <utility>

namespace lockstep {

namespace {

constexpr int kPollMs = 100;
// A killed writer changes no file: the running runs are looked at again after this time even if nothing was committed.
constexpr std::int64_t kRecheckMs = 1000;

std::int64_t storeBytes(const QString& folder)
{
    const auto size = [](const QString& path) {
        return QFileInfo(path).size() + QFileInfo(path + QStringLiteral("-wal")).size();
    };
    std::int64_t bytes = size(folder + QStringLiteral("/lockstep.db"));
    const QDir runs(folder + QStringLiteral("/runs"));
    for (const QString& run : runs.entryList(QDir::Dirs | QDir::NoDotAndDotDot))
        bytes += size(runs.filePath(run + QStringLiteral("/run.db")));
    return bytes;
}

std::string joined(const std::vector<std::string>& words)
{
    std::string line;
    for (const std::string& word : words)
        line += (line.empty() ? "" : " ") + word;
    return line;
}

template<typename T>
bool take(Result<std::vector<T>> result, std::vector<T>& out, std::optional<Error>& error)
{
    if (result) {
        out = std::move(result).value();
        return true;
    }
    if (!error)
        error = result.error();
    return false;
}

} // namespace

struct ProjectModel::Source {
    std::optional<ProjectStore> store;
    std::int64_t version = -1;
    std::int64_t readMs = 0;
    bool anyRunning = false;
    bool gone = false; // its folder, when it was last looked for

    // Null with no error: nothing new.
    Answer read(const QString& folder, bool force);
};

struct ProjectModel::Answer {
    std::shared_ptr<Source> source; // set by open()
    QString folder;
    ProjectSnapshotPtr snapshot;
    QString error;
};

ProjectModel::Answer ProjectModel::Source::read(const QString& folder, bool force)
{
    Answer answer;
    const std::int64_t now = QDateTime::currentMSecsSinceEpoch();
    if (!QFileInfo::exists(
            folder + QStringLiteral("/lockstep.db"))) { // what is open can be read on, but says nothing new
        gone = true;
        answer.error =
            ProjectModel::tr("The project is not in %1 any more. It was moved or deleted, or its disk is "
                             "not connected; what the window shows is as it was.")
                .arg(folder);
        return answer;
    }
    force = force || std::exchange(gone, false);
    const std::int64_t current = store->dataVersion();
    if (!force && current == version && !(anyRunning && now - readMs >= kRecheckMs))
        return answer;

    auto snapshot = std::make_shared<ProjectSnapshot>();
    std::optional<Error> error;
    std::vector<RunInfo> runs;
    snapshot->info = store->info();
    take(store->runs(), runs, error);
    take(store->gates(), snapshot->gates, error);
    take(store->findings(), snapshot->findings, error);
    take(store->checkpoints(), snapshot->checkpoints, error);
    if (error) {
        answer.error = qs(error->sentence());
        return answer;
    }
    anyRunning = false;
    for (RunInfo& info : runs) {
        RunEntry entry;
        Result<RunConfig> config = runConfigFromJson(info.configJson);
        entry.configReadable = config.ok();
        if (config)
            entry.config = std::move(config).value();
        entry.command = scriptCommandOf(info.configJson);
        // Another command is another configuration: in the hash, in the diff, for the reference run.
        if (entry.command)
            entry.config.workloadOptions["command"] = joined(entry.command->words);
        entry.onLoss = onLossOf(info.configJson);
        entry.info = std::move(info);
        anyRunning = anyRunning || entry.running();
        snapshot->runs.push_back(std::move(entry));
    }
    snapshot->bytes = storeBytes(folder);
    snapshot->readUnixMs = now;
    snapshot->readOnly = !QFileInfo(folder).isWritable();
    version = current;
    readMs = now;
    answer.snapshot = std::move(snapshot);
    return answer;
}

ProjectModel::ProjectModel(QObject* parent) : QObject(parent)
{
    timer_.setInterval(kPollMs);
    connect(&timer_, &QTimer::timeout, this, &ProjectModel::look);
}

ProjectModel::~ProjectModel() = default;

ProjectSnapshotPtr ProjectModel::snapshot() const
{
    static const ProjectSnapshotPtr empty = std::make_shared<const ProjectSnapshot>();
    return snapshot_ ? snapshot_ : empty;
}

void ProjectModel::open(const QString& folder)
{
    const QString path = QDir(folder).absolutePath();
    jobs_.start(
        [path](const JobToken&) {
            Answer answer;
            Result<ProjectStore> store = ProjectStore::open(path.toStdString());
            if (!store) {
                answer.error = qs(store.error().sentence());
            } else {
                auto source = std::make_shared<Source>();
                source->store.emplace(std::move(store).value());
                answer = source->read(path, true);
                answer.source = std::move(source);
            }
            answer.folder = path;
            return answer;
        },
        [this](Answer answer) {
            if (!answer.snapshot) {
                if (isOpen())
                    timer_.start(); // the project open before stays
                Q_EMIT openFailed(answer.folder, answer.error);
                return;
            }
            problem_.clear();
            source_ = answer.source;
            folder_ = answer.folder;
            snapshot_ = answer.snapshot;
            timer_.start();
            Q_EMIT opened();
            Q_EMIT changed(snapshot_);
        });
}

void ProjectModel::close()
{
    jobs_.cancel();
    timer_.stop();
    // The last reference may not die while a job uses it; the job holds its own.
    source_.reset();
    snapshot_.reset();
    folder_.clear();
    Q_EMIT closed();
}

void ProjectModel::refresh()
{
    if (!source_)
        return;
    jobs_.startNext(
        [source = source_, folder = folder_](const JobToken&) { return source->read(folder, true); },
        [this](Answer answer) { deliver(std::move(answer)); });
}

void ProjectModel::look()
{
    if (!source_ || jobs_.busy())
        return;
    jobs_.startNext(
        [source = source_, folder = folder_](const JobToken&) { return source->read(folder, false); },
        [this](Answer answer) { deliver(std::move(answer)); });
}

void ProjectModel::deliver(Answer answer)
{
    if (answer.error != problem_ && (answer.snapshot || !answer.error.isEmpty())) {
        problem_ = answer.error;
        Q_EMIT problem(problem_);
    }
    if (!answer.snapshot || !isOpen())
        return;
    snapshot_ = std::move(answer.snapshot);
    Q_EMIT changed(snapshot_);
}

} // namespace lockstep
