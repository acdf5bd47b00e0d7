#include "core/store/project_store.h"

#include "core/store/project_schema.h"
#include "core/store/run_lock.h"

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <sstream>
#include <sys/stat.h>
#include <utility>

namespace lockstep {

using namespace store;
namespace fs = std::filesystem;

namespace {

// Between being entered and its writer's first breath a run has no lock. After this long it never had a
// writer.
constexpr std::int64_t kStartGraceMs = 60'000;

std::int64_t nowUnixMs()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

RunState stateNamed(const std::string& name)
{
    for (const RunState state :
         {RunState::Running, RunState::Finished, RunState::Failed, RunState::Stopped}) {
        if (name == runStateName(state))
            return state;
    }
    return RunState::Interrupted;
}

// A folder name every file system takes.
std::string idStem(const std::string& name)
{
    std::string stem;
    for (const unsigned char c : name) {
        const bool plain = c < 0x80 && (std::isalnum(c) || c == '-' || c == '_' || c == '.');
        stem += plain ? char(std::tolower(c)) : '-';
    }
    stem.erase(0, stem.find_first_not_of("-."));
    if (stem.size() > 60)
        stem.resize(60);
    return stem.empty() ? "run" : stem;
}

std::string wordsOf(const std::vector<int>& numbers)
{
    std::string words;
    for (const int number : numbers)
        words += (words.empty() ? "" : " ") + std::to_string(number);
    return words;
}

std::vector<int> numbersOf(const std::string& words)
{
    std::istringstream stream(words);
    std::vector<int> numbers;
    for (int number = 0; stream >> number;)
        numbers.push_back(number);
    return numbers;
}

Error ioError(const std::string& what, const std::string& why)
{
    return {ErrorKind::Io, what, why, "Check the folder, its free space and its permissions"};
}

Error noSuchRun(const std::string& id)
{
    return {ErrorKind::NotFound, "There is no run \"" + id + "\"", "the project does not list it",
            "List the runs with: lockstep-cli runs DIR"};
}

constexpr const char* kRunColumns = "SELECT id, name, config, environment, state, started_ms, ended_ms, "
                                    "last_step, last_loss, exit_codes, failed_rank, "
                                    "failed_step, failed_sentence FROM run WHERE removed = 0";

} // namespace

struct ProjectStore::Impl {
    explicit Impl(Database opened) : database(std::move(opened)) {}

    Database database;
    ProjectInfo info;

