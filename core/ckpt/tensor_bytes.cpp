#include "core/ckpt/tensor_bytes.h"

#include "core/ckpt/bytes.h"
#include "core/ckpt/element_decode.h"
#include "core/ckpt/readers.h"
#include "core/ckpt/storage_bytes.h"

#include <algorithm>
#include <array>

namespace lockstep {
namespace {

struct Source {
    virtual ~Source() = default;
    virtual const std::byte* contiguous() const { return nullptr; }
    virtual void read(std::uint64_t first, std::uint64_t count, std::byte* out) const = 0;
};

void swapUnits(std::byte* bytes, std::uint64_t size, std::size_t unit)
{
    for (std::uint64_t i = 0; unit > 1 && i + unit <= size; i += unit)
        std::reverse(bytes + i, bytes + i + unit);
}

// A view with strides on one storage.
class StridedSource : public Source
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
class RawSource : public Source
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

template<typename T>
void integersToFloat(const std::byte* from, std::uint64_t count, std::byte* to)
{
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto value = static_cast<float>(loadUnaligned<T>(from + i * sizeof(T)));
        std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
}

// Elements of any real type as float32, as torch's .float() gives them.
void toFloat(DType dtype, const std::byte* from, std::uint64_t count, std::byte* to)
{
    if (withIntegerType(dtype, [&](auto zero) { integersToFloat<decltype(zero)>(from, count, to); }))
        return;
    std::array<double, 256> values;
    for (std::uint64_t i = 0; i < count;) {
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(values.size(), count - i));
        decodeToDouble(dtype, from + i * itemSize(dtype), n, values.data());
        for (std::size_t k = 0; k < n; ++k, ++i) {
            const auto value = static_cast<float>(values[k]);
            std::memcpy(to + i * sizeof value, &value, sizeof value);
        }
    }
}

// A tensor put together from pieces of other tensors.
class PiecedSource : public Source
{
public:
    struct Part {
        std::shared_ptr<const Checkpoint> item; // a DCP item opened for this part
        std::unique_ptr<TensorBytes> bytes;
        // A box in the whole tensor: rows of `run` elements; row r starts at `start` + the offset of its coordinates.
        std::vector<std::uint64_t> sizes;
        std::vector<std::uint64_t> strides;
        std::uint64_t start = 0;
        std::uint64_t rows = 1;
        std::uint64_t run = 0;
        std::uint64_t sourceFirst = 0;

        std::uint64_t rowStart(std::uint64_t row) const
        {
            std::uint64_t at = start;
            for (std::size_t d = sizes.size(); d-- > 0;) {
                at += row % sizes[d] * strides[d];
                row /= sizes[d];
            }
            return at;
        }
    };

    PiecedSource(std::vector<Part> parts, DType dtype)
        : parts_(std::move(parts)), dtype_(dtype), size_(itemSize(dtype))
    {
    }

    const std::byte* contiguous() const override
    {
        if (parts_.size() != 1 || parts_[0].rows != 1 || parts_[0].start != 0 ||
            parts_[0].bytes->dtype() != dtype_)
            return nullptr;
        const std::byte* bytes = parts_[0].bytes->contiguous();
        return bytes ? bytes + parts_[0].sourceFirst * size_ : nullptr;
    }

    void read(std::uint64_t first, std::uint64_t count, std::byte* out) const override
    {
        std::memset(out, 0, count * size_);
        const std::uint64_t end = first + count;
        for (const Part& part : parts_) {
            // Rows are in order of their place: look for the first that ends behind `first`.
            std::uint64_t low = 0;
            for (std::uint64_t high = part.rows; low < high;) {
                const std::uint64_t middle = low + (high - low) / 2;
                if (part.rowStart(middle) + part.run <= first)
                    low = middle + 1;
                else
                    high = middle;
            }
            for (std::uint64_t row = low; row < part.rows; ++row) {
                const std::uint64_t start = part.rowStart(row);
                if (start >= end)
                    break;
                const std::uint64_t from = std::max(start, first);
                const std::uint64_t to = std::min(start + part.run, end);
                copy(part, part.sourceFirst + row * part.run + (from - start), to - from,
                     out + (from - first) * size_);
            }
        }
    }

private:
    void copy(const Part& part, std::uint64_t first, std::uint64_t count, std::byte* out) const
    {
        if (part.bytes->dtype() == dtype_) {
            part.bytes->read(first, count, out);
            return;
        }
        std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(count, 4096)) *
                                      part.bytes->elementSize());
        for (std::uint64_t i = 0; i < count;) {
            const std::uint64_t n = std::min<std::uint64_t>(4096, count - i);
            part.bytes->read(first + i, n, buffer.data());
            toFloat(part.bytes->dtype(), buffer.data(), n, out + i * size_);
            i += n;
        }
    }

    std::vector<Part> parts_;
    DType dtype_;
    std::size_t size_;
};

