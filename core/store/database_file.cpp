#include "core/store/database_file.h"

#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace lockstep::store {

namespace {

namespace fs = std::filesystem;

// SQLite file format, section 1.3: big-endian fields of the 100-byte database header.
constexpr std::size_t kHeaderSize = 100;
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;
constexpr char kMagic[] = "SQLite format 3"; // with its terminating zero: 16 bytes

std::uint32_t bigEndian(const unsigned char* bytes)
{
    return std::uint32_t(bytes[0]) << 24 | std::uint32_t(bytes[1]) << 16 | std::uint32_t(bytes[2]) << 8 |
           bytes[3];
}

Error notOurs(const std::string& path, const Schema& schema, const std::string& why)
{
    return {ErrorKind::Corrupt, path + " is not a usable Lockstep " + schema.kind + " file", why,
            "Restore it from a copy"};
}

// Statements that are not part of a transaction and concern the file as a whole.
Status configureWriter(Database& database)
{
    // NORMAL: a commit survives the death of any process; after a power cut the last commits may be missing,
    // never torn.
    return database.execute(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000;"
        "PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON");
}

Status migrate(Database& database, const Schema& schema)
{
    const Result<std::int64_t> version = database.integer("PRAGMA user_version");
    if (!version.ok())
        return version.error();
    if (*version == schema.version())
        return {};
    Result<Transaction> transaction = Transaction::begin(database, Transaction::Kind::Write);
    if (!transaction.ok())
        return transaction.error();
    // Again inside the transaction: another process may have been faster.
    const Result<std::int64_t> locked = database.integer("PRAGMA user_version");
    if (!locked.ok())
        return locked.error();
    for (std::int64_t v = *locked; v < schema.version(); ++v) {
        if (Status step = database.execute(schema.steps[std::size_t(v)]); !step.ok())
            return step;
    }
    const std::string stamp = "PRAGMA application_id = " + std::to_string(schema.applicationId) +
                              "; PRAGMA user_version = " + std::to_string(schema.version());
    if (Status stamped = database.execute(stamp.c_str()); !stamped.ok())
        return stamped;
    return transaction->commit();
}

} // namespace

Status createFile(const std::string& path, const Schema& schema)
{
    std::error_code ignored;
    if (fs::exists(path, ignored))
        return Error{ErrorKind::Input, "Cannot create " + path, "it exists already", "Choose another folder"};
    const std::string temporary = path + ".new" + std::to_string(::getpid());
    {
        Result<Database> database = Database::open(fileUri(temporary), Database::Mode::Create, path);
        if (!database.ok())
            return database.error();
        // The schema is written before the switch to WAL, so the header of the file itself is right from the
        // beginning.
        Status made = migrate(*database, schema);
        if (made.ok())
            made = database->execute("PRAGMA journal_mode = WAL");
        if (!made.ok()) {
            database = Error{};
            fs::remove(temporary, ignored);
            return made;
        }
    }
    // link fails where rename would replace a file that somebody else has just made.
    const int linked = ::link(temporary.c_str(), path.c_str());
    const int reason = errno;
    if (linked != 0 && reason != EEXIST && std::rename(temporary.c_str(), path.c_str()) == 0)
        return {}; // a file system without hard links
    fs::remove(temporary, ignored);
    if (linked == 0)
        return {};
    return Error{reason == EEXIST ? ErrorKind::Input : ErrorKind::Io, "Cannot create " + path,
                 std::strerror(reason), "Check the folder and its permissions"};
}

namespace {

// Before SQLite opens it: is there a file that can be read?
Status checkReadable(const std::string& path)
{
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::regular && ::access(path.c_str(), R_OK) == 0)
        return {};
    if (status.type() == fs::file_type::regular || error)
        return Error{ErrorKind::Io, "Cannot open " + path, error ? error.message() : std::strerror(errno),
                     "Check the permissions"};
    if (status.type() == fs::file_type::not_found)
        return Error{ErrorKind::NotFound, "Cannot open " + path, "there is no such file", "Check the path"};
    return Error{ErrorKind::Corrupt, "Cannot open " + path, "it is a folder or a device", "Check the path"};
}

