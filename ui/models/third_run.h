// The line that belongs beside a pair of curves: single process, twin and ranks are seen together.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QString>

namespace lockstep {

// Beside a twin and its ranks: the newest single run on the same global batches. Beside a single run and ranks: the newest
// twin of these. Both as configured alike, however long they trained. Empty: neither such a pair, or there is none.
QString thirdRun(const ProjectSnapshot& snapshot, const QString& reference, const QString& run);

} // namespace lockstep
