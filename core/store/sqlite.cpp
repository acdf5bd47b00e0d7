#include "core/store/sqlite.h"

#include <sqlite3.h>

#include <cmath>
#include <utility>

namespace lockstep::store {

namespace {

// Long enough for a short transaction of another process, short enough not to look like a hang.
constexpr int kBusyTimeoutMs = 5000;

ErrorKind kindOf(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return ErrorKind::Busy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: // a table or column is missing: our statements are fixed, so the file is not what it
                       // claims
    case SQLITE_FORMAT:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return ErrorKind::Corrupt;
    default:
        return ErrorKind::Io;
    }
}

const char* fixOf(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "Free some disk space";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return "Check the folder and its permissions";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return "Close the other program or try again";
    default:
        return kindOf(code) == ErrorKind::Corrupt ? "Restore the file from a copy, or record the run again"
                                                  : "Check the disk, its free space and the permissions";
    }
}

} // namespace

void Database::Close::operator()(sqlite3* handle) const
{
    sqlite3_close_v2(handle);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const
{
    sqlite3_finalize(statement);
}

Result<Database> Database::open(const std::string& uri, Mode mode, const std::string& label)
{
    int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    flags |= mode == Mode::ReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (mode == Mode::Create)
        flags |= SQLITE_OPEN_CREATE;
    Database database;
    database.label_ = label;
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
    database.handle_.reset(handle);
    if (code != SQLITE_OK)
        return database.error("Cannot open", code);
    sqlite3_busy_timeout(handle, kBusyTimeoutMs);
    // Files may come from strangers: their schema must not run functions or hide malformed pages.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    if (Status set = database.execute("PRAGMA cell_size_check = ON"); !set.ok())
        return set.error();
    return database;
}

Error Database::error(const char* doing, int code) const
{
    const char* why = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
    return {kindOf(code), std::string(doing) + " " + label_, why, fixOf(code)};
}

Status Database::execute(const char* sql)
{
    const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? Status() : Status(error("Cannot use", code));
}

Result<std::int64_t> Database::integer(const char* sql)
{
    Statement statement(*this, sql);
    if (Status bound = statement.bind(); !bound.ok())
        return bound.error();
    const Result<bool> row = statement.step();
    if (!row.ok())
        return row.error();
    return *row ? statement.integer(0) : 0;
}

Status Statement::rewind()
{
    if (statement_) {
        sqlite3_reset(statement_.get()); // repeats the error of the last step, which has been reported
        sqlite3_clear_bindings(statement_.get());
        return {};
    }
    sqlite3_stmt* prepared = nullptr;
    const int code =
        sqlite3_prepare_v3(database_->handle(), sql_, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    statement_.reset(prepared);
    return code == SQLITE_OK ? Status() : Status(database_->error("Cannot use", code));
}

Result<bool> Statement::step()
{
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE) {
        const Error failed = database_->error("Cannot read or write", code);
        sqlite3_reset(statement_.get());
        return failed;
    }
    sqlite3_reset(statement_.get());
    return false;
}

void Statement::reset()
{
    if (statement_)
        sqlite3_reset(statement_.get());
}

Status Statement::finish()
{
    Result<bool> row = true;
    do
        row = step();
    while (row.ok() && *row);
    return row.ok() ? Status() : Status(row.error());
}

void Statement::bindOne(int position, std::int64_t value)
{
    sqlite3_bind_int64(statement_.get(), position, value);
}

void Statement::bindOne(int position, double value)
{
    if (std::isnan(value))
        sqlite3_bind_null(statement_.get(), position);
    else
        sqlite3_bind_double(statement_.get(), position, value);
}

void Statement::bindOne(int position, const std::string& text)
{
    sqlite3_bind_text64(statement_.get(), position, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bindOne(int position, std::string_view bytes)
{
    // A null pointer would bind NULL instead of an empty BLOB.
    sqlite3_bind_blob64(statement_.get(), position, bytes.empty() ? "" : bytes.data(), bytes.size(),
                        SQLITE_STATIC);
}

std::int64_t Statement::integer(int column) const
{
    return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column, double ifNull) const
{
    if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL)
        return ifNull;
    return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const
{
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    return text ? std::string(text, std::size_t(sqlite3_column_bytes(statement_.get(), column)))
                : std::string();
}

std::string_view Statement::blob(int column) const
{
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    return bytes ? std::string_view(bytes, std::size_t(sqlite3_column_bytes(statement_.get(), column)))
                 : std::string_view();
}

Result<Transaction> Transaction::begin(Database& database, Kind kind)
{
    if (Status begun = database.execute(kind == Kind::Write ? "BEGIN IMMEDIATE" : "BEGIN"); !begun.ok())
        return begun.error();
    return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr))
{
}

Transaction::~Transaction()
{
    // SQLite may have rolled back by itself (disk full); then there is nothing left to undo.
    if (database_ && !sqlite3_get_autocommit(database_->handle()))
        (void)database_->execute("ROLLBACK");
}

Status Transaction::commit()
{
    if (Status done = database_->execute("COMMIT"); !done.ok())
        return done;
    database_ = nullptr;
    return {};
}

std::string fileUri(const std::string& path, const std::string& parameters)
{
    static constexpr char kHex[] = "0123456789ABCDEF";
    std::string uri = "file:";
    for (const unsigned char c : path) {
        if (c == '%' || c == '?' || c == '#' || c < 0x20 || c >= 0x7f) {
            uri += '%';
            uri += kHex[c >> 4];
            uri += kHex[c & 15];
        } else {
            uri += char(c);
        }
    }
    return parameters.empty() ? uri : uri + '?' + parameters;
}

} // namespace lockstep::store