CkptProblem boundsProblem(const Checkpoint& c, const TensorInfo& t, std::string why)
{
    CkptProblem p;
    p.fault = CkptFault::TensorBounds;
    if (t.storage != kNone) {
        const StorageInfo& s = c.storages[t.storage];
        p.file = s.file < c.files.size() ? c.files[s.file]->name() : std::string();
        p.record = "storage " + std::string(s.key);
        p.offset = s.offset;
    }
    p.why = std::move(why);
    return p;
}

std::size_t swapUnit(const StorageInfo& s)
{
    if (!s.bigEndian || !s.dtype)
        return 1;
    return isComplex(*s.dtype) ? itemSize(*s.dtype) / 2 : itemSize(*s.dtype);
}

} // namespace

struct TensorBytes::Impl {
    DType dtype = DType::UInt8;
    std::size_t size = 1;
    std::uint64_t elements = 0;
    std::unique_ptr<Source> source;
};

TensorBytes::TensorBytes(std::unique_ptr<Impl> impl) : impl_(std::move(impl))
{
}
TensorBytes::TensorBytes(TensorBytes&&) noexcept = default;
TensorBytes& TensorBytes::operator=(TensorBytes&&) noexcept = default;
TensorBytes::~TensorBytes() = default;

namespace {

// A DCP item: an archive of torch.save that holds one tensor.
CkptResult<PiecedSource::Part> openItem(const Checkpoint& c, const Piece& piece, std::size_t rank)
{
    const auto fail = [&](std::string why) {
        CkptProblem p;
        p.fault = CkptFault::DcpItem;
        p.offset = piece.offset;
        p.file = c.files[piece.file]->name();
        p.why = std::move(why);
        return p;
    };
    auto item = std::make_shared<Checkpoint>();
    item->files.push_back(c.files[piece.file]);
    if (!item->files[0]->contains(piece.offset, piece.length))
        return fail("the item ends " + std::to_string(piece.length) +
                    " bytes further, beyond the end of the file");
    PickleSession session(*item);
    session.judge = false;
    auto root = readTorchZip(session, 0, piece.offset, piece.length);
    if (!root)
        return fail("the item is no whole archive: " + root.problem().why);
    if (!item->problems.empty())
        return fail(item->problems.front().why);
    const Value value = item->value(*root);
    if (!value.is(ValueKind::Tensor))
        return fail("the item holds no tensor");
    const auto sizes = std::span<const std::int64_t>(c.dims).subspan(piece.dims + rank, rank);
    const auto shape = item->shape(value.tensor());
    if (!std::equal(shape.begin(), shape.end(), sizes.begin(), sizes.end()))
        return fail("the item's tensor has another shape than the metadata says");
    auto bytes = TensorBytes::open(*item, value.tensor());
    if (!bytes)
        return bytes.problem();
    PiecedSource::Part part;
    part.bytes = std::make_unique<TensorBytes>(std::move(*bytes));
    part.item = std::move(item);
    return part;
}

// Places a part of `box` (offsets, then sizes) in a row-major tensor of `shape`.
void placeBox(PiecedSource::Part& part, std::span<const std::int64_t> shape,
              std::span<const std::int64_t> box)
{
    const std::size_t rank = shape.size();
    std::vector<std::uint64_t> strides(rank, 1);
    for (std::size_t d = rank; d-- > 1;)
        strides[d - 1] = strides[d] * static_cast<std::uint64_t>(shape[d]);
    part.run = 1;
    std::size_t outer = rank; // dimensions [outer, rank) form one run
    for (std::size_t d = 0; d < rank; ++d)
        part.start += static_cast<std::uint64_t>(box[d]) * strides[d];
    bool whole = true; // every dimension behind is covered in full
    while (outer > 0 && whole) {
        --outer;
        part.run *= static_cast<std::uint64_t>(box[rank + outer]);
        whole = box[rank + outer] == shape[outer];
    }
    for (std::size_t d = 0; d < outer; ++d) {
        part.sizes.push_back(static_cast<std::uint64_t>(box[rank + d]));
        part.strides.push_back(strides[d]);
        part.rows *= part.sizes.back();
    }
    if (part.run == 0)
        part.rows = 0;
}

CkptResult<std::unique_ptr<Source>> openPieces(const Checkpoint& c, const TensorInfo& t)
{
    std::vector<PiecedSource::Part> parts;
    for (std::uint32_t i = 0; i < t.pieceCount; ++i) {
        const Piece& piece = c.pieces[t.firstPiece + i];
        PiecedSource::Part part;
        if (piece.tensor == kNone) {
            if (piece.file == kNone) {
                CkptProblem p = boundsProblem(c, t, "a part of this tensor is not there");
                p.fault = CkptFault::FileMissing;
                return p;
            }
            auto item = openItem(c, piece, t.rank);
            if (!item)
                return item.problem();
            part = std::move(*item);
        } else {
            const TensorInfo& source = c.tensors[piece.tensor];
            auto bytes = TensorBytes::open(c, source);
            if (!bytes)
                return bytes.problem();
            part.bytes = std::make_unique<TensorBytes>(std::move(*bytes));
        }
        if (part.bytes->dtype() != t.dtype && t.dtype != DType::Float32) {
            CkptProblem p = boundsProblem(c, t, "a part has another element type than the whole");
            p.fault = CkptFault::DcpItem;
            return p;
        }
        if (piece.place == Piece::Place::Range) {
            part.start = static_cast<std::uint64_t>(piece.first);
            part.run = static_cast<std::uint64_t>(piece.count);
            part.sourceFirst = static_cast<std::uint64_t>(piece.sourceFirst);
            if (!inside(part.sourceFirst, part.run, part.bytes->elements()))
                return boundsProblem(c, t, "a part reaches past its partition");
        } else {
            placeBox(part, c.shape(t),
                     std::span<const std::int64_t>(c.dims).subspan(piece.dims, 2u * t.rank));
            if (part.rows * part.run > part.bytes->elements())
                return boundsProblem(c, t, "a part is larger than what is stored");
        }
        parts.push_back(std::move(part));
    }
    return std::unique_ptr<Source>(std::make_unique<PiecedSource>(std::move(parts), t.dtype));
}

} // namespace

