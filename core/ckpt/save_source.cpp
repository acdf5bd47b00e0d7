#include "core/ckpt/save_source.h"

#include "core/ckpt/float_convert.h"
#include "core/ckpt/tensor_bytes.h"

#include <sys/mman.h>

namespace lockstep {
namespace {

// Lets go of the pages of a mapped file that were copied out, so that a large checkpoint does not pile up in memory. Bytes that
// are not in a mapped file of the checkpoint stay as they are.
void releasePages(const Checkpoint& checkpoint, std::span<const std::byte> block)
{
    for (const auto& file : checkpoint.files) {
        if (!file || file->path().empty() || block.data() < file->bytes().data() ||
            block.data() + block.size() > file->bytes().data() + file->size())
            continue;
        // Whole pages only; the halves at both ends belong to neighbours as well.
        const auto first = (reinterpret_cast<std::uintptr_t>(block.data()) + 4095) & ~std::uintptr_t{4095};
        const auto last =
            reinterpret_cast<std::uintptr_t>(block.data() + block.size()) & ~std::uintptr_t{4095};
        if (first < last)
            ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED); // a hint
        return;
    }
}

// Sends every block through `change`, which may leave it as it is.
template<typename Change>
Status send(const Checkpoint& checkpoint, const CkptResult<TensorBytes>& bytes, const ByteSink& sink,
            Change&& change)
{
    Status status;
    if (bytes.ok())
        bytes->forEachBlock([&](std::span<const std::byte> block) {
            status = sink(change(block));
            releasePages(checkpoint, block);
            return status.ok();
        });
    else
        status = bytes.problem().toError();
    if (const auto cut = checkpoint.cutFile())
        return cut->toError(); // what else went wrong follows from it
    return status;
}

} // namespace

ByteSource elementsOf(const Checkpoint& checkpoint, std::uint32_t tensor, std::optional<DType> to)
{
    return [&checkpoint, tensor, to](const ByteSink& sink) {
        const TensorInfo& info = checkpoint.tensors[tensor];
        std::vector<std::byte> converted;
        return send(checkpoint, TensorBytes::open(checkpoint, info), sink,
                    [&](std::span<const std::byte> block) {
                        if (!to)
                            return block;
                        const std::size_t n = block.size() / itemSize(info.dtype);
                        converted.resize(n * itemSize(*to));
                        convertFloats(info.dtype, block.data(), n, *to, converted.data());
                        return std::span<const std::byte>(converted);
                    });
    };
}

ByteSource storageBytesOf(const Checkpoint& checkpoint, std::uint32_t storage)
{
    return [&checkpoint, storage](const ByteSink& sink) {
        return send(checkpoint, TensorBytes::openStorage(checkpoint, storage), sink,
                    [](std::span<const std::byte> block) { return block; });
    };
}

} // namespace lockstep
