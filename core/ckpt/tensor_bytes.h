// The elements of a tensor in row-major order of the logical tensor: strides, storage views, conjugate and
// negative bits, byte order, compression and the pieces of sharded checkpoints are all resolved here, so
// statistics, diff, hashes and writers see plain little-endian arrays.
#pragma once

#include "core/ckpt/checkpoint.h"

#include <functional>

namespace lockstep {

class TensorBytes
{
public:
    // Checks bounds, opens DCP items and inflates compressed records as needed. The checkpoint must outlive
    // the object. Problems: TensorBounds, RecordMissing, RecordSize, ZipLocalHeader, ZipInflate, DcpItem,
    // FileMissing ...
    static CkptResult<TensorBytes> open(const Checkpoint& checkpoint, const TensorInfo& tensor);
    // A bare storage (its bytes as they are, little-endian).
    static CkptResult<TensorBytes> openStorage(const Checkpoint& checkpoint, std::uint32_t storage);
    TensorBytes(TensorBytes&&) noexcept;
    TensorBytes& operator=(TensorBytes&&) noexcept;
    ~TensorBytes();

    DType dtype() const;
    std::size_t elementSize() const;
    std::uint64_t elements() const;
    std::uint64_t byteCount() const { return elements() * elementSize(); }

    // All elements if they lie one after the other in memory as they are wanted, else nullptr. May point into
    // the mapped file and is not aligned: use memcpy or unaligned loads.
    const std::byte* contiguous() const;
    // Copies elements [first, first + count) to `out` (count * elementSize() bytes). Any thread.
    void read(std::uint64_t first, std::uint64_t count, std::byte* out) const;
    // Calls `sink` with successive runs of whole elements, at most about `blockBytes` at a time unless the
    // tensor is contiguous, which is still cut into blocks. Stops when `sink` returns false.
    void forEachBlock(const std::function<bool(std::span<const std::byte>)>& sink,
                      std::size_t blockBytes = 1 << 20) const;

private:
    struct Impl;
    explicit TensorBytes(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// All elements of a tensor in one piece: in place if they lie so at a multiple of `alignment`, else copied.
class DenseElements
{
public:
    explicit DenseElements(const TensorBytes& bytes, std::size_t alignment = 1);
    const std::byte* data() const { return data_; }

private:
    std::vector<std::byte> copy_;
    const std::byte* data_ = nullptr;
};

} // namespace lockstep