CkptResult<TensorBytes> TensorBytes::open(const Checkpoint& c, const TensorInfo& t)
{
    auto impl = std::make_unique<Impl>();
    impl->dtype = t.dtype;
    impl->size = itemSize(t.dtype);
    const auto elements = c.elements(t);
    if (t.storage == kNone && t.pieceCount == 0) {
        CkptProblem p = boundsProblem(c, t, "this tensor has no bytes of its own");
        p.fault = CkptFault::RecordMissing;
        return p;
    }
    if (!elements)
        return boundsProblem(c, t, "more elements than can be counted");
    impl->elements = static_cast<std::uint64_t>(*elements);
    if (t.pieceCount > 0) {
        auto source = openPieces(c, t);
        if (!source)
            return source.problem();
        impl->source = std::move(*source);
        return TensorBytes(std::move(impl));
    }
    auto storage = storageBytes(c, t.storage);
    if (!storage)
        return storage.problem();
    std::int64_t last = t.offset;
    bool fits = t.offset >= 0;
    const auto shape = c.shape(t);
    const auto stride = c.stride(t);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        std::int64_t reach = 0;
        fits = fits && shape[d] >= 0 && stride[d] >= 0 &&
               mulInto<std::int64_t>(shape[d] - 1, stride[d], reach) && addInto(last, reach, last);
    }
    const std::uint64_t size = storage->bytes.size();
    if (impl->elements > 0 && (!fits || static_cast<std::uint64_t>(last) >= size / impl->size))
        return boundsProblem(c, t,
                             "element " + std::to_string(last) + " lies outside a storage of " +
                                 std::to_string(size) + " bytes");
    if (impl->elements == 0) {
        impl->source = std::make_unique<RawSource>(StorageBytes{}, 1);
        return TensorBytes(std::move(impl));
    }
    impl->source =
        std::make_unique<StridedSource>(std::move(*storage), c, t, swapUnit(c.storages[t.storage]));
    return TensorBytes(std::move(impl));
}

CkptResult<TensorBytes> TensorBytes::openStorage(const Checkpoint& c, std::uint32_t storage)
{
    auto bytes = storageBytes(c, storage);
    if (!bytes)
        return bytes.problem();
    auto impl = std::make_unique<Impl>();
    impl->elements = bytes->bytes.size();
    impl->source = std::make_unique<RawSource>(std::move(*bytes), swapUnit(c.storages[storage]));
    return TensorBytes(std::move(impl));
}

DType TensorBytes::dtype() const
{
    return impl_->dtype;
}

std::size_t TensorBytes::elementSize() const
{
    return impl_->size;
}

std::uint64_t TensorBytes::elements() const
{
    return impl_->elements;
}

const std::byte* TensorBytes::contiguous() const
{
    return impl_->source->contiguous();
}

void TensorBytes::read(std::uint64_t first, std::uint64_t count, std::byte* out) const
{
    if (count == 0)
        return;
    if (const std::byte* all = contiguous())
        std::memcpy(out, all + first * impl_->size, count * impl_->size);
    else
        impl_->source->read(first, count, out);
}

void TensorBytes::forEachBlock(const std::function<bool(std::span<const std::byte>)>& sink,
                               std::size_t blockBytes) const
{
    const std::uint64_t block = std::max<std::uint64_t>(16, blockBytes / impl_->size / 16 * 16);
    const std::byte* all = contiguous();
    std::vector<std::byte> buffer;
    for (std::uint64_t first = 0; first < impl_->elements;) {
        const std::uint64_t count = std::min(block, impl_->elements - first);
        if (all) {
            if (!sink({all + first * impl_->size, static_cast<std::size_t>(count * impl_->size)}))
                return;
        } else {
            buffer.resize(static_cast<std::size_t>(count * impl_->size));
            impl_->source->read(first, count, buffer.data());
            if (!sink(buffer))
                return;
        }
        first += count;
    }
}

} // namespace lockstep
