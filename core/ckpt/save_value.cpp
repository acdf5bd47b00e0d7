#include "core/ckpt/save_value.h"

namespace lockstep {

std::shared_ptr<const SaveStorage> SaveStorage::over(std::span<const std::byte> bytes, std::string device)
{
    auto storage = std::make_shared<SaveStorage>();
    storage->size = bytes.size();
    storage->data = bytes;
    storage->device = std::move(device);
    return storage;
}

SaveTensor SaveTensor::dense(DType dtype, std::vector<std::int64_t> shape, std::span<const std::byte> bytes)
{
    SaveTensor tensor;
    tensor.storage = SaveStorage::over(bytes);
    tensor.dtype = dtype;
    tensor.stride = rowMajorStride(shape);
    tensor.shape = std::move(shape);
    return tensor;
}

std::vector<std::int64_t> rowMajorStride(std::span<const std::int64_t> shape)
{
    std::vector<std::int64_t> stride(shape.size());
    std::uint64_t step =
        1; // unsigned: a shape from a hostile file may wrap, which is caught where it is used
    for (std::size_t i = shape.size(); i-- > 0;) {
        stride[i] = static_cast<std::int64_t>(step);
        step *= static_cast<std::uint64_t>(shape[i] > 0 ? shape[i] : 1);
    }
    return stride;
}

} // namespace lockstep
