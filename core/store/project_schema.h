// The tables of lockstep.db (docs/store.md says what they mean). Private to core/store.
#pragma once

#include "core/store/database_file.h"

namespace lockstep::store {

inline constexpr const char* kProjectFile = "/lockstep.db";

extern const Schema kProjectSchema;

} // namespace lockstep::store
