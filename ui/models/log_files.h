// Which of the files that people drop on the window are logs of other tools.
#pragma once

#include <QString>

namespace lockstep {

// By content; takes milliseconds. A folder with weights in it is a checkpoint, whatever logs its trainer left there.
bool isLogOfAnotherTool(const QString& path);

} // namespace lockstep
