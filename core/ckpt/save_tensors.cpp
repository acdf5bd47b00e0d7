#include "core/ckpt/save_tensors.h"

#include "core/ckpt/strides.h"

#include "core/ckpt/element_decode.h"
#include "core/ckpt/parts.h"
#include "core/ckpt/save_source.h"

namespace lockstep {
namespace {

constexpr std::uint64_t kLargestTensor = 1ULL << 48;

SaveValue sizesTuple(std::span<const std::int64_t> sizes)
{
    SaveTuple tuple;
    for (const std::int64_t n : sizes)
        tuple.items.emplace_back(n);
    return tuple;
}

} // namespace

TensorSaver::TensorSaver(const Checkpoint& checkpoint, const ConvertOptions& options,
                         std::unordered_set<std::uint32_t> weights)
    : checkpoint_(checkpoint), options_(options), weights_(std::move(weights)), budget_(checkpoint)
{
    if (options.compact)
        for (const StorageUsage& use : storageUsage(checkpoint))
            if (use.usedBytes < use.storedBytes)
                wasteful_.insert(use.storage);
}

std::string TensorSaver::device(std::string_view tag) const
{
    return options_.cpu && tag != "meta" ? "cpu" : std::string(tag);
}

std::string TensorSaver::deviceOfStorage(std::uint32_t storage) const
{
    const std::string_view tag = storage == kNone ? std::string_view() : checkpoint_.storages[storage].device;
    return device(tag.empty() ? "cpu" : tag);
}

std::optional<DType> TensorSaver::newType(std::uint32_t tensor) const
{
    const TensorInfo& info = checkpoint_.tensors[tensor];
    const bool wanted = options_.dtype && isFloat(info.dtype) && info.dtype != *options_.dtype;
    // Optimizer states keep their type: the option is about the weights.
    return wanted && (weights_.empty() || weights_.contains(tensor)) ? options_.dtype : std::nullopt;
}

SaveStoragePtr TensorSaver::storage(std::uint32_t storage)
{
    SaveStoragePtr& made = storages_[storage];
    if (!made) {
        auto fresh = std::make_shared<SaveStorage>();
        fresh->size = checkpoint_.storages[storage].bytes;
        fresh->produce = storageBytesOf(checkpoint_, storage);
        fresh->device = deviceOfStorage(storage);
        made = std::move(fresh);
    }
    return made;
}

SaveStoragePtr TensorSaver::ownStorage(std::uint32_t tensor, const SaveTensor& layout, std::uint64_t size,
                                       std::optional<DType> type)
{
    const TensorInfo& info = checkpoint_.tensors[tensor];
    std::vector<std::int64_t> view = layout.shape;
    const auto stride = checkpoint_.stride(info);
    view.insert(view.end(), stride.begin(), stride.end());
    view.push_back(info.conj * 2 + info.neg);
    SaveStoragePtr unshared;
    SaveStoragePtr& made =
        info.storage == kNone ? unshared : ownStorages_[{info.storage, info.offset, std::move(view)}];
    if (!made) {
        auto fresh = std::make_shared<SaveStorage>();
        fresh->size = size;
        fresh->produce = elementsOf(checkpoint_, tensor, type);
        fresh->device = deviceOfStorage(info.storage);
        made = std::move(fresh);
    }
    return made;
}

Result<SaveTensor> TensorSaver::dense(std::uint32_t tensor)
{
    const TensorInfo& info = checkpoint_.tensors[tensor];
    const auto shape = checkpoint_.shape(info), stride = checkpoint_.stride(info);
    const std::optional<DType> type = newType(tensor);
    SaveTensor result;
    result.dtype = type.value_or(info.dtype);
    result.shape.assign(shape.begin(), shape.end());
    result.requiresGrad = info.requiresGrad;
    result.parameter = info.parameter;
    if (info.storage != kNone && !type && !wasteful_.contains(info.storage)) {
        result.storage = storage(info.storage);
        result.stride.assign(stride.begin(), stride.end());
        result.offset = info.offset;
        result.conjugate = info.conj;
        result.negative = info.neg;
        return result;
    }
    result.stride = rowMajorStride(shape);
    const auto elements = static_cast<std::uint64_t>(checkpoint_.elements(info).value_or(-1));
    std::uint64_t size = 0;
    if (!budget_.spend(info) ||
        __builtin_mul_overflow(elements, std::uint64_t{itemSize(result.dtype)}, &size) ||
        size > kLargestTensor)
        return Error{ErrorKind::Corrupt, "A tensor cannot be written",
                     "its shape " + shapeText(shape) + " asks for more than any file holds", ""};
    result.storage = ownStorage(tensor, result, size, type);
    converted_ += type.has_value();
    return result;
}

SaveValue quantisedCall(const TensorExtra& extra, const SaveTensor& dense, const PartSaver& part)
{
    SaveTuple quantiser;
    quantiser.items.emplace_back(SaveGlobal{"torch", std::string(extra.scheme)});
    if (extra.scheme == "per_tensor_affine") {
        quantiser.items.emplace_back(extra.scale);
        quantiser.items.emplace_back(extra.zeroPoint);
    } else {
        quantiser.items.push_back(part("scales"));
        quantiser.items.push_back(part("zero_points"));
        quantiser.items.emplace_back(extra.axis);
    }
    SaveDict hooks;
    hooks.ordered = true;
    return SaveCall{{"torch._utils", "_rebuild_qtensor"},
                    {SaveStorageRef{dense.storage, dense.dtype}, dense.offset, sizesTuple(dense.shape),
                     sizesTuple(dense.stride), SaveValue(std::move(quantiser)), dense.requiresGrad,
                     SaveValue(std::move(hooks))}};
}

SaveValue sparseCall(const Checkpoint& checkpoint, const TensorInfo& info, const PartSaver& part)
{
    SaveCall layout{{"torch.serialization", "_get_layout"},
                    {"torch." + std::string(layoutName(info.layout))}};
    SaveCall shape{{"torch", "Size"}, {sizesTuple(checkpoint.shape(info))}};
    SaveTuple data;
    if (info.layout == Layout::SparseCoo) {
        data.items = {part("indices"), part("values"), SaveValue(std::move(shape))};
    } else {
        const bool columns = info.layout == Layout::SparseCsc || info.layout == Layout::SparseBsc;
        data.items = {part(columns ? "ccol_indices" : "crow_indices"),
                      part(columns ? "row_indices" : "col_indices"), part("values"),
                      SaveValue(std::move(shape))};
    }
    return SaveCall{{"torch._utils", "_rebuild_sparse_tensor"},
                    {SaveValue(std::move(layout)), SaveValue(std::move(data))}};
}

} // namespace lockstep
