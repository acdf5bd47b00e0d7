// What the pickles of one checkpoint share: the tree they build, the globals they named, and what torch 2.15.0's weights_only=True
// unpickler objected to first.
#pragma once

#include "core/ckpt/node_builder.h"
#include "core/ckpt/pickle_globals.h"

#include <string>
#include <unordered_map>

namespace lockstep {

struct PickleSession {
    explicit PickleSession(Checkpoint& checkpoint) : builder(checkpoint), c(checkpoint) {}

    NodeBuilder builder;
    Checkpoint& c;
    bool judge = true; // follow weights_only
    int nesting = 0;   // of torch.storage._load_from_bytes
    // Per global name its node and what it means. Keys point into Checkpoint::texts.
    struct Entry {
        NodeId node = kNone;
        GlobalMeaning meaning;
        std::uint32_t use = 0; // index into Checkpoint::globals until finish()
    };
    std::unordered_map<std::string_view, Entry> globals;
    std::unordered_map<NodeId, const Entry*> byNode;

    void refuse(const std::string& reason); // first objection of weights_only
    void finish();                          // sorts Checkpoint::globals
};

} // namespace lockstep
