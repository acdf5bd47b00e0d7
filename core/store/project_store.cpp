#include "core/store/project_store_impl.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace lockstep {

using namespace store;
namespace fs = std::filesystem;

std::int64_t store::nowUnixMs()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

Error store::projectIoError(const std::string& what, const std::string& why)
{
    return {ErrorKind::Io, what, why, "Check the folder, its free space and its permissions"};
}

Status ProjectStore::Impl::loadInfo(const std::string& folder)
{
    std::error_code ignored;
    const fs::path absolute = fs::absolute(folder, ignored).lexically_normal();
    info.folder = absolute.has_filename() ? absolute.string() : absolute.parent_path().string();
    info.name = fs::path(info.folder).filename().string();
    const Result<std::int64_t> schema = database.integer("PRAGMA user_version");
    if (!schema.ok())
        return schema.error();
    info.schema = int(*schema);
    return forEach("SELECT key, value FROM property", [this](const Statement& s) {
        if (s.text(0) == "name" && !s.text(1).empty())
            info.name = s.text(1);
        else if (s.text(0) == "workload")
            info.workload = s.text(1);
        else if (s.text(0) == "created_ms")
            info.createdUnixMs = std::strtoll(s.text(1).c_str(), nullptr, 10);
    });
}

Result<ProjectStore> ProjectStore::create(const std::string& folder, const std::string& workload)
{
    if (folder.empty())
        return Error{ErrorKind::Usage, "Cannot create a project", "its folder has no name", "Name a folder"};
    std::error_code error;
    if (fs::exists(folder + kProjectFile, error))
        return Error{ErrorKind::Input, "Cannot create a project in " + folder, "there is one already",
                     "Open it, or choose another folder"};
    fs::create_directories(folder + "/runs", error);
    if (error)
        return projectIoError("Cannot create " + folder + "/runs", error.message());
    if (Status made = createFile(folder + kProjectFile, kProjectSchema); !made.ok())
        return made.error();
    Result<ProjectStore> project = open(folder);
    if (!project.ok())
        return project;
    Impl& impl = *project->impl_;
    Status written = impl.atomically([&] {
        const char* insert = "INSERT INTO property VALUES(?, ?)";
        Status status = impl.execute(insert, std::string("workload"), workload);
        return status.ok() ? impl.execute(insert, std::string("created_ms"), std::to_string(nowUnixMs()))
                           : status;
    });
    if (written.ok())
        written = impl.loadInfo(folder);
    return written.ok() ? std::move(project) : Result<ProjectStore>(written.error());
}

Result<ProjectStore> ProjectStore::open(const std::string& folder)
{
    if (folder.empty())
        return Error{ErrorKind::Usage, "Cannot open a project", "its folder has no name", "Name a folder"};
    const std::string path = folder + kProjectFile;
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        return Error{ErrorKind::NotFound, "There is no project in " + folder, "it holds no lockstep.db",
                     "Create one with: lockstep-cli init DIR"};
    Result<Database> database = openForWriting(path, kProjectSchema);
    if (!database.ok() && database.error().kind == ErrorKind::Io)
        database = openForReading(path, kProjectSchema, false);
    if (!database.ok())
        return database.error();
    auto impl = std::make_unique<Impl>(std::move(*database));
    if (Status loaded = impl->loadInfo(folder); !loaded.ok())
        return loaded.error();
    return ProjectStore(std::move(impl));
}

ProjectStore::ProjectStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl))
{
}
ProjectStore::ProjectStore(ProjectStore&&) noexcept = default;
ProjectStore& ProjectStore::operator=(ProjectStore&&) noexcept = default;
ProjectStore::~ProjectStore() = default;

const ProjectInfo& ProjectStore::info() const
{
    return impl_->info;
}

std::int64_t ProjectStore::dataVersion()
{
    const Result<std::int64_t> version = impl_->database.integer("PRAGMA data_version");
    return version.ok() ? *version : 0;
}

Status ProjectStore::saveGate(const GateInfo& gate)
{
    return impl_->atomically([&]() -> Status {
        Status status = impl_->execute("INSERT INTO gate(phase, verdict, judged_ms, config) VALUES(?1, ?2, "
                                       "?3, ?4) ON CONFLICT(phase) DO UPDATE SET "
                                       "verdict = ?2, judged_ms = ?3, config = ?4",
                                       gate.phase, gate.verdict, gate.judgedUnixMs, gate.configJson);
        if (status.ok())
            status = impl_->execute("DELETE FROM gate_check WHERE phase = ?", gate.phase);
        for (std::size_t i = 0; status.ok() && i < gate.checks.size(); ++i) {
            const GateCheck& c = gate.checks[i];
            status = impl_->execute("INSERT INTO gate_check VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                    gate.phase, std::int64_t(i), c.id, c.verdict, c.value, c.limit, c.step,
                                    c.rank, c.parameter, c.sentence, c.fix, c.cause, c.evidenceJson);
        }
        return status;
    });
}

