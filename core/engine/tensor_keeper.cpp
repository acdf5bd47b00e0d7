#include "core/engine/tensor_keeper.h"

#include "core/ckpt/torch_zip_writer.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace lockstep {

namespace {

std::string fileName(std::int64_t step, int rank)
{
    char name[48];
    std::snprintf(name, sizeof name, "step_%08lld_rank%d.pt", static_cast<long long>(step), rank);
    return name;
}

} // namespace

TensorKeeper::TensorKeeper(std::string runFolder, StepChoice steps)
    : runFolder_(std::move(runFolder)), steps_(std::move(steps))
{
}

void TensorKeeper::note(const std::string& stage, const std::string& parameter, const at::Tensor& gradient)
{
    noted_[stage].emplace_back(
        parameter, gradient.detach().to(at::kCPU, /*non_blocking=*/false, /*copy=*/true).contiguous());
}

Result<CheckpointWritten> TensorKeeper::write(Replica& replica)
{
    const std::filesystem::path folder = std::filesystem::path(runFolder_) / "tensors";
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return Error{ErrorKind::Io, "The folder " + folder.string() + " cannot be made", error.message(),
                     "Check the rights of the project folder and the free space"};
    SaveDict root;
    root.set("step", replica.step());
    root.set("rank", std::int64_t(replica.rank()));
    for (const auto& [stage, gradients] : noted_) {
        SaveDict named;
        for (const auto& [name, gradient] : gradients)
            named.set(name, savedTensor(gradient));
        root.set(stage, std::move(named));
    }
    root.set("model", modelState(replica));
    CheckpointWritten written{(folder / fileName(replica.step(), replica.rank())).string(), 0};
    const Result<WrittenCheckpoint> file = writeTorchZip(written.path, root);
    if (!file)
        return file.error();
    written.bytes = file->bytes;
    return written;
}

} // namespace lockstep
