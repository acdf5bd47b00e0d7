#include "core/store/series_buffer.h"

#include "core/store/run_schema.h"

#include <xxhash.h>

#include <cassert>
#include <cmath>
#include <limits>

namespace lockstep::store {

namespace {

std::int64_t blockOf(std::int64_t step, std::int64_t stride)
{
    return step / (kChunkSize * stride);
}

} // namespace

bool SeriesBuffer::continues(std::int64_t step)
{
    if (chunkCount_ == 0)
        return false;
    // The second value of a chunk decides its stride: logs that record every tenth step are as dense as any.
    const std::int64_t stride = chunkCount_ == 1 ? step - chunkFirst_ : stride_;
    if (stride > kMaxStride || step != chunkFirst_ + chunkCount_ * stride ||
        blockOf(step, stride) != blockOf(chunkFirst_, stride))
        return false;
    stride_ = stride;
    return true;
}

Piece& SeriesBuffer::openPiece(std::int64_t first)
{
    if (pieces_.empty() || pieces_.back().closed)
        pieces_.push_back({chunkFirst_, first, stride_, {}, false});
    return pieces_.back();
}

void SeriesBuffer::append(std::int64_t step, std::uint64_t bits)
{
    assert(accepts(step));
    if (!continues(step)) {
        close();
        chunkFirst_ = step;
        stride_ = 1;
    }
    Piece& piece = openPiece(step);
    piece.stride = stride_;
    piece.bits.push_back(bits);
    lastStep_ = step;
    ++chunkCount_;
    if (blockOf(step + stride_, stride_) != blockOf(chunkFirst_, stride_) && chunkCount_ > 1)
        close();
}

void SeriesBuffer::close()
{
    if (chunkCount_ == 0)
        return;
    openPiece(lastStep_ + stride_).closed = true;
    chunkCount_ = 0;
}

ValueSummary summarise(const std::uint64_t* bits, std::size_t count, ValueType type)
{
    ValueSummary summary{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 0,
                         contentHash(bits, count * sizeof *bits)};
    for (std::size_t i = 0; i < count; ++i) {
        const double value = type == ValueType::F64   ? doubleOf(bits[i])
                             : type == ValueType::I64 ? double(std::int64_t(bits[i]))
                                                      : double(bits[i]);
        if (!std::isfinite(value)) {
            ++summary.nanCount;
            continue;
        }
        summary.min = std::fmin(summary.min, value);
        summary.max = std::fmax(summary.max, value);
    }
    return summary;
}

std::uint64_t contentHash(const void* data, std::size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

} // namespace lockstep::store
