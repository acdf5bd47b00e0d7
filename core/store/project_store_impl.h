// What ProjectStore holds; its files share it. Internal to core/store.
#pragma once

#include "core/store/project_schema.h"
#include "core/store/project_store.h"

#include <string>
#include <utility>

namespace lockstep {

namespace store {
std::int64_t nowUnixMs();
Error projectIoError(const std::string& what, const std::string& why);
} // namespace store

struct ProjectStore::Impl {
    explicit Impl(store::Database opened) : database(std::move(opened)) {}

    store::Database database;
    ProjectInfo info;

    std::string runFolder(const std::string& id) const { return info.folder + "/runs/" + id; }
    std::string trashFolder(const std::string& id) const { return info.folder + "/runs/.trash/" + id; }
    RunInfo runOf(const store::Statement& row) const;
    Status loadInfo(const std::string& folder);
    Status moveRun(const std::string& id, bool removed);
    Status execute(const char* sql, auto&&... args)
    {
        store::Statement statement(database, sql);
        return statement.run(args...);
    }
    template<typename PerRow, typename... Args>
    Status forEach(const char* sql, PerRow&& perRow, const Args&... args)
    {
        store::Statement statement(database, sql);
        const auto always = [&perRow](const store::Statement& row) {
            perRow(row);
            return Status();
        };
        return statement.forEach(always, args...);
    }
    // All of `write` or nothing.
    Status atomically(auto&& write)
    {
        Result<store::Transaction> transaction =
            store::Transaction::begin(database, store::Transaction::Kind::Write);
        if (!transaction.ok())
            return transaction.error();
        if (Status written = write(); !written.ok())
            return written;
        return transaction->commit();
    }
};

} // namespace lockstep
