// What the same sample ids brought in two runs of scripts as wholes.
#pragma once

#include "core/align/diagnose/case.h"

namespace lockstep::align {

// Random transforms give contents nobody had before; another list of files gives the contents of other ids.
struct Contents {
    std::size_t differ = 0;  // ids of the step whose contents are not the reference's
    std::size_t known = 0;   // of these: the reference has this content under another id
    bool randomised = false; // the reference itself has an id with two contents

    bool changedAtRandom() const { return known == 0 && randomised; }
};

Contents contentsAt(const Case& c, std::int64_t step);

} // namespace lockstep::align
