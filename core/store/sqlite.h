// A thin owner of SQLite handles: connections, statements, transactions; result codes become Status. Private
// to core/store. A Database and its Statements belong to one thread.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace lockstep::store {

class Database
{
public:
    enum class Mode { Create, ReadWrite, ReadOnly };

    // `uri` is an SQLite URI ("file:..."; see fileUri). `label` names the file in errors.
    static Result<Database> open(const std::string& uri, Mode mode, const std::string& label);

    Status execute(const char* sql);
    // Result of a statement that gives one integer, e.g. "PRAGMA data_version".
    Result<std::int64_t> integer(const char* sql);
    // The last error of this connection as an Error about `doing` ("Cannot read ...").
    Error error(const char* doing, int code) const;

    sqlite3* handle() const { return handle_.get(); }
    const std::string& label() const { return label_; }

private:
    struct Close {
        void operator()(sqlite3*) const;
    };
    std::unique_ptr<sqlite3, Close> handle_;
    std::string label_;
};

// A prepared statement, made on first use and kept. Bind, step, read columns, reset; run() does all for one
// without rows.
class Statement
{
public:
    Statement(Database& database, const char* sql) : database_(&database), sql_(sql) {}

    template<typename... Args>
    Status run(const Args&... args)
    {
        if (Status bound = bind(args...); !bound.ok())
            return bound;
        return finish();
    }
    // Binds ?1, ?2, ... and rewinds.
    template<typename... Args>
    Status bind(const Args&... args)
    {
        if (Status ready = rewind(); !ready.ok())
            return ready;
        int position = 0;
        (bindOne(++position, args), ...);
        return {};
    }
    // `perRow` (Status(const Statement&)) for every row; stops at the first error.
    template<typename PerRow, typename... Args>
    Status forEach(PerRow&& perRow, const Args&... args)
    {
        if (Status bound = bind(args...); !bound.ok())
            return bound;
        for (;;) {
            const Result<bool> row = step();
            if (!row.ok())
                return row.error();
            if (!*row)
                return {};
            if (Status status = perRow(std::as_const(*this)); !status.ok()) {
                reset();
                return status;
            }
        }
    }
    // True: a row stands in the columns. False: done, and rewound.
    Result<bool> step();
    // Ends a query before its last row; an open query would hold on to old pages of the file.
    void reset();

    std::int64_t integer(int column) const;
    double real(int column, double ifNull = 0) const;
    std::string text(int column) const;
    // Valid until the next step.
    std::string_view blob(int column) const;

private:
    struct Finalize {
        void operator()(sqlite3_stmt*) const;
    };
    Status rewind();
    Status finish();
    void bindOne(int position, std::int64_t value);
    void bindOne(int position, int value) { bindOne(position, std::int64_t(value)); }
    void bindOne(int position, double value); // NaN becomes NULL
    void bindOne(int position, const std::string& text);
    void bindOne(int position, std::string_view bytes); // as a BLOB; must live until the statement is done

    Database* database_;
    const char* sql_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// BEGIN ... COMMIT; rolls back when it goes out of scope without commit().
class Transaction
{
public:
    enum class Kind { Read, Write };
    static Result<Transaction> begin(Database& database, Kind kind);
    Transaction(Transaction&& other) noexcept;
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();

    Status commit();

private:
    explicit Transaction(Database& database) : database_(&database) {}
    Database* database_; // nullptr: over
};

// "file:/a%20path/run.db?mode=..." with everything special escaped. `parameters` without '?' or '&' in front.
std::string fileUri(const std::string& path, const std::string& parameters = {});

template<typename T>
std::string_view bytesOf(const std::vector<T>& items)
{
    return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)};
}

} // namespace lockstep::store
