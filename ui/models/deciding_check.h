// The one check of a gate that people should see first.
#pragma once

#include "core/store/project_store.h"

#include <QString>

#include <cstddef>

namespace lockstep {

// Its place: the first that fails, else the first that could not be judged. Of a gate that passed, the headline of the phase:
// what the phase is about, and of the drills the one nearest its limit. The gate has checks.
std::size_t decidingCheck(const GateInfo& gate);

// What it says in one line: the sentence of a check that does not hold, title and number of one that does.
QString decidingText(const GateCheck& check);

} // namespace lockstep
