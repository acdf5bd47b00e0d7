// Joins what the ranks of a sharded run (FSDP) report of their own parts. A rank marks such values (bit 15 of the index,
// kShare; TensorRecord::has bit 4); the store gets the value of the whole under every rank, so that a sharded run compares
// with any other. Fingerprints and projections are sums over elements that are numbered through the whole model, so they
// add; norms add their squares (the last bits depend on where the cuts are).
#pragma once

#include "core/base/records.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

inline constexpr std::uint16_t kShare = 0x8000;
inline constexpr std::uint32_t kTensorShare = 16;

class ShardJoin
{
public:
    explicit ShardJoin(int world) : world_(std::size_t(world)) {}

    // What is complete now: the record itself if nothing in it is a share, the records of all ranks once the last one has
    // come, else nothing. Steps that not every rank reported are never complete.
    std::vector<StepRecord> add(StepRecord record);
    std::vector<TensorRecord> add(TensorRecord record);

private:
    std::size_t world_;
    std::map<std::int64_t, std::vector<StepRecord>> steps_;
    std::map<std::pair<std::int64_t, std::string>, std::vector<TensorRecord>> tensors_;
};

} // namespace lockstep
