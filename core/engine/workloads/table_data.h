// A data set held as one table: a row of floats and a label per sample. Rows are copied into a batch
// directly; a gather through the dispatcher costs more than the copy at these sizes.
#pragma once

#include "core/engine/workload.h"

#include <cstdint>
#include <vector>

namespace lockstep {

class TableData
{
public:
    TableData(std::vector<float> rows, std::vector<std::int64_t> labels, std::vector<std::int64_t> rowShape);

    std::int64_t size() const { return std::int64_t(labels_.size()); }
    // Input [samples, rowShape...] float32, target [samples] int64.
    Batch batch(std::vector<std::int64_t> ids) const;
    std::uint64_t contentHash(std::int64_t id) const;

private:
    std::vector<float> rows_;
    std::vector<std::int64_t> labels_;
    std::vector<std::int64_t> rowShape_;
    std::size_t rowSize_;
};

} // namespace lockstep
