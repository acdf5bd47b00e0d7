#include "core/store/trackio_database.h"

#include "core/store/sqlite.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <stdlib.h>

namespace lockstep {

using namespace store;

namespace {

namespace fs = std::filesystem;

// A folder of our own for the copy; removed with everything in it.
class TemporaryFolder
{
public:
    static Result<TemporaryFolder> make()
    {
        std::error_code error;
        std::string name = (fs::temp_directory_path(error) / "lockstep-import-XXXXXX").string();
        if (error || !::mkdtemp(name.data()))
            return Error{ErrorKind::Io, "Cannot copy the database",
                         "no folder for temporary files can be made",
                         "Set TMPDIR to a folder with free space"};
        return TemporaryFolder(std::move(name));
    }
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder()
    {
        std::error_code ignored;
        if (!path_.empty())
            fs::remove_all(path_, ignored);
    }
    const std::string& path() const { return path_; }

private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

bool hasContent(const std::string& path)
{
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return !error && size > 0;
}

struct Opened {
    std::optional<TemporaryFolder> folder; // outlives the database
    Database database;
    bool hasRunId = false; // since Trackio 0.24
};

Result<Opened> openTrackio(const std::string& path)
{
    std::optional<TemporaryFolder> folder;
    std::string uri = fileUri(path, "immutable=1");
    Database::Mode mode = Database::Mode::ReadOnly;
    if (hasContent(path + "-wal") || hasContent(path + "-journal")) {
        Result<TemporaryFolder> made = TemporaryFolder::make();
        if (!made)
            return made.error();
        folder.emplace(std::move(made).value());
        const std::string copy = folder->path() + "/copy.db";
        for (const char* suffix : {"", "-wal", "-journal"}) {
            std::error_code error;
            if (*suffix && !hasContent(path + suffix))
                continue;
            fs::copy_file(path + suffix, copy + suffix, error);
            if (error)
                return Error{ErrorKind::Io, "Cannot copy " + path + suffix, error.message(),
                             "Check its permissions and the free space"};
            fs::permissions(copy + suffix, fs::perms::owner_read | fs::perms::owner_write, error);
        }
        uri = fileUri(copy);
        mode = Database::Mode::ReadWrite;
    }
    Result<Database> database = Database::open(uri, mode, path);
    if (!database)
        return database.error();
    const auto columns = [&](const char* sql) { return database->integer(sql); };
    const Result<std::int64_t> known = columns("SELECT count(*) FROM pragma_table_info('metrics') WHERE name "
                                               "IN ('id', 'run_name', 'step', 'metrics')");
    if (!known)
        return known.error();
    if (*known != 4)
        return Error{ErrorKind::Input, "Cannot read " + path,
                     "it has no table of metrics as Trackio makes it", "Name a database of Trackio"};
    const Result<std::int64_t> runId =
        columns("SELECT count(*) FROM pragma_table_info('metrics') WHERE name = 'run_id'");
    if (!runId)
        return runId.error();
    return Opened{std::move(folder), std::move(database).value(), *runId == 1};
}

} // namespace

bool isTrackioDatabase(const std::string& path)
{
    return openTrackio(path).ok();
}

Status readTrackioDatabase(const std::string& path,
                           const std::function<void(const TrackioConfigRow&)>& config,
                           const std::function<void(const TrackioRow&)>& row)
{
    Result<Opened> opened = openTrackio(path);
    if (!opened)
        return opened.error();
    const Result<std::int64_t> configs = opened->database.integer(
        "SELECT count(*) FROM pragma_table_info('configs') WHERE name IN ('run_name', 'config')");
    if (!configs)
        return configs.error();
    Status configsRead; // the rows may be whole all the same
    if (*configs == 2) {
        const Result<std::int64_t> byId = opened->database.integer(
            "SELECT count(*) FROM pragma_table_info('configs') WHERE name = 'run_id'");
        Statement all(opened->database, byId && *byId == 1
                                            ? "SELECT run_id, run_name, config FROM configs"
                                            : "SELECT run_name, run_name, config FROM configs");
        configsRead = all.forEach([&](const Statement& s) {
            config({s.text(0), s.text(1), std::string(s.blob(2))});
            return Status();
        });
    }
    Statement all(opened->database,
                  opened->hasRunId
                      ? "SELECT coalesce(run_id, run_name), run_name, step, metrics FROM metrics ORDER BY id"
                      : "SELECT run_name, run_name, step, metrics FROM metrics ORDER BY id");
    const Status rowsRead = all.forEach([&](const Statement& s) {
        row({s.text(0), s.text(1), s.integer(2), std::string(s.blob(3))});
        return Status();
    });
    return rowsRead ? configsRead : rowsRead;
}

} // namespace lockstep
