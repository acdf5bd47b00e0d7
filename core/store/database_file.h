// How the two kinds of file are made, recognised and opened. Private to core/store.
#pragma once

#include "core/store/sqlite.h"

#include <span>
#include <string>

namespace lockstep::store {

// What a file must be: its application_id, the schema this program writes, and the SQL that leads from each
// version to the next: steps[v] brings version v to v + 1. steps[0] makes an empty file version 1.
struct Schema {
    const char* kind; // for errors: "run", "project"
    std::int32_t applicationId;
    std::span<const char* const> steps;

    int version() const { return int(steps.size()); }
};

// Makes `path` complete or not at all: written under a temporary name, then renamed. Errors: Io; Input if it
// exists.
Status createFile(const std::string& path, const Schema& schema);

// Read-write, WAL, migrated to the current schema. Errors of both: NotFound, Corrupt, NewerSchema, Io.
Result<Database> openForWriting(const std::string& path, const Schema& schema);

// Read-only. `quiet`: no process can write the file any more, so it may be opened without locks and without
// the shared memory file that WAL otherwise needs; this is what makes read-only media work.
Result<Database> openForReading(const std::string& path, const Schema& schema, bool quiet);

} // namespace lockstep::store
