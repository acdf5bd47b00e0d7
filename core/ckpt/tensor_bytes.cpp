#include "core/ckpt/tensor_bytes.h"

#include "core/ckpt/element_source.h"
#include "core/ckpt/strides.h"

#include <algorithm>
#include <cstring>

namespace lockstep {

CkptProblem tensorProblem(const Checkpoint& c, const TensorInfo& t, CkptFault fault, std::string why)
{
    CkptProblem p;
    p.fault = fault;
    if (t.storage != kNone) {
        const StorageInfo& s = c.storages[t.storage];
        p.file = s.file < c.files.size() ? c.files[s.file]->name() : std::string();
        p.record = "storage " + std::string(s.key);
        p.offset = s.offset;
    }
    p.why = std::move(why);
    return p;
}

struct TensorBytes::Impl {
    DType dtype = DType::UInt8;
    std::size_t size = 1;
    std::uint64_t elements = 0;
    std::unique_ptr<ElementSource> source;
};

TensorBytes::TensorBytes(std::unique_ptr<Impl> impl) : impl_(std::move(impl))
{
}
TensorBytes::TensorBytes(TensorBytes&&) noexcept = default;
TensorBytes& TensorBytes::operator=(TensorBytes&&) noexcept = default;
TensorBytes::~TensorBytes() = default;

CkptResult<TensorBytes> TensorBytes::open(const Checkpoint& c, const TensorInfo& t)
{
    auto impl = std::make_unique<Impl>();
    impl->dtype = t.dtype;
    impl->size = itemSize(t.dtype);
    const auto elements = c.elements(t);
    if (t.storage == kNone && t.pieceCount == 0) {
        return tensorProblem(c, t, CkptFault::RecordMissing, "this tensor has no bytes of its own");
    }
    if (!elements)
        return tensorProblem(c, t, CkptFault::TensorBounds, "more elements than can be counted");
    impl->elements = static_cast<std::uint64_t>(*elements);
    if (t.pieceCount > 0) {
        auto source = piecedSource(c, t);
        if (!source)
            return source.problem();
        impl->source = std::move(*source);
        return TensorBytes(std::move(impl));
    }
    auto storage = storageBytes(c, t.storage);
    if (!storage)
        return storage.problem();
    const std::uint64_t size = storage->bytes.size();
    const auto end = viewEnd(c.shape(t), c.stride(t), t.offset);
    if (impl->elements > 0 && (!end || static_cast<std::uint64_t>(*end) > size / impl->size))
        return tensorProblem(c, t, CkptFault::TensorBounds,
                             "element " + (end ? std::to_string(*end - 1) : std::string("2^63")) +
                                 " lies outside a storage of " + std::to_string(size) + " bytes");
    if (impl->elements == 0) {
        impl->source = rawSource(StorageBytes{}, 1);
        return TensorBytes(std::move(impl));
    }
    impl->source = stridedSource(std::move(*storage), c, t);
    return TensorBytes(std::move(impl));
}

CkptResult<TensorBytes> TensorBytes::openStorage(const Checkpoint& c, std::uint32_t storage)
{
    auto bytes = storageBytes(c, storage);
    if (!bytes)
        return bytes.problem();
    auto impl = std::make_unique<Impl>();
    impl->elements = bytes->bytes.size();
    impl->source = rawSource(std::move(*bytes), swapUnit(c.storages[storage]));
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

DenseElements::DenseElements(const TensorBytes& bytes, std::size_t alignment) : data_(bytes.contiguous())
{
    if (data_ && reinterpret_cast<std::uintptr_t>(data_) % alignment == 0)
        return;
    copy_.resize(bytes.byteCount());
    bytes.read(0, bytes.elements(), copy_.data());
    data_ = copy_.data();
}

} // namespace lockstep
