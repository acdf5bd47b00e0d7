// Which tags of other tools mean a quantity of ours, so that imported runs draw and compare without being told.
#pragma once

#include "core/base/quantity.h"
#include "core/logs/log_data.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// For each tag its quantity, Quantity::Metric where there is none. Of several tags that mean the same quantity, the one that
// says it most exactly has it ("loss" before "train_loss_epoch").
std::vector<Quantity> knownQuantities(const std::vector<std::string>& tags);

// The tag is of a time, a rate or a use of memory, which no two runs share.
bool saysWhatTheMachineDid(const std::string& tag);

} // namespace lockstep
