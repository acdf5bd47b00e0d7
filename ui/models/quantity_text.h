// Names of quantities and causal links in the user's language.
#pragma once

#include "core/base/quantity.h"

#include <QString>

#include <cstdint>

namespace lockstep {

QString quantityTitle(Quantity quantity);
QString linkTitle(CausalLink link);
// The stored bits as people read them: exact decimal, integer, or fingerprint in hexadecimal.
QString formatBits(Quantity quantity, std::uint64_t bits);

} // namespace lockstep
