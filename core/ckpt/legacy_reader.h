// torch.save's format before 1.6: five pickles back to back, then the storages. Also nested in pickles as
// torch.storage._load_from_bytes(b"...").
#pragma once

#include "core/ckpt/pickle_machine.h"

namespace lockstep {

inline constexpr unsigned char kLegacyMagic[] = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                                 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};

bool isLegacyMagic(Value value);

// `bytes` start with the magic pickle and lie at `offset` of file `file`. Adds storages to the checkpoint; the value is what was
// saved. A cut or wrong storage section is added to Checkpoint::problems, and the tree still given back.
CkptResult<NodeId> readLegacy(PickleSession& session, std::span<const std::byte> bytes, std::uint32_t file,
                              std::uint64_t offset);

} // namespace lockstep
