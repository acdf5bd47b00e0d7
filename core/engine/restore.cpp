#include "core/engine/restore.h"

#include "core/ckpt/integrity.h"
#include "core/ckpt/open.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/config/json.h"
#include "core/engine/checkpoint.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace lockstep {

namespace {

const char* const kWhat = "The run cannot go on from this checkpoint";

Error unusable(std::string why)
{
    return {ErrorKind::Input, kWhat, std::move(why), "Choose a checkpoint of the same model"};
}

std::string hexText(std::uint64_t bits)
{
    char text[24];
    std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(bits));
    return text;
}

// A key of a dict with whole numbers for keys.
Value atIndex(const Value& dict, std::int64_t index)
{
    for (std::size_t i = 0; dict.is(ValueKind::Dict) && i < dict.size(); ++i)
        if (dict.key(i).is(ValueKind::Int) && dict.key(i).integer() == index)
            return dict.item(i);
    return {};
}

// Fills `into`, which tells shape and type.
Status read(const Value& value, const std::string& name, const at::Tensor& into)
{
    if (!value.is(ValueKind::Tensor))
        return unusable("it has no " + name);
    const Checkpoint& checkpoint = *value.checkpoint();
    const TensorInfo& info = value.tensor();
    const auto shape = checkpoint.shape(info);
    if (!std::equal(shape.begin(), shape.end(), into.sizes().begin(), into.sizes().end()) ||
        info.dtype != dtypeOf(into))
        return unusable(name + " has another shape or type than in this model");
    const auto bytes = TensorBytes::open(checkpoint, info);
    if (!bytes)
        return bytes.problem().toError();
    const at::NoGradGuard noGrad;
    at::Tensor host = at::empty(into.sizes(), into.options().device(at::kCPU));
    bytes->read(0, std::uint64_t(host.numel()), static_cast<std::byte*>(host.data_ptr()));
    into.copy_(host);
    return {};
}

// A tensor of the shape the file gives it.
Result<at::Tensor> load(const Value& value, const std::string& name, at::ScalarType type)
{
    if (!value.is(ValueKind::Tensor))
        return unusable("it has no " + name);
    const auto shape = value.checkpoint()->shape(value.tensor());
    at::Tensor t = at::empty(at::IntArrayRef(shape.data(), shape.size()), type);
    if (Status status = read(value, name, t); !status)
        return status.error();
    return t;
}

Status restoreModel(const Value& model, Replica& replica)
{
    const auto each = [&model](const std::vector<std::string>& names,
                               const std::vector<at::Tensor>& tensors) {
        for (std::size_t i = 0; i < tensors.size(); ++i)
            if (Status status = read(model.get(names[i]), names[i], tensors[i].detach()); !status)
                return status;
        return Status();
    };
    if (model.size() != replica.parameters().size() + replica.buffers().size())
        return unusable("its model has " + std::to_string(model.size()) + " tensors and this one " +
                        std::to_string(replica.parameters().size() + replica.buffers().size()));
    if (Status status = each(replica.parameterNames(), replica.parameters()); !status)
        return status;
    return each(replica.bufferNames(), replica.buffers());
}

Status restoreOptimizer(const Value& state, Replica& replica)
{
    for (std::size_t i = 0; i < replica.parameters().size(); ++i) {
        const Value own = atIndex(state, std::int64_t(i));
        for (std::size_t k = 0; own.is(ValueKind::Dict) && k < own.size(); ++k) {
            if (!own.key(k).is(ValueKind::Str))
                continue;
            const std::string key(own.key(k).text());
            Result<at::Tensor> t = load(own.item(k), "optimizer state " + key, at::kFloat);
            if (!t)
                return t.error();
            if (t->dim() > 0 && t->sizes() != replica.parameters()[i].sizes())
                return unusable("optimizer state " + key + " of " + replica.parameterNames()[i] +
                                " has another shape");
            replica.optimizer().restore(i, key, *t);
        }
    }
    return {};
}

// A run that turns fp16 on begins with a new scaler.
Status restoreScaler(const Value& state, Replica& replica)
{
    if (!replica.scaler() || !state.is(ValueKind::Dict))
        return {};
    const Value scale = state.get("scale");
    const Value tracker = state.get("_growth_tracker");
    if (!scale.is(ValueKind::Float) || !tracker.is(ValueKind::Int))
        return unusable("its scaler has no scale or _growth_tracker");
    replica.scaler()->restore(scale.real(), tracker.integer());
    return {};
}

} // namespace

ResumePoint::ResumePoint(Checkpoint checkpoint, SavedRun saved, ResumePlan plan)
    : checkpoint_(std::make_unique<const Checkpoint>(std::move(checkpoint))),
      saved_(std::move(saved)),
      plan_(std::move(plan))
{
}

