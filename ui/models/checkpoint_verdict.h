// What a person has to know about a checkpoint before looking at its keys: the verdict in one sentence with number, limit
// and what to do, and what was found to be fine.
#pragma once

#include "ui/models/checkpoint_tree.h"
#include "ui/models/fact_table_model.h"
#include "ui/models/roles.h"

#include <QStringList>

#include <memory>

namespace lockstep {

struct CheckpointVerdict {
    CheckpointTreePtr tree;
    State state = State::None; // Failed, CannotCompare (a warning), Holds
    QString headline;
    QString explanation;
    QStringList fine;         // short, one check each
    QString prefix;           // put in front of every key of the model by wrappers, "module."; empty: none
    QString modelPath;        // where the model part lies, "model"; empty: it is the root
    std::int64_t keys = 0;    // tensors of the model part
    std::int64_t wrapped = 0; // those of them with a wrapper segment anywhere
    bool bytesChecked = false;
    QString salvageable; // "12 of 14 tensors are whole"; empty: nothing to salvage
    FactTable resume, records, globals;
};
using CheckpointVerdictPtr = std::shared_ptr<const CheckpointVerdict>;

// Any thread. Reads the structure, with `checkBytes` also every byte of the file (checksums).
CheckpointVerdictPtr judgeCheckpoint(const CheckpointTreePtr& tree, bool checkBytes);

} // namespace lockstep
