#include "core/ckpt/save_value.h"

#include "core/ckpt/strides.h"

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

} // namespace lockstep
