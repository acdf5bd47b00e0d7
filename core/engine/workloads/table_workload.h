// A workload that classifies the rows of two tables, one to train on and one to evaluate; what derives from it says with
// which model.
#pragma once

#include "core/engine/workloads/layers.h"
#include "core/engine/workloads/table_data.h"

namespace lockstep {

class TableWorkload : public Workload
{
public:
    TableWorkload(TableData data, TableData evaluation)
        : data_(std::move(data)), evaluation_(std::move(evaluation))
    {
    }

    std::int64_t size() const override { return data_.size(); }
    Batch batch(std::vector<std::int64_t> ids) const override { return data_.batch(std::move(ids)); }
    at::Tensor loss(const at::Tensor& output, const Batch& batch, LossReduction reduction) const override
    {
        return crossEntropy(output, batch.target, reduction == LossReduction::Sum);
    }
    std::uint64_t contentHash(std::int64_t id) const override { return data_.contentHash(id); }
    std::int64_t evaluationSize() const override { return evaluation_.size(); }
    Batch evaluationBatch(std::vector<std::int64_t> ids) const override
    {
        return evaluation_.batch(std::move(ids));
    }

private:
    TableData data_;
    TableData evaluation_;
};

} // namespace lockstep
