// The rows of a Trackio database (https://github.com/gradio-app/trackio), which other programs wrote. Here because only
// core/store speaks SQL. The database is never changed: it is opened as immutable, or, where commits stand in files beside it,
// copied together with them.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <functional>
#include <string>

namespace lockstep {

struct TrackioRow {
    std::string runId; // run name in files of before Trackio 0.24
    std::string runName;
    std::int64_t step = 0;
    std::string metricsJson;
};

struct TrackioConfigRow {
    std::string runId;
    std::string runName;
    std::string configJson;
};

// Whether the file is an SQLite database with a table of metrics as Trackio makes it.
bool isTrackioDatabase(const std::string& path);

// Every configuration, then every row in the order of writing. Rows before a damaged page are given before the error comes.
Status readTrackioDatabase(const std::string& path,
                           const std::function<void(const TrackioConfigRow&)>& config,
                           const std::function<void(const TrackioRow&)>& row);

} // namespace lockstep
