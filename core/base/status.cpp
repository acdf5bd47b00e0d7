#include "core/base/status.h"

namespace lockstep {

namespace {

// A clause that begins with a plain word starts its sentence with a capital; names of files, programs and options
// ("libtorch_cpu.so", "lockstep-cli", "--lr") stay as they are.
std::string capitalised(std::string clause)
{
    std::size_t letters = 0;
    while (letters < clause.size() && clause[letters] >= 'a' && clause[letters] <= 'z')
        ++letters;
    if (letters > 0 && (letters == clause.size() || clause[letters] == ' ' || clause[letters] == ','))
        clause[0] = char(clause[0] - 'a' + 'A');
    return clause;
}

} // namespace

std::string Error::sentence() const
{
    std::string text;
    for (const std::string& clause : {what, why, fix}) {
        if (clause.empty())
            continue;
        if (!text.empty())
            text += ' ';
        text += capitalised(clause);
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