Status ProjectStore::overrideGate(const std::string& phase, const std::string& reason)
{
    return impl_->execute(
        "INSERT INTO gate(phase, verdict, judged_ms, config, override_reason, overridden_ms) "
        "VALUES(?1, 'cannot_judge', 0, '', ?2, ?3) ON CONFLICT(phase) DO UPDATE SET "
        "override_reason = ?2, overridden_ms = ?3",
        phase, reason, reason.empty() ? std::int64_t(0) : nowUnixMs());
}

Result<std::vector<GateInfo>> ProjectStore::gates()
{
    std::vector<GateInfo> gates;
    // One statement, so that a gate and its checks come from the same moment.
    Status read = impl_->forEach(
        "SELECT g.phase, g.verdict, g.judged_ms, g.override_reason, g.overridden_ms, g.config, c.id, "
        "c.verdict, c.value, "
        "c.limit_text, c.step, c.rank, c.parameter, c.sentence, c.fix, c.cause, c.evidence, c.position IS "
        "NOT NULL "
        "FROM gate g LEFT JOIN gate_check c ON c.phase = g.phase ORDER BY g.rowid, c.position",
        [&](const Statement& s) {
            if (gates.empty() || gates.back().phase != s.text(0)) {
                GateInfo& gate = gates.emplace_back();
                gate.phase = s.text(0);
                gate.verdict = s.text(1);
                gate.judgedUnixMs = s.integer(2);
                gate.overrideReason = s.text(3);
                gate.overriddenUnixMs = s.integer(4);
                gate.configJson = s.text(5);
            }
            if (s.integer(17) != 0) {
                gates.back().checks.push_back({s.text(6), s.text(7), s.text(8), s.text(9), s.integer(10),
                                               int(s.integer(11)), s.text(12), s.text(13), s.text(14),
                                               s.text(15), s.text(16)});
            }
        });
    if (!read.ok())
        return read.error();
    return gates;
}

Status ProjectStore::addCheckpoint(const CheckpointSeen& seen)
{
    return impl_->execute("INSERT OR REPLACE INTO checkpoint VALUES(?, ?, ?, ?, ?)", seen.path, seen.runId,
                          seen.step, seen.bytes, nowUnixMs());
}

Result<std::vector<CheckpointSeen>> ProjectStore::checkpoints()
{
    std::vector<CheckpointSeen> seen;
    Status read =
        impl_->forEach("SELECT path, run, step, bytes FROM checkpoint ORDER BY seen_ms DESC, rowid DESC",
                       [&](const Statement& s) {
                           seen.push_back({s.text(0), s.text(1), s.integer(2), s.integer(3)});
                       });
    if (!read.ok())
        return read.error();
    return seen;
}

Status ProjectStore::saveFindings(const std::string& runA, const std::string& runB,
                                  const std::vector<FindingRow>& findings)
{
    return impl_->atomically([&]() -> Status {
        Status status = impl_->execute("DELETE FROM finding WHERE run_a = ? AND run_b = ?", runA, runB);
        for (auto it = findings.begin(); status.ok() && it != findings.end(); ++it) {
            status = impl_->execute(
                "INSERT INTO finding(run_a, run_b, cause, confidence, sentence, fix, evidence, rank, "
                "step) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                runA, runB, it->cause, it->confidence, it->sentence, it->fix, it->evidenceJson, it->rank,
                it->step);
        }
        return status;
    });
}

Result<std::vector<FindingRow>> ProjectStore::findings()
{
    std::vector<FindingRow> rows;
    Status read = impl_->forEach("SELECT run_a, run_b, cause, confidence, sentence, fix, evidence, rank, "
                                 "step FROM finding ORDER BY id",
                                 [&](const Statement& s) {
                                     rows.push_back({s.text(0), s.text(1), s.text(2), s.text(3), s.text(4),
                                                     s.text(5), s.text(6), int(s.integer(7)), s.integer(8)});
                                 });
    if (!read.ok())
        return read.error();
    return rows;
}

} // namespace lockstep
