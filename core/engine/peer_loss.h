// What the ranks of a run find out among themselves when one of them is lost, through the store they met at. Without it a
// survivor could only say that a connection was closed. Internal to the communicator.
//
// A rank with an error of its own leaves its sentence. A rank that only noticed leaves its name: who has left neither
// within moments is the one that was lost. Nothing here waits for long, as the store may be gone or hang with its host.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <string>

namespace lockstep {

class PeerLoss
{
public:
    struct Cause {
        int rank = -1;        // -1: could not be found out
        std::string sentence; // its own, if it left one
    };

    // `host`: the rank whose process holds the store; -1: a launcher does.
    PeerLoss(const c10::intrusive_ptr<c10d::Store>& store, int rank, int world, int host);

    // This rank fails by itself.
    void tell(const std::string& sentence);
    // This rank noticed that a peer is lost.
    Cause ask();

private:
    c10::intrusive_ptr<c10d::Store> store_; // a connection of its own: the other may be waiting for an answer
    int rank_;
    int world_;
    int host_;
};

} // namespace lockstep
