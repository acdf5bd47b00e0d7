#include "core/ckpt/pickle_session.h"

#include <algorithm>

namespace lockstep {

void PickleSession::refuse(const std::string& reason)
{
    if (!judge || !c.weightsOnly)
        return;
    c.weightsOnly = false;
    c.refusal = reason;
}

void PickleSession::finish()
{
    std::sort(c.globals.begin(), c.globals.end(),
              [](const GlobalUse& a, const GlobalUse& b) { return a.name < b.name; });
    // Two spellings of one name (__builtin__, builtins) are one global.
    auto out = c.globals.begin();
    for (auto it = c.globals.begin(); it != c.globals.end(); ++it) {
        if (out != c.globals.begin() && std::prev(out)->name == it->name) {
            std::prev(out)->uses += it->uses;
            std::prev(out)->offset = std::min(std::prev(out)->offset, it->offset);
            continue;
        }
        if (out != it)
            *out = std::move(*it);
        ++out;
    }
    c.globals.erase(out, c.globals.end());
}

} // namespace lockstep
