// Short titles of the checks, "no sample twice" for "data.overlap": what a table shows; the whole sentence stands beside it.
#pragma once

#include <QString>

#include <string>

namespace lockstep {

// Empty: this check has no title, show its sentence.
QString checkTitle(const std::string& id);

} // namespace lockstep
