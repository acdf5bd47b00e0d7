// One series of values over steps as the plots read it: immutable, shared between threads, append-friendly.
//
// Values rest in blocks of 4096, each with a pyramid of min, max and non-finite count (fan-out 16). Appending
// makes a new snapshot that shares every full block with the old one, so a live series costs one block per
// update, and a plot can go on drawing the old snapshot in another thread meanwhile. Any index range is
// summarised exactly from at most 32 nodes per level.
#pragma once

#include "ui/plots/series_block.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lockstep {

class SeriesSnapshot
{
public:
    using Ptr = std::shared_ptr<const SeriesSnapshot>;
    static constexpr std::size_t kFan = SeriesBlock::kFan;
    static constexpr std::size_t kBlock = SeriesBlock::kSize;

    // `steps` and `values` have the same length. Steps need not be even; where they are not in ascending
    // order the pairs are sorted by step (equal steps keep their order). Cost: about 10 ns per value; call it
    // off the GUI thread for long series.
    static Ptr fromSteps(std::span<const std::int64_t> steps, std::span<const double> values);
    // Value i lies at firstStep + i * stride, stride > 0. No step table is kept.
    static Ptr fromValues(std::int64_t firstStep, std::int64_t stride, std::span<const double> values);

    // This series followed by more pairs. Steps before lastStep() lead to a sorted copy of everything.
    Ptr appended(std::span<const std::int64_t> steps, std::span<const double> values) const;

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    double value(std::size_t i) const { return blocks_[i / kBlock]->y[i % kBlock]; }
    std::int64_t step(std::size_t i) const
    {
        return stride_ != 0 ? firstStep_ + static_cast<std::int64_t>(i) * stride_
                            : blocks_[i / kBlock]->step(i % kBlock);
    }
    // Of a series with at least one value.
    std::int64_t firstStep() const { return step(0); }
    std::int64_t lastStep() const { return step(size_ - 1); }
    // Distance of neighbouring steps where it is the same everywhere, else 0.
    std::int64_t stride() const { return stride_; }

    // First index whose step is >= x, size() if there is none.
    std::size_t lowerBound(double x) const { return lowerBound(x, 0); }
    // The same, knowing that the answer is at or after `hint`; fast where it is near.
    std::size_t lowerBound(double x, std::size_t hint) const;
    // Index of the step nearest to x (the earlier of two equally near); 0 for an empty series.
    std::size_t nearest(double x) const;
    // Index of exactly this step, size() if it is not there.
    std::size_t indexOf(std::int64_t step) const;

    // Summary of the values [begin, end).
    SeriesNode query(std::size_t begin, std::size_t end) const;
    // Smallest value > 0 among [begin, end); +infinity if there is none.
    double smallestPositive(std::size_t begin, std::size_t end) const;
    // Finite values outside [lo, hi] in the whole series.
    std::size_t countOutside(double lo, double hi) const;
    // Index of the first such value, size() if there is none.
    std::size_t firstOutside(double lo, double hi) const;
    SeriesNode summary() const { return query(0, size_); }

    // Heap bytes of this snapshot, shared blocks included.
    std::size_t byteSize() const;
    // Blocks that this snapshot shares with another one (for tests and memory accounts).
    std::size_t blocksSharedWith(const SeriesSnapshot& other) const;
    // Same steps, same value bits and same nodes.
    bool sameAs(const SeriesSnapshot& other) const;

private:
    static std::shared_ptr<SeriesSnapshot> grow(const SeriesSnapshot* base,
                                                std::span<const std::int64_t> steps, std::int64_t firstStep,
                                                std::int64_t stride, std::span<const double> values);
    void rebuildLevels(std::size_t fromBlock);
    SeriesNode nodeAt(std::size_t level, std::size_t i) const;
    void descendPositive(std::size_t level, std::size_t i, std::size_t begin, std::size_t end,
                         double& best) const;

    std::size_t size_ = 0;
    std::int64_t firstStep_ = 0;
    std::int64_t stride_ = 0;
    std::vector<std::shared_ptr<const SeriesBlock>> blocks_;
    std::vector<std::vector<SeriesNode>> levels_; // levels_[0]: one node per block, then fan-out 16
};

} // namespace lockstep
