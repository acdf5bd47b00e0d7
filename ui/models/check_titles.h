// Short titles of the checks, "no sample twice" for "data.overlap": what a table shows; the whole sentence stands beside it.
#pragma once

#include <QString>

#include <string>
#include <vector>

namespace lockstep {

// Empty: this check has no title, show its sentence.
QString checkTitle(const std::string& id);

// What the gate of a phase judges of every project, in this order; some checks are added where the data ask for them.
std::vector<std::string> plannedChecks(const QString& phase);

} // namespace lockstep
