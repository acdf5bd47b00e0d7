// --screenshots DIR: every page of the open project as a PNG, for people without a display and for looking at changes.
#pragma once

#include <QString>

namespace lockstep {

class MainWindow;

// Opens one page after the other, waits until it has read what it shows, and writes NN-id.png. Returns the exit code and
// prints each path.
int takeScreenshots(MainWindow& window, const QString& folder);

} // namespace lockstep
