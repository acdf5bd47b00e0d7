// The leaves of a checkpoint in the order of the manifest, with what their bytes say: SHA-256 and statistics.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/stats.h"

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Of the elements of a tensor in row-major order, or of a whole storage.
struct Contents {
    std::string sha256;
    ElementStats stats;
};

class Listing
{
public:
    struct Line {
        NodeId node = kNone;
        bool cycle = false;  // the container at target() contains itself here
        bool packed = false; // a list or tuple of many ints

    private:
        friend class Listing;
        std::size_t path = 0; // paths lie one behind the other in one text
        std::uint32_t pathSize = 0;
        std::size_t target = 0;
        std::uint32_t targetSize = 0;
        std::uint32_t contents = kNone;
    };

    // Walks the tree; lines are sorted by path.
    explicit Listing(const Checkpoint& checkpoint);
    // Goes through the bytes of all tensors and storages. Views that repeat their elements beyond all measure are left out. What
    // cannot be read is appended to `problems`.
    void readContents(const Checkpoint& checkpoint, int threads, std::vector<CkptProblem>& problems);

    const std::vector<Line>& lines() const { return lines_; }
    std::string_view path(const Line& line) const
    {
        return std::string_view(paths_).substr(line.path, line.pathSize);
    }
    std::string_view target(const Line& line) const
    {
        return std::string_view(paths_).substr(line.target, line.targetSize);
    }
    // nullptr: the bytes were not gone through.
    const Contents* contents(const Line& line) const
    {
        return line.contents == kNone ? nullptr : &contents_[line.contents];
    }
    // False if the tree unfolds into more lines than are listed.
    bool complete() const { return complete_; }

private:
    std::string paths_;
    std::vector<Line> lines_;
    std::vector<Contents> contents_;
    bool complete_ = true;
};

} // namespace lockstep
