#include "core/ckpt/bytes.h"
#include "core/ckpt/element_decode.h"
#include "core/ckpt/element_source.h"

#include <algorithm>

namespace lockstep {
namespace {

void swapUnits(std::byte* bytes, std::uint64_t size, std::size_t unit)
{
    for (std::uint64_t i = 0; unit > 1 && i + unit <= size; i += unit)
        std::reverse(bytes + i, bytes + i + unit);
}

// A view with strides on one storage.
class StridedSource : public ElementSource
{
public:
    StridedSource(StorageBytes storage, const Checkpoint& c, const TensorInfo& t, std::size_t swapUnit)
        : storage_(std::move(storage)),
          size_(itemSize(t.dtype)),
          swap_(swapUnit),
          dtype_(t.dtype),
          conj_(t.conj),
          neg_(t.neg)
    {
        start_ = storage_.bytes.data() + static_cast<std::uint64_t>(t.offset) * size_;
        // Neighbouring dimensions that lie one after the other become one.
        const auto shape = c.shape(t);
        const auto stride = c.stride(t);
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (shape[d] == 1)
                continue;
            if (!dims_.empty() && dims_.back().stride == static_cast<std::uint64_t>(shape[d]) *
                                                             static_cast<std::uint64_t>(stride[d])) {
                dims_.back().size *= static_cast<std::uint64_t>(shape[d]);
                dims_.back().stride = static_cast<std::uint64_t>(stride[d]);
            } else {
                dims_.push_back(
                    {static_cast<std::uint64_t>(shape[d]), static_cast<std::uint64_t>(stride[d])});
            }
        }
        dense_ = dims_.empty() || (dims_.size() == 1 && dims_[0].stride == 1);
    }

    const std::byte* contiguous() const override
    {
        return dense_ && swap_ <= 1 && !changesBits() ? start_ : nullptr;
    }

    void read(std::uint64_t first, std::uint64_t count, std::byte* out) const override
    {
        if (dense_)
            std::memcpy(out, start_ + first * size_, count * size_);
        else
            gather(first, count, out);
        swapUnits(out, count * size_, swap_);
        if (changesBits())
            resolve(out, count);
    }

private:
    struct Dim {
        std::uint64_t size;
        std::uint64_t stride;
    };

    bool changesBits() const { return neg_ || (conj_ && isComplex(dtype_)); }

    void gather(std::uint64_t first, std::uint64_t count, std::byte* out) const
    {
        std::vector<std::uint64_t> at(dims_.size());
        std::uint64_t rest = first;
        std::uint64_t offset = 0;
        for (std::size_t d = dims_.size(); d-- > 0;) {
            at[d] = rest % dims_[d].size;
            rest /= dims_[d].size;
            offset += at[d] * dims_[d].stride;
        }
        const Dim& inner = dims_.back();
        while (count > 0) {
            const std::uint64_t run = std::min(count, inner.size - at.back());
            copyRun(start_ + offset * size_, inner.stride, run, out);
            out += run * size_;
            count -= run;
            offset -= at.back() * inner.stride;
            at.back() = 0;
            for (std::size_t d = dims_.size() - 1; count > 0 && d-- > 0;) {
                offset += dims_[d].stride;
                if (++at[d] < dims_[d].size)
                    break;
                offset -= at[d] * dims_[d].stride;
                at[d] = 0;
            }
        }
    }

    void copyRun(const std::byte* from, std::uint64_t stride, std::uint64_t count, std::byte* out) const
    {
        const std::uint64_t step = stride * size_;
        switch (stride == 1 ? 0 : size_) {
        case 0:
            std::memcpy(out, from, count * size_);
            return;
        case 1:
            return copyEach<1>(from, step, count, out);
        case 2:
            return copyEach<2>(from, step, count, out);
        case 4:
            return copyEach<4>(from, step, count, out);
        case 8:
            return copyEach<8>(from, step, count, out);
        default:
            return copyEach<16>(from, step, count, out);
        }
    }

    template<std::size_t N>
    static void copyEach(const std::byte* from, std::uint64_t step, std::uint64_t count, std::byte* out)
    {
        for (std::uint64_t i = 0; i < count; ++i, from += step, out += N)
            std::memcpy(out, from, N);
    }

    // Sign bits: of the imaginary part for conj, of every part for neg; integers are negated.
    void resolve(std::byte* out, std::uint64_t count) const
    {
        const bool complex = isComplex(dtype_);
        const std::size_t part = complex ? size_ / 2 : size_;
        const bool flipReal = neg_;
        const bool flipImaginary = complex && neg_ != conj_;
        if (!complex && !isFloat(dtype_)) {
            for (std::uint64_t i = 0; i < count; ++i, out += size_) {
                std::uint64_t value = 0;
                std::memcpy(&value, out, size_);
                value = 0 - value;
                std::memcpy(out, &value, size_);
            }
            return;
        }
        for (std::uint64_t i = 0; i < count; ++i, out += size_) {
            if (flipReal)
                out[part - 1] ^= std::byte{0x80};
            if (flipImaginary)
                out[size_ - 1] ^= std::byte{0x80};
        }
    }

    StorageBytes storage_;
    const std::byte* start_ = nullptr;
    std::size_t size_;
    std::size_t swap_;
    DType dtype_;
    bool conj_;
    bool neg_;
    bool dense_ = false;
    std::vector<Dim> dims_;
};

// Bytes of a storage as they are.
class RawSource : public ElementSource
{
public:
    RawSource(StorageBytes storage, std::size_t swapUnit) : storage_(std::move(storage)), swap_(swapUnit) {}
    const std::byte* contiguous() const override { return swap_ <= 1 ? storage_.bytes.data() : nullptr; }
    void read(std::uint64_t first, std::uint64_t count, std::byte* out) const override
    {
        // Whole units only: callers read from the start in multiples of 16 bytes, or everything.
        std::memcpy(out, storage_.bytes.data() + first, count);
        swapUnits(out, count, swap_);
    }

private:
    StorageBytes storage_;
    std::size_t swap_;
};

} // namespace

std::size_t swapUnit(const StorageInfo& s)
{
    if (!s.bigEndian || !s.dtype)
        return 1;
    return isComplex(*s.dtype) ? itemSize(*s.dtype) / 2 : itemSize(*s.dtype);
}

std::unique_ptr<ElementSource> stridedSource(StorageBytes storage, const Checkpoint& checkpoint,
                                             const TensorInfo& tensor)
{
    const std::size_t unit = swapUnit(checkpoint.storages[tensor.storage]);
    return std::make_unique<StridedSource>(std::move(storage), checkpoint, tensor, unit);
}

std::unique_ptr<ElementSource> rawSource(StorageBytes storage, std::size_t unit)
{
    return std::make_unique<RawSource>(std::move(storage), unit);
}

} // namespace lockstep
