// Reads every byte of a checkpoint and compares it with what was recorded: CRC-32 of each zip record (torch
// never does), local headers and data descriptors against the directory, overlap of entries.
#pragma once

#include "core/ckpt/checkpoint.h"

namespace lockstep {

struct IntegrityReport {
    std::vector<CkptProblem> problems;
    std::uint64_t bytesChecked = 0;
    std::uint64_t recordsChecked = 0;
    std::uint64_t recordsWithoutCrc = 0; // CRC 0 on a record with bytes: saved with the checksum switched off
    // Storages (indices) with at least one problem, sorted.
    std::vector<std::uint32_t> badStorages;
};

// `threads` 0: one per core, at most 8. Folders: every archive inside their files.
IntegrityReport checkIntegrity(const Checkpoint& checkpoint, int threads = 0);

} // namespace lockstep
