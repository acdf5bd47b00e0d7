// Imports a list of "epoch, rank, position, sample id" written by any program (docs/phase1.md): CSV, plain text or JSON
// lines, one file or one per rank. Nothing is imported by half: the first problem ends the import with file, line and
// column.
#pragma once

#include "core/base/status.h"
#include "core/gates/data_source.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep {

struct IdListOptions {
    std::int64_t datasetSize = -1; // -1: the largest id decides
    bool hasLength = true;         // false: the dataset is a stream
};

// Columns, in any order when the first line names them: epoch, rank, position, id; optional hash (content, decimal or
// 0x...), step (optimizer step of the sample), worker and draw (first random number of that loader worker, or of the rank
// itself where worker is absent or -1). Errors: Input with line and column; NotFound; Io; Environment (memory).
Result<std::unique_ptr<DataSource>> importIdLists(const std::vector<std::string>& paths,
                                                  const IdListOptions& options = {});

} // namespace lockstep
