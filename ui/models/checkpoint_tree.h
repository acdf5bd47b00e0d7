// The content of a checkpoint as rows: read in a pool thread, immutable afterwards. Dotted names of a state dict become
// prefix rows, so that a common prefix such as "module." is seen at once.
#pragma once

#include <QString>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

class Checkpoint;

struct CheckpointRow {
    QString name;               // last step of the path; prefixes end with a dot
    QString path;               // names joined by dots, for the tooltip and the filter
    QString kind;               // "dict", "prefix", "float32", "int", ...
    QString shape;              // "768 x 2304", "12 keys"
    QString value;              // of plain values
    std::int64_t elements = -1; // of tensors, summed over groups; -1: none
    int parent = -1;
    int row = 0; // within the parent
    std::vector<int> children;
    bool tensor = false;
    std::uint32_t tensorIndex = 0; // of tensors: into Checkpoint::tensors
};

struct CheckpointTree {
    QString path;
    QString error;                 // nothing could be read: one sentence
    QString container;             // "zip", "safetensors", ...
    std::vector<QString> problems; // damage found, one sentence each
    QString refusal;               // why torch.load(weights_only=True) refuses; empty: it does not
    std::int64_t bytes = 0;
    std::int64_t tensors = 0;
    std::int64_t elements = 0;
    double readMs = 0;
    bool complete = true; // false: more rows than are shown
    std::vector<CheckpointRow> rows;
    std::vector<int> roots;
    // What was read, for statistics and comparisons; null: could not be opened. Const access from any thread.
    std::shared_ptr<const Checkpoint> checkpoint;
};

// The name in the state dict: the prefixes above and the last step, without the path to the dict.
QString keyName(const CheckpointTree& tree, const CheckpointRow& row);

using CheckpointTreePtr = std::shared_ptr<const CheckpointTree>;

// Never fails: what is wrong stands in the result.
CheckpointTreePtr readCheckpointTree(const QString& path);

} // namespace lockstep
