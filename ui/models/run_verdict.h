// What the comparison of a run with its reference came to, in the words of the tables. Filled by ComparisonModel.
#pragma once

#include "ui/models/roles.h"

#include <QHash>
#include <QString>

#include <cstdint>

namespace lockstep {

struct RunVerdict {
    QString against;             // run id of the reference; empty: none
    State state = State::None;   // Holds, Diverged or CannotCompare
    std::int64_t firstStep = -1; // first divergent step
    QString link;                // "pre-reduction", translated
    QString sentence;            // a few words for a table cell
    QString explanation;         // the whole sentence with its numbers
};

using RunVerdicts = QHash<QString, RunVerdict>; // by run id

} // namespace lockstep