// Reads the header through SQLite's own file and before SQLite does anything with it, so that a file that is not ours or
// too new is never touched. (A file of our own would be shorter, but wrong: closing it would give up every lock this process
// holds on the database, and another process could then take away the -wal file from under us.)
Status checkHeader(Database& database, const std::string& path, const Schema& schema)
{
    sqlite3_file* file = nullptr;
    sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
    sqlite3_int64 size = 0;
    std::array<unsigned char, kHeaderSize> header{};
    if (!file || !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return Error{ErrorKind::Io, "Cannot read " + path, "its size is not known", "Check the disk"};
    if (size < sqlite3_int64(header.size()))
        return notOurs(path, schema,
                       "it ends at byte " + std::to_string(size) + ", inside the header of 100 bytes");
    if (file->pMethods->xRead(file, header.data(), int(header.size()), 0) != SQLITE_OK)
        return Error{ErrorKind::Io, "Cannot read " + path, "its first 100 bytes cannot be read",
                     "Check the disk"};
    if (std::memcmp(header.data(), kMagic, sizeof kMagic) != 0)
        return notOurs(path, schema, "the SQLite magic is missing at byte 0");
    if (bigEndian(&header[kApplicationIdAt]) != std::uint32_t(schema.applicationId))
        return notOurs(path, schema, "the application id at byte 68 is another program's");
    const std::uint32_t version = bigEndian(&header[kUserVersionAt]);
    if (version > std::uint32_t(schema.version()))
        return Error{ErrorKind::NewerSchema, path + " was written by a newer Lockstep",
                     "its schema is " + std::to_string(version) + ", this program knows up to " +
                         std::to_string(schema.version()),
                     "Open it with that version; nothing was changed"};
    if (version == 0)
        return notOurs(path, schema, "the schema version at byte 60 is 0");
    return {};
}

// A connection to a file that is ours.
Result<Database> openChecked(const std::string& path, const Schema& schema, Database::Mode mode,
                             const std::string& parameters = {})
{
    Result<Database> database = Database::open(fileUri(path, parameters), mode, path);
    if (database.ok())
        if (Status checked = checkHeader(*database, path, schema); !checked.ok())
            return checked.error();
    return database;
}

} // namespace

Result<Database> openForWriting(const std::string& path, const Schema& schema)
{
    if (Status readable = checkReadable(path); !readable.ok())
        return readable.error();
    Result<Database> database = openChecked(path, schema, Database::Mode::ReadWrite);
    if (!database.ok())
        return database;
    if (Status configured = configureWriter(*database); !configured.ok())
        return configured.error();
    // SQLite opens a read-only file for reading without a word when writing was asked for.
    if (sqlite3_db_readonly(database->handle(), "main") != 0)
        return Error{ErrorKind::Io, "Cannot write " + path, "the file is read-only", "Check its permissions"};
    if (Status migrated = migrate(*database, schema); !migrated.ok())
        return migrated.error();
    return database;
}

Result<Database> openForReading(const std::string& path, const Schema& schema, bool quiet)
{
    if (Status readable = checkReadable(path); !readable.ok())
        return readable.error();
    std::error_code error;
    const auto walSize = fs::file_size(path + "-wal", error);
    const bool walEmpty = error || walSize == 0;
    if (quiet && walEmpty)
        return openChecked(path, schema, Database::Mode::ReadOnly, "immutable=1");

    Result<Database> shared = openChecked(path, schema, Database::Mode::ReadOnly);
    Status usable = shared.ok() ? Status() : Status(shared.error());
    if (usable.ok())
        usable = shared->execute("SELECT 1 FROM sqlite_master LIMIT 1");
    if (usable.ok() || usable.error().kind != ErrorKind::Io)
        return usable.ok() ? std::move(shared) : Result<Database>(usable.error());
    if (walEmpty)
        return openChecked(path, schema, Database::Mode::ReadOnly, "immutable=1");
    // Read-only media with commits left in the -wal file. immutable=1 would silently drop them. Without locks
    // and in exclusive mode SQLite keeps the WAL index in its own memory and needs no -shm file.
    Result<Database> alone = openChecked(path, schema, Database::Mode::ReadOnly, "vfs=unix-none");
    if (!alone.ok())
        return alone;
    sqlite3_db_config(alone->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    if (Status set = alone->execute("PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_master LIMIT 1");
        !set.ok())
        return set.error();
    return alone;
}

} // namespace lockstep::store
