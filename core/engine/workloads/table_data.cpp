#include "core/engine/workloads/table_data.h"

#include "core/base/fingerprint.h"

#include <ATen/ATen.h>

#include <cstring>
#include <utility>

namespace lockstep {

TableData::TableData(std::vector<float> rows, std::vector<std::int64_t> labels,
                     std::vector<std::int64_t> rowShape)
    : rows_(std::move(rows)),
      labels_(std::move(labels)),
      rowShape_(std::move(rowShape)),
      rowSize_(rows_.size() / labels_.size())
{
}

Batch TableData::batch(std::vector<std::int64_t> ids) const
{
    std::vector<std::int64_t> shape = {std::int64_t(ids.size())};
    shape.insert(shape.end(), rowShape_.begin(), rowShape_.end());
    Batch batch;
    batch.input = at::empty(shape, at::kFloat);
    batch.target = at::empty({std::int64_t(ids.size())}, at::kLong);
    auto* row = batch.input.data_ptr<float>();
    auto* label = batch.target.data_ptr<std::int64_t>();
    for (const std::int64_t id : ids) {
        std::memcpy(row, rows_.data() + std::size_t(id) * rowSize_, rowSize_ * sizeof(float));
        row += rowSize_;
        *label++ = labels_[std::size_t(id)];
    }
    batch.ids = std::move(ids);
    return batch;
}

std::uint64_t TableData::contentHash(std::int64_t id) const
{
    return fingerprint(rows_.data() + std::size_t(id) * rowSize_, rowSize_, sizeof(float)) +
           fingerprint(&labels_[std::size_t(id)], 1, sizeof(std::int64_t), rowSize_);
}

} // namespace lockstep