Result<ResumePoint> ResumePoint::open(const RunConfig& wanted, std::int64_t datasetSize)
{
    Result<Checkpoint> file = openCheckpoint(wanted.resume);
    if (!file)
        return file.error();
    if (const CkptProblem* problem = file->fatal())
        return problem->toError();
    const IntegrityReport report = checkIntegrity(*file, 1);
    if (!report.problems.empty())
        return report.problems.front().toError();
    Result<SavedRun> saved = readSavedRun(*file);
    if (!saved)
        return saved.error();
    Result<ResumePlan> plan = planResume(wanted, *saved, datasetSize);
    if (!plan)
        return plan.error();
    return ResumePoint(std::move(*file), std::move(*saved), std::move(*plan));
}

Status ResumePoint::restore(Replica& replica) const
{
    const Value root = checkpoint_->rootValue();
    replica.restore(saved_.step, saved_.samplesSeen, saved_.tokensSeen);
    replica.lanes().seek(plan_.position, saved_.orderSeed, saved_.baseSeeds);
    replica.scheduler().restore(saved_.schedulerEpoch, saved_.rate);
    if (replica.restores(SavedPart::Model))
        if (Status status = restoreModel(root.get("model"), replica); !status)
            return status;
    if (Status status = restoreScaler(root.get("scaler"), replica); !status)
        return status;
    if (!replica.restores(SavedPart::Optimizer))
        return {};
    replica.optimizer().restoreSteps(saved_.optimizerSteps);
    return restoreOptimizer(root.get("optimizer").get("state"), replica);
}

Status ResumePoint::restoreRank(Replica& replica) const
{
    const Value root = checkpoint_->rootValue();
    const Value own = atIndex(root.get("rank_buffers"), replica.rank());
    for (std::size_t i = 0; plan_.sameRanks && own.is(ValueKind::Dict) && i < replica.buffers().size(); ++i)
        if (Status status =
                read(own.get(replica.bufferNames()[i]), replica.bufferNames()[i], replica.buffers()[i]);
            !status)
            return status;

    if (!replica.restores(SavedPart::Generators)) {
        replica.seedStream();
        return {};
    }
    std::vector<at::Tensor> states;
    for (std::size_t l = 0; l < replica.lanes().count(); ++l) {
        const Value saved = atIndex(root.get("rng"), replica.lanes().firstRank() + std::int64_t(l));
        if (!saved.valid()) {
            states.emplace_back();
            continue;
        }
        Result<at::Tensor> state = load(saved, "random number state", at::kByte);
        if (!state)
            return state.error();
        states.push_back(std::move(*state));
    }
    replica.restoreStreams(states);
    return {};
}

Buckets ResumePoint::buckets(const Replica& replica) const
{
    const RunConfig& now = plan_.config;
    const RunConfig& before = saved_.config;
    if (now.bucketMb != before.bucketMb || now.findUnused != before.findUnused ||
        now.staticGraph != before.staticGraph)
        return {};
    if (now.staticGraph && saved_.step < 2) // laid out anew only after the second step
        return {};
    Buckets buckets;
    std::vector<bool> seen(replica.parameters().size(), false);
    const Value layout = checkpoint_->rootValue().get("buckets");
    for (std::size_t b = 0; layout.is(ValueKind::List) && b < layout.size(); ++b) {
        const Value indices = layout.item(b);
        if (!indices.is(ValueKind::List))
            return {};
        std::vector<std::size_t>& bucket = buckets.emplace_back();
        for (std::size_t k = 0; k < indices.size(); ++k) {
            const std::int64_t i = indices.item(k).is(ValueKind::Int) ? indices.item(k).integer() : -1;
            if (i < 0 || i >= std::int64_t(seen.size()) || seen[std::size_t(i)])
                return {};
            seen[std::size_t(i)] = true;
            bucket.push_back(std::size_t(i));
        }
    }
    return std::find(seen.begin(), seen.end(), false) == seen.end() ? buckets : Buckets();
}

std::string ResumePoint::detail(const StepRecord& state) const
{
    const RunConfig& c = plan_.config;
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("path"), json.String(c.resume);
    json.Key("step"), json.Int64(saved_.step);
    json.Key("epoch"), json.Int64(plan_.position.epoch);
    json.Key("world"), json.Int(c.world);
    json.Key("saved_world"), json.Int(saved_.config.world);
    json.Key("data_ranks"), json.Int(dataRanks(c));
    json.Key("batch"), json.Int64(c.batch);
    json.Key("accumulate"), json.Int(c.accumulate);
    json.Key("global_batch"), json.Int64(samplesPerStep(c));
    json.Key("state");
    json.StartObject();
    for (const StepValue& value : state.values) {
        const QuantityInfo* info = quantityInfo(value.quantity);
        json.Key(info->name.data(), rapidjson::SizeType(info->name.size()));
        json.String(hexText(value.bits));
    }
    json.EndObject();
    json.EndObject();
    return buffer.GetString();
}

} // namespace lockstep
