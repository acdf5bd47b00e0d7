// The torch wheel ships ProcessGroupGloo.hpp but none of the gloo headers it includes. These five files declare the few
// names it mentions (torch 2.15.0). That is safe as long as our code only constructs the out-of-line ProcessGroupGloo and
// never derives from, constructs or calls a gloo class itself: no gloo symbol may be defined in our programs.
#pragma once

#include <chrono>

namespace gloo {

class Context
{
public:
    void setTimeout(std::chrono::milliseconds timeout);
};

} // namespace gloo
