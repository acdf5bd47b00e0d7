// Norm, range and counts of NaN and infinities of the tensors of a checkpoint, read in batches in a pool thread so that a
// table fills while a large file is still being read.
#pragma once

#include "ui/models/checkpoint_tree.h"

#include <QByteArray>

#include <functional>
#include <memory>
#include <vector>

namespace lockstep {

struct TensorNumbers {
    bool known = false; // false: not read, or the bytes cannot be read (see `problem`)
    double norm = 0;    // of the finite elements
    QString min, max;   // exact; empty: the type has no order, or there is no number
    QString minShort;   // for a column
    std::uint64_t nan = 0;
    std::uint64_t inf = 0;
    QString problem;
};

struct NumbersBatch {
    CheckpointTreePtr tree;
    std::vector<std::pair<int, TensorNumbers>> rows; // position in CheckpointTree::rows
    std::size_t next = 0;                            // where the following batch begins
    std::uint64_t bytes = 0;
    bool finished = false;
};
using NumbersBatchPtr = std::shared_ptr<const NumbersBatch>;

// Reads tensors from row `first` on for about a tenth of a second, at least one. `wanted` is asked between blocks of about
// a megabyte; when it says no the batch ends early.
NumbersBatchPtr readNumbers(const CheckpointTreePtr& tree, std::size_t first,
                            const std::function<bool()>& wanted);

// "886.4108", or an exponent where four decimals would hide the value.
QString formatStatistic(double value);

// All tensors and plain values as a table with a head line, RFC 4180. `numbers` is indexed like the rows.
QByteArray checkpointCsv(const CheckpointTree& tree, const std::vector<TensorNumbers>& numbers);

} // namespace lockstep
