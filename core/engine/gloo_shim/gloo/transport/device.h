// See gloo/context.h.
#pragma once

#include "gloo/context.h"

#include <memory>

namespace gloo::transport {

class Device;

class UnboundBuffer
{
public:
    virtual ~UnboundBuffer() = default;
};

} // namespace gloo::transport
