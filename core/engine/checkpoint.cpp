#include "core/engine/checkpoint.h"

#include "core/ckpt/torch_zip_writer.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace lockstep {

namespace {

DType dtypeOf(const at::Tensor& t)
{
    switch (t.scalar_type()) {
    case at::kLong:
        return DType::Int64;
    case at::kByte:
        return DType::UInt8;
    default:
        return DType::Float32;
    }
}

// The tensor's memory stays valid: the write ends before training goes on.
SaveValue save(const at::Tensor& t)
{
    const std::span bytes(static_cast<const std::byte*>(t.data_ptr()), t.nbytes());
    return SaveTensor::dense(dtypeOf(t), t.sizes().vec(), bytes);
}

SaveValue modelState(Replica& replica)
{
    // state_dict order: module by module, each one's parameters, then its buffers.
    SaveDict model;
    for (const auto& module : replica.model().named_modules()) {
        const std::string prefix = module.key().empty() ? "" : module.key() + ".";
        for (const auto& p : module.value()->named_parameters(false))
            model.set(prefix + p.key(), save(p.value().detach()));
        for (const auto& b : module.value()->named_buffers(false))
            model.set(prefix + b.key(), save(b.value()));
    }
    return model;
}

SaveValue optionValue(const Optimizer::Option& option)
{
    switch (option.kind) {
    case Optimizer::Option::Number:
        return option.first;
    case Optimizer::Option::Flag:
        return option.first != 0;
    case Optimizer::Option::Pair:
        return SaveTuple{{option.first, option.second}};
    default:
        return {};
    }
}

SaveValue optimizerState(Replica& replica)
{
    SaveDict state;
    SaveList indices;
    for (std::size_t i = 0; i < replica.parameters().size(); ++i) {
        indices.items.emplace_back(std::int64_t(i));
        SaveDict own;
        for (const auto& [name, tensor] : replica.optimizer().state(i))
            own.set(name, save(tensor));
        if (!own.items.empty())
            state.set(std::int64_t(i), std::move(own));
    }
    SaveDict group;
    for (const Optimizer::Option& option : replica.optimizer().options(replica.scheduler().rate()))
        group.set(option.name, optionValue(option));
    if (replica.scheduler().kind() != "none")
        group.set("initial_lr", replica.scheduler().baseRate());
    group.set("params", std::move(indices));
    SaveDict optimizer;
    optimizer.set("state", std::move(state));
    optimizer.set("param_groups", SaveList{{std::move(group)}});
    return optimizer;
}

SaveValue schedulerState(const LrScheduler& scheduler)
{
    SaveDict state;
    state.set("kind", scheduler.kind());
    state.set("period", scheduler.period());
    state.set("base_lrs", SaveList{{scheduler.baseRate()}});
    state.set("last_epoch", scheduler.lastEpoch());
    state.set("_last_lr", SaveList{{scheduler.rate()}});
    return state;
}

SaveValue samplerState(const DataOrder& data)
{
    SaveDict state;
    state.set("epoch", data.position().epoch);
    state.set("position", data.position().consumed);
    state.set("order_seed", std::int64_t(data.orderSeed()));
    return state;
}

std::string checkpointName(std::int64_t step)
{
    char name[32];
    std::snprintf(name, sizeof name, "step_%08lld.pt", static_cast<long long>(step));
    return name;
}

} // namespace

Result<CheckpointWritten> writeCheckpoint(const std::string& runFolder, Replica& replica,
                                          const std::vector<at::Tensor>& generators)
{
    const std::filesystem::path folder = std::filesystem::path(runFolder) / "checkpoints";
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return Error{ErrorKind::Io, "The folder " + folder.string() + " cannot be made", error.message(),
                     "Check the rights of the project folder and the free space"};
    SaveDict rng;
    for (std::size_t r = 0; r < generators.size(); ++r)
        rng.set(std::int64_t(r), save(generators[r]));
    const RunConfig& config = replica.config();
    const int ranks = config.mode == "single" ? config.alignWorld : replica.world();
    SaveDict root;
    root.set("model", modelState(replica));
    root.set("optimizer", optimizerState(replica));
    root.set("scheduler", schedulerState(replica.scheduler()));
    root.set("rng", std::move(rng));
    root.set("sampler", samplerState(replica.data()));
    root.set("step", replica.step());
    root.set("samples_seen", replica.samplesSeen());
    root.set("tokens_seen", replica.tokensSeen());
    root.set("world", std::int64_t(replica.world()));
    root.set("global_batch", config.batch * config.accumulate * ranks);
    root.set("config", toJson(config));

    CheckpointWritten written;
    written.path = (folder / checkpointName(replica.step())).string();
    const Result<WrittenCheckpoint> file = writeTorchZip(written.path, root);
    if (!file)
        return file.error();
    written.bytes = file->bytes;
    return written;
}

} // namespace lockstep
