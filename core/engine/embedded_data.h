// Data of the workloads, inside the worker: it needs no path at run time. Files: resources/data, LICENSE.
#pragma once

#include <span>
#include <string_view>

namespace lockstep {

std::span<const unsigned char> embeddedDigits();
std::string_view embeddedText();

} // namespace lockstep
