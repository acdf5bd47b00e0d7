// The tables of run.db (docs/store.md says what they mean). Private to core/store.
#pragma once

#include "core/store/database_file.h"

namespace lockstep::store {

inline constexpr int kChunkSize = 4096;
inline constexpr const char* kRunFile = "/run.db";

extern const Schema kRunSchema;

} // namespace lockstep::store
