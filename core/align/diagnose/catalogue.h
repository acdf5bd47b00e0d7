// The causes a diagnosis can name: what each is in plain words, and what mends it.
#pragma once

#include <string_view>

namespace lockstep::align {

struct Cause {
    std::string_view id;
    std::string_view sentence; // plain, without numbers
    std::string_view fix;
    bool benign = false;
    bool replayable = true; // false: it changes nothing a replay could be compared in
};

// nullptr for an id that is not in the catalogue.
const Cause* causeById(std::string_view id);

} // namespace lockstep::align
