// Cuts one series into chunks and keeps the values that are not committed yet. No SQL. Private to core/store.
#pragma once

#include "core/base/records.h"

#include <cstdint>
#include <vector>

namespace lockstep::store {

// Wider spacing is no rhythm, and its multiples could overflow.
inline constexpr std::int64_t kMaxStride = 1 << 20;

// Values of one chunk that wait for a commit.
struct Piece {
    // First step of the chunk; equal to `first` when the whole chunk is in this piece.
    std::int64_t chunkFirst = 0;
    std::int64_t first = 0;
    std::int64_t stride = 1;
    // May be empty in a closed piece: then all of the chunk is stored as tail rows.
    std::vector<std::uint64_t> bits;
    bool closed = false; // the chunk is complete
};

class SeriesBuffer
{
public:
    bool accepts(std::int64_t step) const { return step > lastStep_; }
    // `step` must be accepted.
    void append(std::int64_t step, std::uint64_t bits);
    // Marks the open chunk as complete.
    void close();

    const std::vector<Piece>& pieces() const { return pieces_; }
    // The pieces have been committed.
    void clear() { pieces_.clear(); }

private:
    bool continues(std::int64_t step);
    Piece& openPiece(std::int64_t first);

    std::vector<Piece> pieces_;
    std::int64_t lastStep_ = -1;
    std::int64_t chunkFirst_ = 0;
    std::int64_t chunkCount_ = 0; // 0: no open chunk
    std::int64_t stride_ = 1;
};

// Summary columns of a chunk or tail row. min > max: no finite value. Values of a quantity this version does
// not know are taken for floats.
struct ValueSummary {
    double min;
    double max;
    std::int64_t nanCount; // NaN and infinities
    std::uint64_t hash;    // XXH3-64
};
ValueSummary summarise(const std::uint64_t* bits, std::size_t count, ValueType type);
std::uint64_t contentHash(const void* data, std::size_t bytes);

} // namespace lockstep::store
