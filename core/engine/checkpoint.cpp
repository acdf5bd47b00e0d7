#include "core/engine/checkpoint.h"

#include "core/ckpt/torch_zip_writer.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace lockstep {

namespace {

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
            own.set(name, savedTensor(tensor));
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

SaveValue samplerState(const DataOrder& data, const std::vector<std::uint64_t>& baseSeeds)
{
    SaveList seeds;
    for (const std::uint64_t seed : baseSeeds)
        seeds.items.emplace_back(std::int64_t(seed));
    SaveDict state;
    state.set("epoch", data.position().epoch);
    state.set("position", data.position().consumed);
    state.set("order_seed", std::int64_t(data.orderSeed()));
    state.set("base_seeds", std::move(seeds));
    return state;
}

// GradScaler.state_dict().
SaveValue scalerState(const GradScaler& scaler)
{
    SaveDict state;
    state.set("scale", scaler.value());
    state.set("growth_factor", GradScaler::kGrowthFactor);
    state.set("backoff_factor", GradScaler::kBackoffFactor);
    state.set("growth_interval", scaler.growthInterval());
    state.set("_growth_tracker", scaler.growthTracker());
    return state;
}

// Of the ranks after the first, whose buffers are in the model: they differ until rank 0's are broadcast again.
SaveValue rankBuffers(Replica& replica, const std::vector<at::Tensor>& packed,
                      std::vector<at::Tensor>& memory)
{
    SaveDict ranks;
    for (std::size_t r = 1; r < packed.size(); ++r) {
        std::vector<at::Tensor> own;
        for (const at::Tensor& b : replica.buffers())
            own.push_back(at::empty_like(b));
        unpackBuffers(packed[r], own);
        SaveDict named;
        for (std::size_t i = 0; i < own.size(); ++i)
            named.set(replica.bufferNames()[i], savedTensor(own[i]));
        ranks.set(std::int64_t(r), std::move(named));
        memory.insert(memory.end(), own.begin(), own.end());
    }
    return ranks;
}

SaveValue bucketLayout(const Buckets& buckets)
{
    SaveList layout;
    for (const std::vector<std::size_t>& bucket : buckets) {
        SaveList indices;
        for (const std::size_t i : bucket)
            indices.items.emplace_back(std::int64_t(i));
        layout.items.emplace_back(std::move(indices));
    }
    return layout;
}

std::string checkpointName(std::int64_t step)
{
    char name[32];
    std::snprintf(name, sizeof name, "step_%08lld.pt", static_cast<long long>(step));
    return name;
}

} // namespace

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

SaveValue savedTensor(const at::Tensor& t)
{
    const std::span bytes(static_cast<const std::byte*>(t.data_ptr()), t.nbytes());
    return SaveTensor::dense(dtypeOf(t), t.sizes().vec(), bytes);
}

SaveValue modelState(Replica& replica)
{
    SaveDict model;
    for (const auto& module : replica.model().named_modules()) {
        const std::string prefix = module.key().empty() ? "" : module.key() + ".";
        for (const auto& p : module.value()->named_parameters(false))
            model.set(prefix + p.key(), savedTensor(p.value().detach()));
        for (const auto& b : module.value()->named_buffers(false))
            model.set(prefix + b.key(), savedTensor(b.value()));
    }
    return model;
}

void RankStates::add(const at::Tensor& lanes)
{
    for (const at::Tensor& row : lanes.unbind()) {
        const LaneState lane(row);
        generators.push_back(lane.generator);
        baseSeeds.push_back(lane.baseSeed);
    }
}

at::Tensor packBuffers(const std::vector<at::Tensor>& buffers)
{
    std::vector<at::Tensor> bytes;
    for (const at::Tensor& b : buffers)
        bytes.push_back(b.cpu().contiguous().view({-1}).view(at::kByte));
    return at::cat(bytes);
}

void unpackBuffers(const at::Tensor& packed, const std::vector<at::Tensor>& buffers)
{
    const at::NoGradGuard noGrad;
    std::int64_t first = 0;
    for (const at::Tensor& b : buffers) {
        const auto bytes = std::int64_t(b.nbytes());
        b.copy_(packed.slice(0, first, first + bytes).clone().view(b.scalar_type()).view(b.sizes()));
        first += bytes;
    }
}

Result<CheckpointWritten> writeCheckpoint(const std::string& runFolder, Replica& replica,
                                          const RankStates& states)
{
    const std::filesystem::path folder = std::filesystem::path(runFolder) / "checkpoints";
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return Error{ErrorKind::Io, "The folder " + folder.string() + " cannot be made", error.message(),
                     "Check the rights of the project folder and the free space"};
    SaveDict rng;
    for (std::size_t r = 0; r < states.generators.size(); ++r)
        rng.set(std::int64_t(r), savedTensor(states.generators[r]));
    std::vector<at::Tensor> memory; // of tensors made for the file
    SaveDict root;
    root.set("model", modelState(replica));
    root.set("optimizer", optimizerState(replica));
    root.set("scheduler", schedulerState(replica.scheduler()));
    if (replica.scaler())
        root.set("scaler", scalerState(*replica.scaler()));
    root.set("rng", std::move(rng));
    root.set("sampler", samplerState(replica.data(), states.baseSeeds));
    root.set("rank_buffers", rankBuffers(replica, states.buffers, memory));
    root.set("buckets", bucketLayout(states.buckets));
    root.set("step", replica.step());
    root.set("optimizer_steps", replica.optimizer().steps());
    root.set("samples_seen", replica.samplesSeen());
    root.set("tokens_seen", replica.tokensSeen());
    root.set("world", std::int64_t(replica.world()));
    root.set("global_batch", samplesPerStep(replica.config()));
    root.set("config", toJson(replica.config()));

    CheckpointWritten written;
    written.path = (folder / checkpointName(replica.step())).string();
    const Result<WrittenCheckpoint> file = writeTorchZip(written.path, root);
    if (!file)
        return file.error();
    written.bytes = file->bytes;
    return written;
}

} // namespace lockstep