    std::string runFolder(const std::string& id) const { return info.folder + "/runs/" + id; }
    std::string trashFolder(const std::string& id) const { return info.folder + "/runs/.trash/" + id; }
    RunInfo runOf(const Statement& row) const;
    Status loadInfo(const std::string& folder);
    Status moveRun(const std::string& id, bool removed);
    Status execute(const char* sql, auto&&... args)
    {
        Statement statement(database, sql);
        return statement.run(args...);
    }
    template<typename PerRow, typename... Args>
    Status forEach(const char* sql, PerRow&& perRow, const Args&... args)
    {
        Statement statement(database, sql);
        const auto always = [&perRow](const Statement& row) {
            perRow(row);
            return Status();
        };
        return statement.forEach(always, args...);
    }
    // All of `write` or nothing.
    Status atomically(auto&& write)
    {
        Result<Transaction> transaction = Transaction::begin(database, Transaction::Kind::Write);
        if (!transaction.ok())
            return transaction.error();
        if (Status written = write(); !written.ok())
            return written;
        return transaction->commit();
    }
};

RunInfo ProjectStore::Impl::runOf(const Statement& row) const
{
    RunInfo run;
    run.id = row.text(0);
    run.name = row.text(1);
    run.configJson = row.text(2);
    run.environmentJson = row.text(3);
    run.state = stateNamed(row.text(4));
    run.startedUnixMs = row.integer(5);
    run.endedUnixMs = row.integer(6);
    run.lastStep = row.integer(7);
    run.lastLoss = row.real(8, std::numeric_limits<double>::quiet_NaN());
    run.exitCodes = numbersOf(row.text(9));
    run.firstFailure = {int(row.integer(10)), row.integer(11), row.text(12)};
    run.folder = runFolder(run.id);
    if (run.state == RunState::Running) {
        const RunLock::Holder holder = RunLock::holder(run.folder);
        const bool starting =
            holder == RunLock::Holder::NotYet && nowUnixMs() - run.startedUnixMs < kStartGraceMs;
        if (holder != RunLock::Holder::Writer && !starting)
            run.state = RunState::Interrupted;
    }
    return run;
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
        return ioError("Cannot create " + folder + "/runs", error.message());
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

Result<RunInfo> ProjectStore::addRun(const RunInfo& given)
{
    RunInfo run = given;
    run.state = RunState::Running;
    if (run.name.empty())
        run.name = "run";
    if (run.startedUnixMs == 0)
        run.startedUnixMs = nowUnixMs();
    const std::string stem = idStem(run.name);
    Status added = impl_->atomically([&]() -> Status {
        std::error_code error;
        fs::create_directories(impl_->info.folder + "/runs", error);
        for (int number = 1; number < 100'000; ++number) {
            char suffix[16];
            std::snprintf(suffix, sizeof suffix, "-%02d", number);
            run.id = stem + suffix;
            bool taken = false;
            Status looked = impl_->forEach(
                "SELECT 1 FROM run WHERE id = ?", [&taken](const Statement&) { taken = true; }, run.id);
            if (!looked.ok())
                return looked;
            if (taken)
                continue;
            run.folder = impl_->runFolder(run.id);
            if (::mkdir(run.folder.c_str(), 0777) == 0)
                break;
            if (errno != EEXIST)
                return ioError("Cannot create " + run.folder, std::strerror(errno));
        }
        return impl_->execute(
            "INSERT INTO run(id, name, config, environment, state, started_ms, ended_ms, last_step, "
            "last_loss, exit_codes, failed_rank, failed_step, failed_sentence) "
            "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            run.id, run.name, run.configJson, run.environmentJson, std::string(runStateName(run.state)),
            run.startedUnixMs, run.endedUnixMs, run.lastStep, run.lastLoss, wordsOf(run.exitCodes),
            run.firstFailure.rank, run.firstFailure.step, run.firstFailure.sentence);
    });
    if (!added.ok())
        return added.error();
    return run;
}

Status ProjectStore::updateRun(const RunInfo& run)
{
    Result<RunInfo> known = this->run(run.id);
    if (!known.ok())
        return known.error();
    return impl_->execute(
        "UPDATE run SET name = ?, config = ?, environment = ?, state = ?, started_ms = ?, ended_ms = ?, "
        "last_step = ?, last_loss = ?, exit_codes = ?, failed_rank = ?, failed_step = ?, "
        "failed_sentence = ? WHERE id = ?",
        run.name, run.configJson, run.environmentJson, std::string(runStateName(run.state)),
        run.startedUnixMs, run.endedUnixMs, run.lastStep, run.lastLoss, wordsOf(run.exitCodes),
        run.firstFailure.rank, run.firstFailure.step, run.firstFailure.sentence, run.id);
}

Result<std::vector<RunInfo>> ProjectStore::runs()
{
    std::vector<RunInfo> runs;
    const std::string sql = std::string(kRunColumns) + " ORDER BY number DESC";
    Status read = impl_->forEach(sql.c_str(), [&](const Statement& s) { runs.push_back(impl_->runOf(s)); });
    if (!read.ok())
        return read.error();
    return runs;
}

Result<RunInfo> ProjectStore::run(const std::string& idOrName)
{
    std::vector<RunInfo> found;
    const std::string sql =
        std::string(kRunColumns) + " AND (id = ?1 OR name = ?1) ORDER BY id = ?1 DESC, number DESC LIMIT 1";
    Status read = impl_->forEach(
        sql.c_str(), [&](const Statement& s) { found.push_back(impl_->runOf(s)); }, idOrName);
    if (!read.ok())
        return read.error();
    if (found.empty())
        return noSuchRun(idOrName);
    return found.front();
}

Status ProjectStore::Impl::moveRun(const std::string& id, bool removed)
{
    return atomically([&]() -> Status {
        bool known = false;
        Status looked = forEach(
            "SELECT 1 FROM run WHERE id = ? AND removed = ?", [&known](const Statement&) { known = true; },
            id, int(!removed));
        if (!looked.ok())
            return looked;
        if (!known)
            return noSuchRun(id);
        if (removed && RunLock::holder(runFolder(id)) == RunLock::Holder::Writer)
            return Error{ErrorKind::Busy, "Cannot remove the run " + id, "it is still recording",
                         "Stop it first"};
        if (Status marked = execute("UPDATE run SET removed = ? WHERE id = ?", int(removed), id);
            !marked.ok())
            return marked;
        std::error_code error;
        fs::create_directories(info.folder + "/runs/.trash", error);
        if (!error)
            fs::rename(removed ? runFolder(id) : trashFolder(id), removed ? trashFolder(id) : runFolder(id),
                       error);
        // A folder that somebody deleted by hand is no reason to keep its row.
        if (error && error != std::errc::no_such_file_or_directory)
            return ioError("Cannot move the folder of the run " + id, error.message());
        return {};
    });
}

Status ProjectStore::removeRun(const std::string& id)
{
    return impl_->moveRun(id, true);
}

Status ProjectStore::restoreRun(const std::string& id)
{
    return impl_->moveRun(id, false);
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
