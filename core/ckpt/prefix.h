// Names of parameters as wrappers change them. DistributedDataParallel, torch.compile, FSDP, activation
// checkpointing and others put a segment of their own into every key below them, at any depth and in any
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

// Segments that wrapper modules add: "module" (DataParallel, DDP, AveragedModel), "_orig_mod"
// (torch.compile),
// "_fsdp_wrapped_module" and "_fpw_module" (FSDP), "_checkpoint_wrapped_module", "_forward_module" (Lightning
// Fabric).
std::span<const std::string_view> wrapperSegments();
bool isWrapperSegment(std::string_view segment);
// True for those no user would choose for a submodule ("module" is a name people do choose).
bool isUnmistakableWrapper(std::string_view segment);

std::vector<std::string_view> splitKey(std::string_view key);
// Without the wrapper segments; the last segment stays. Both also read paths (walk.h): "/s:model/s:module.weight" becomes
// "/s:model/s:weight".
std::string withoutWrappers(std::string_view key);
// Without this prefix where the key begins with it and something is left; "module" is meant as "module.": no name begins
// with a dot.
std::string withoutPrefix(std::string_view key, std::string_view prefix);
// Without every segment named in `drop`.
std::string withoutSegments(std::string_view key, std::span<const std::string> drop);
// The longest prefix ("module.", "model.backbone.") that all keys share, ending with a dot; at least one
// segment is left.
std::string commonPrefix(std::span<const std::string> keys);

// How the names of B become names of A.
struct KeyMapping {
    std::string prefixA;           // in front of A's names only
    std::string prefixB;           // in front of B's names only
    std::vector<std::string> drop; // wrapper segments left out on both sides before names are compared
    std::size_t matched = 0;       // pairs found with it

    bool identity() const { return prefixA.empty() && prefixB.empty() && drop.empty(); }
    std::string fromA(std::string_view name) const;
    std::string fromB(std::string_view name) const;
};

// The mapping that pairs most names. Ties go to the simpler one: identity, then a prefix, then dropped
// segments.
KeyMapping findMapping(std::span<const std::string> a, std::span<const std::string> b);

} // namespace lockstep
