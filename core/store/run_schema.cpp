#include "core/store/run_schema.h"

namespace lockstep::store {

namespace {

// chunk.id = series << 32 | number of the chunk within its series: the chunks of a series lie beside each
// other in the file. `before` counts the values of the series in earlier chunks, so that the length of a
// series needs no scan. data stands last: SQLite walks through a BLOB to reach the columns behind it.
constexpr const char* kVersion1 = R"(
CREATE TABLE property(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE segment(id INTEGER PRIMARY KEY, first_step INTEGER NOT NULL, world INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE series(id INTEGER PRIMARY KEY, segment INTEGER NOT NULL, rank INTEGER NOT NULL,
    quantity INTEGER NOT NULL, idx INTEGER NOT NULL, UNIQUE(rank, quantity, idx, segment));
CREATE TABLE chunk(id INTEGER PRIMARY KEY, series INTEGER NOT NULL, first_step INTEGER NOT NULL,
    stride INTEGER NOT NULL, n INTEGER NOT NULL, before INTEGER NOT NULL, min REAL, max REAL,
    nan_count INTEGER NOT NULL, hash INTEGER NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX chunk_by_step ON chunk(series, first_step);
CREATE TABLE tail(series INTEGER NOT NULL, first_step INTEGER NOT NULL, stride INTEGER NOT NULL, n INTEGER NOT NULL,
    before INTEGER NOT NULL, min REAL, max REAL, nan_count INTEGER NOT NULL, hash INTEGER NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY(series, first_step)) WITHOUT ROWID;
CREATE TABLE samples(segment INTEGER NOT NULL, rank INTEGER NOT NULL, step INTEGER NOT NULL, micro INTEGER NOT NULL,
    epoch INTEGER NOT NULL, ids BLOB NOT NULL, hashes BLOB NOT NULL,
    PRIMARY KEY(rank, step, micro, segment)) WITHOUT ROWID;
CREATE TABLE tensor_name(id INTEGER PRIMARY KEY, name TEXT NOT NULL, buffer INTEGER NOT NULL, UNIQUE(name, buffer));
CREATE TABLE tensor(id INTEGER PRIMARY KEY, segment INTEGER NOT NULL, rank INTEGER NOT NULL, step INTEGER NOT NULL,
    n INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX tensor_by_step ON tensor(rank, step);
CREATE TABLE event(id INTEGER PRIMARY KEY, segment INTEGER NOT NULL, rank INTEGER NOT NULL, step INTEGER NOT NULL,
    kind TEXT NOT NULL, monotonic_ns INTEGER NOT NULL, detail TEXT NOT NULL);
CREATE TABLE heartbeat(rank INTEGER PRIMARY KEY, step INTEGER NOT NULL, monotonic_ns INTEGER NOT NULL);
)";

constexpr const char* kSteps[] = {kVersion1};

} // namespace

const Schema kRunSchema = {"run", 0x4c6b5275 /* "LkRu" */, kSteps};

} // namespace lockstep::store
