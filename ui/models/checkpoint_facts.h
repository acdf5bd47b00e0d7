// What a checkpoint is made of beside its keys, as tables: what a resumed run needs, the records of the file with their
// checksums, the names its pickles mention.
#pragma once

#include "core/ckpt/verify.h"
#include "ui/models/fact_table_model.h"

namespace lockstep {

class Checkpoint;

FactTable resumeTable(const VerifyReport& report);
// Zip: the records of every archive; other files: the storages behind the tensors. `bytesChecked`: CRCs were compared.
FactTable recordsTable(const Checkpoint& checkpoint, const VerifyReport& report, bool bytesChecked);
FactTable globalsTable(const Checkpoint& checkpoint);

} // namespace lockstep
