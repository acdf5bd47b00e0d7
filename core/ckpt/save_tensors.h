// Tensors of a checkpoint as tensors of the new file: over the storage they had, so that ties and views stay, or over one of their
// own where they have none, waste it, or change their type.
#pragma once

#include "core/ckpt/convert.h"
#include "core/ckpt/storage_use.h"

#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace lockstep {

class TensorSaver
{
public:
    // `weights`: tensors of the model part; if there are any, only they change their type. The references must outlive the saver
    // and everything it made.
    TensorSaver(const Checkpoint& checkpoint, const ConvertOptions& options,
                std::unordered_set<std::uint32_t> weights);

    // Fails (Corrupt) for a view that asks for more than any file holds.
    Result<SaveTensor> dense(std::uint32_t tensor);
    // A storage that several tensors name is the same object each time.
    SaveStoragePtr storage(std::uint32_t storage);
    // The device tag to write for the one found.
    std::string device(std::string_view tag) const;
    // Tensors that changed their type so far.
    std::size_t converted() const { return converted_; }

private:
    std::optional<DType> newType(std::uint32_t tensor) const;
    SaveStoragePtr ownStorage(std::uint32_t tensor, const SaveTensor& layout, std::uint64_t size,
                              std::optional<DType> type);
    std::string deviceOfStorage(std::uint32_t storage) const;

    const Checkpoint& checkpoint_;
    const ConvertOptions& options_;
    const std::unordered_set<std::uint32_t> weights_;
    std::unordered_set<std::uint32_t> wasteful_; // storages to compact
    std::unordered_map<std::uint32_t, SaveStoragePtr> storages_;
    // Equal views of one storage share their new one: storage, offset, shape and strides with the conjugate and negative bits.
    std::map<std::tuple<std::uint32_t, std::int64_t, std::vector<std::int64_t>>, SaveStoragePtr> ownStorages_;
    std::size_t converted_ = 0;
    RepeatBudget budget_; // for storages of their own
};

// A part of a quantised or sparse tensor by its label ("values"), ready to be written.
using PartSaver = std::function<SaveValue(std::string_view label)>;

// The call that rebuilds a quantised tensor over the stored integers in `dense`.
SaveValue quantisedCall(const TensorExtra& extra, const SaveTensor& dense, const PartSaver& part);
// The call that rebuilds a sparse tensor of any layout but nested.
SaveValue sparseCall(const Checkpoint& checkpoint, const TensorInfo& info, const PartSaver& part);

} // namespace lockstep
