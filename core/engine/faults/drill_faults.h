// What phase 4 breaks on purpose inside a rank. Faults of the other families change numbers; these end or stop a process.
#pragma once

namespace lockstep {

// Called as a collective is about to start, on the thread that starts it. Stops the process inside that collective if
// the fault "hang" armed it for this step; otherwise costs one load.
void drillCollective();

} // namespace lockstep
