#include "core/base/status.h"

namespace lockstep {

std::string Error::sentence() const
{
    std::string text;
    for (const std::string& clause : {what, why, fix}) {
        if (clause.empty())
            continue;
        if (!text.empty())
            text += ' ';
        text += clause;
        if (clause.back() != '.' && clause.back() != '?')
            text += '.';
    }
    return text;
}

int Error::exitCode() const
{
    switch (kind) {
    case ErrorKind::Usage:
        return 2;
    case ErrorKind::RunFailed:
    case ErrorKind::Cancelled:
        return 4;
    default:
        return 3;
    }
}

} // namespace lockstep
