// Which Pythons may be started only to ask for their torch. A project can name any program, also one that came with it, so
// that opening a form must start none of them: only those of this user's own environment, and those chosen here before.
#pragma once

#include <QStringList>

namespace lockstep {

// The active environment's and those of PATH, the likeliest first.
QStringList ownInterpreters();
bool isKnownInterpreter(const QString& path);
// Kept in this user's settings.
void rememberInterpreter(const QString& path);

} // namespace lockstep
