// The runs of a project: their rows, and the folders they are the names of.
#include "core/store/project_store_impl.h"
#include "core/store/run_lock.h"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <sys/stat.h>

namespace lockstep {

using namespace store;
namespace fs = std::filesystem;

namespace {

// Between being entered and its writer's first breath a run has no lock. After this long it never had a
// writer.
constexpr std::int64_t kStartGraceMs = 60'000;
constexpr int kMostNumber = 99'999; // of the runs of one name

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

Error noSuchRun(const std::string& id)
{
    return {ErrorKind::NotFound, "There is no run \"" + id + "\"", "the project does not list it",
            "List the runs with: lockstep-cli runs DIR"};
}

constexpr const char* kRunColumns = "SELECT id, name, config, environment, state, started_ms, ended_ms, "
                                    "last_step, last_loss, exit_codes, failed_rank, "
                                    "failed_step, failed_sentence FROM run WHERE removed = 0";

} // namespace

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
        if (error)
            return projectIoError("Cannot create " + impl_->info.folder + "/runs", error.message());
        std::set<std::string> taken;
        Status looked = impl_->forEach(
            "SELECT id FROM run WHERE substr(id, 1, ?) = ?",
            [&taken](const Statement& row) { taken.insert(row.text(0)); }, std::int64_t(stem.size() + 1),
            stem + "-");
        if (!looked.ok())
            return looked;
        for (int number = 1;; ++number) {
            if (number > kMostNumber)
                return Error{ErrorKind::Usage, "Cannot add another run named " + run.name,
                             "all numbers up to " + std::to_string(kMostNumber) + " are taken",
                             "Give the run another name"};
            char suffix[16];
            std::snprintf(suffix, sizeof suffix, "-%02d", number);
            run.id = stem + suffix;
            if (taken.contains(run.id))
                continue;
            run.folder = impl_->runFolder(run.id);
            if (::mkdir(run.folder.c_str(), 0777) == 0)
                break;
            if (errno != EEXIST)
                return projectIoError("Cannot create " + run.folder, std::strerror(errno));
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
    if (known->id != run.id) // found by its name
        return noSuchRun(run.id);
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
            return projectIoError("Cannot move the folder of the run " + id, error.message());
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

} // namespace lockstep
