#include "core/ckpt/bytes.h"
#include "core/ckpt/element_decode.h"
#include "core/ckpt/element_source.h"
#include "core/ckpt/readers.h"
#include "core/ckpt/strides.h"
#include "core/ckpt/tensor_bytes.h"

#include <algorithm>
#include <array>

namespace lockstep {
namespace {

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
class PiecedSource : public ElementSource
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

    // `elements` of the whole tensor; those that no part holds read as zeros.
    PiecedSource(std::vector<Part> parts, DType dtype, std::uint64_t elements)
        : parts_(std::move(parts)), dtype_(dtype), size_(itemSize(dtype)), elements_(elements)
    {
    }

    const std::byte* contiguous() const override
    {
        if (parts_.size() != 1 || parts_[0].rows != 1 || parts_[0].start != 0 || parts_[0].run != elements_ ||
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
    std::uint64_t elements_;
};

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
    const std::vector<std::int64_t> strides = rowMajorStride(shape);
    part.run = 1;
    std::size_t outer = rank; // dimensions [outer, rank) form one run
    for (std::size_t d = 0; d < rank; ++d)
        part.start += static_cast<std::uint64_t>(box[d]) * static_cast<std::uint64_t>(strides[d]);
    bool whole = true; // every dimension behind is covered in full
    while (outer > 0 && whole) {
        --outer;
        part.run *= static_cast<std::uint64_t>(box[rank + outer]);
        whole = box[rank + outer] == shape[outer];
    }
    for (std::size_t d = 0; d < outer; ++d) {
        part.sizes.push_back(static_cast<std::uint64_t>(box[rank + d]));
        part.strides.push_back(static_cast<std::uint64_t>(strides[d]));
        part.rows *= part.sizes.back();
    }
    if (part.run == 0)
        part.rows = 0;
}

} // namespace

CkptResult<std::unique_ptr<ElementSource>> piecedSource(const Checkpoint& c, const TensorInfo& t)
{
    std::vector<PiecedSource::Part> parts;
    for (std::uint32_t i = 0; i < t.pieceCount; ++i) {
        const Piece& piece = c.pieces[t.firstPiece + i];
        PiecedSource::Part part;
        if (piece.tensor == kNone) {
            if (piece.file == kNone) {
                return tensorProblem(c, t, CkptFault::FileMissing, "a part of this tensor is not there");
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
            return tensorProblem(c, t, CkptFault::DcpItem, "a part has another element type than the whole");
        }
        if (piece.place == Piece::Place::Range) {
            part.start = static_cast<std::uint64_t>(piece.first);
            part.run = static_cast<std::uint64_t>(piece.count);
            part.sourceFirst = static_cast<std::uint64_t>(piece.sourceFirst);
            if (!inside(part.sourceFirst, part.run, part.bytes->elements()))
                return tensorProblem(c, t, CkptFault::TensorBounds, "a part reaches past its partition");
        } else {
            placeBox(part, c.shape(t),
                     std::span<const std::int64_t>(c.dims).subspan(piece.dims, 2u * t.rank));
            if (part.rows * part.run > part.bytes->elements())
                return tensorProblem(c, t, CkptFault::TensorBounds, "a part is larger than what is stored");
        }
        parts.push_back(std::move(part));
    }
    const auto elements = static_cast<std::uint64_t>(c.elements(t).value_or(0));
    return std::unique_ptr<ElementSource>(
        std::make_unique<PiecedSource>(std::move(parts), t.dtype, elements));
}

} // namespace lockstep
