#include "core/store/project_schema.h"

namespace lockstep::store {

namespace {

constexpr const char* kVersion1 = R"(
CREATE TABLE property(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE run(number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    config TEXT NOT NULL, environment TEXT NOT NULL, state TEXT NOT NULL, started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL, last_step INTEGER NOT NULL, last_loss REAL, exit_codes TEXT NOT NULL,
    failed_rank INTEGER NOT NULL, failed_step INTEGER NOT NULL, failed_sentence TEXT NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE gate(phase TEXT PRIMARY KEY, verdict TEXT NOT NULL, judged_ms INTEGER NOT NULL, config TEXT NOT NULL,
    override_reason TEXT NOT NULL DEFAULT '', overridden_ms INTEGER NOT NULL DEFAULT 0);
CREATE TABLE gate_check(phase TEXT NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL, verdict TEXT NOT NULL,
    value TEXT NOT NULL, limit_text TEXT NOT NULL, step INTEGER NOT NULL, rank INTEGER NOT NULL,
    parameter TEXT NOT NULL, sentence TEXT NOT NULL, fix TEXT NOT NULL, cause TEXT NOT NULL, evidence TEXT NOT NULL,
    PRIMARY KEY(phase, position));
CREATE TABLE checkpoint(path TEXT PRIMARY KEY, run TEXT NOT NULL, step INTEGER NOT NULL, bytes INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL);
CREATE TABLE finding(id INTEGER PRIMARY KEY, run_a TEXT NOT NULL, run_b TEXT NOT NULL, cause TEXT NOT NULL,
    confidence TEXT NOT NULL, sentence TEXT NOT NULL, fix TEXT NOT NULL, evidence TEXT NOT NULL,
    rank INTEGER NOT NULL, step INTEGER NOT NULL);
)";

constexpr const char* kSteps[] = {kVersion1};

} // namespace

const Schema kProjectSchema = {"project", 0x4c6b5072 /* "LkPr" */, kSteps};

} // namespace lockstep::store
