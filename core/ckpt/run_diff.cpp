#include "core/ckpt/run_diff.h"

#include "core/base/fingerprint.h"
#include "core/ckpt/element_decode.h"
#include "core/ckpt/parallel.h"
#include "core/ckpt/parts.h"
#include "core/ckpt/storage_use.h"
#include "core/ckpt/tensor_bytes.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

namespace lockstep {
namespace {

// Tensors met so far, to know further names of the same one.
class Seen
{
public:
    bool again(const TensorInfo& tensor)
    {
        return tensor.storage != kNone && !places_.insert({tensor.storage, tensor.offset}).second;
    }

private:
    std::set<std::pair<std::uint32_t, std::int64_t>> places_;
};

std::vector<NamedTensor> modelTensors(const Checkpoint& checkpoint)
{
    const Parts parts = findParts(checkpoint);
    if (!parts.model())
        return namedTensors(checkpoint);
    std::vector<NamedTensor> named;
    for (const ModelKey& key : parts.model()->keys)
        named.push_back({key.name, key.tensor});
    return named;
}

CkptResult<TensorBytes> openBounded(const Checkpoint& checkpoint, const TensorInfo& tensor)
{
    if (!repeatsBeyondReason(checkpoint, tensor))
        return TensorBytes::open(checkpoint, tensor);
    CkptProblem problem;
    problem.fault = CkptFault::TensorBounds;
    problem.why = "the tensor repeats its bytes more often than can be gone through";
    return problem;
}

// Of float32, which runs train with, and float64: as fingerprint.h defines it. The records have 0 for all other types.
double recordNorm(DType type, const std::byte* data, std::size_t count)
{
    if (type == DType::Float32)
        return std::sqrt(sumOfSquares(reinterpret_cast<const float*>(data), count));
    if (type == DType::Float64)
        return std::sqrt(sumOfSquares(reinterpret_cast<const double*>(data), count));
    return 0;
}

void measure(const Checkpoint& checkpoint, std::uint32_t tensor, RecordedKeyDiff& key)
{
    const auto unreadable = [&](const CkptProblem& problem) {
        key.status = DiffStatus::Unreadable;
        key.problem = problem.toError().sentence();
    };
    const auto bytes = openBounded(checkpoint, checkpoint.tensors[tensor]);
    if (!bytes)
        return unreadable(bytes.problem());
    const DenseElements dense(*bytes, alignof(double));
    key.fingerprint = fingerprint(dense.data(), bytes->elements(), bytes->elementSize());
    key.norm = recordNorm(key.type, dense.data(), bytes->elements());
    if (const auto cut = checkpoint.cutFile())
        return unreadable(*cut);
    if (key.status == DiffStatus::Equal && key.fingerprint != key.recordedFingerprint)
        key.status = isFloat(key.type) && key.type != DType::Float32 ? DiffStatus::Type : DiffStatus::Values;
}

RecordedKeyDiff ofTensor(const Checkpoint& checkpoint, const NamedTensor& tensor)
{
    const TensorInfo& info = checkpoint.tensors[tensor.tensor];
    const auto shape = checkpoint.shape(info);
    RecordedKeyDiff key;
    key.key = tensor.name;
    key.type = info.dtype;
    key.shape.assign(shape.begin(), shape.end());
    key.status = DiffStatus::OnlyA;
    return key;
}

void setRecord(RecordedKeyDiff& key, const TensorRecord& record, DiffStatus status)
{
    key.recorded = record.name;
    key.buffer = record.buffer;
    key.recordedFingerprint = record.stateFingerprint;
    key.recordedNorm = record.stateNorm;
    key.status = status;
}

} // namespace

bool RunDiff::equal() const
{
    if (keys.empty())
        return parametersEqual.value_or(false);
    return std::all_of(keys.begin(), keys.end(),
                       [](const RecordedKeyDiff& k) { return k.status == DiffStatus::Equal; });
}

RunDiff diffAgainstRecords(const Checkpoint& checkpoint, std::span<const TensorRecord> records,
                           const DiffOptions& options)
{
    RunDiff diff;
    if (records.empty())
        return diff;
    const std::vector<NamedTensor> tensors = modelTensors(checkpoint);
    std::vector<std::string> names, recordedNames;
    for (const NamedTensor& tensor : tensors)
        names.push_back(tensor.name);
    for (const TensorRecord& record : records)
        recordedNames.push_back(record.name);
    diff.mapping = findMapping(names, recordedNames);

    std::unordered_map<std::string, const TensorRecord*> byName;
    for (const TensorRecord& record : records)
        if (record.has & TensorRecord::State)
            byName.emplace(diff.mapping.fromB(record.name), &record);
    Seen seen;
    std::vector<std::uint32_t> compared;
    for (const NamedTensor& tensor : tensors) {
        const TensorInfo& info = checkpoint.tensors[tensor.tensor];
        const auto found = byName.find(diff.mapping.fromA(tensor.name));
        if (seen.again(info) && found == byName.end())
            continue;
        RecordedKeyDiff key = ofTensor(checkpoint, tensor);
        if (found != byName.end()) {
            setRecord(key, *found->second, DiffStatus::Equal);
            byName.erase(found);
        }
        compared.push_back(tensor.tensor);
        diff.keys.push_back(std::move(key));
        diff.bytesRead +=
            static_cast<std::uint64_t>(checkpoint.elements(info).value_or(0)) * itemSize(info.dtype);
    }
    parallelFor(compared.size(), options.threads,
                [&](std::size_t i) { measure(checkpoint, compared[i], diff.keys[i]); });
    for (const TensorRecord& record : records) {
        const auto found = byName.find(diff.mapping.fromB(record.name));
        if (found == byName.end() || found->second != &record)
            continue;
        RecordedKeyDiff key;
        setRecord(key, record, DiffStatus::OnlyB);
        diff.keys.push_back(std::move(key));
    }
    return diff;
}

std::optional<std::uint64_t> parameterFingerprint(const Checkpoint& checkpoint)
{
    const auto isStatistic = [](const std::string& name) {
        return name.ends_with("running_mean") || name.ends_with("running_var");
    };
    std::uint64_t sum = 0;
    std::uint64_t first = 0;
    Seen seen;
    for (const NamedTensor& tensor : modelTensors(checkpoint)) {
        const TensorInfo& info = checkpoint.tensors[tensor.tensor];
        if (!isFloat(info.dtype) || isStatistic(tensor.name) || seen.again(info))
            continue;
        const auto bytes = openBounded(checkpoint, info);
        if (!bytes)
            return std::nullopt;
        const DenseElements dense(*bytes, alignof(double));
        sum += fingerprint(dense.data(), bytes->elements(), bytes->elementSize(), first);
        first += bytes->elements();
    }
    return first > 0 ? std::optional(sum) : std::nullopt;
}

} // namespace lockstep
