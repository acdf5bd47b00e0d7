#include "core/store/run_info.h"

#include "core/config/run_extras.h"

namespace lockstep {

const char* runStateName(RunState state)
{
    switch (state) {
    case RunState::Running:
        return "running";
    case RunState::Finished:
        return "finished";
    case RunState::Failed:
        return "failed";
    case RunState::Stopped:
        return "stopped";
    case RunState::Interrupted:
        return "interrupted";
    }
    return "interrupted";
}

bool RunInfo::auxiliary() const
{
    for (const char* prefix : {"gate-", "drill-", "degrade-", "replay"})
        if (name.starts_with(prefix))
            return !scriptCommandOf(configJson); // a script may be called replay_buffer.py
    return false;
}

} // namespace lockstep
