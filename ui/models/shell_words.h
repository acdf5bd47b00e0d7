// Words and the line a shell would make of them: for commands that people type into a field and for "Copy command". No shell
// is started and nothing is expanded: a $ stays a $.
#pragma once

#include <QStringList>

#include <optional>

namespace lockstep {

// Quotes and backslashes as sh reads them. Nothing where a quote is not closed.
std::optional<QStringList> splitShell(const QString& line);
// Quoted where a shell needs it.
QString shellLine(const QStringList& words);

} // namespace lockstep
