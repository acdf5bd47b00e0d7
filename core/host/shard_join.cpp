#include "core/host/shard_join.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

bool isNorm(Quantity quantity)
{
    return quantity == Quantity::GradNorm || quantity == Quantity::GradNormClipped ||
           quantity == Quantity::UpdateNorm;
}

std::uint64_t joined(Quantity quantity, const std::vector<std::uint64_t>& shares)
{
    const QuantityInfo* info = quantityInfo(quantity);
    if (info && info->type == ValueType::F64) {
        double sum = 0;
        for (const std::uint64_t share : shares) {
            const double value = doubleOf(share);
            sum += isNorm(quantity) ? value * value : value;
        }
        return bitsOf(isNorm(quantity) ? std::sqrt(sum) : sum);
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t share : shares)
        sum += share;
    return sum;
}

bool isShare(const StepValue& value)
{
    return (value.index & kShare) != 0;
}

void joinSteps(std::vector<StepRecord>& ranks)
{
    std::map<std::pair<Quantity, std::uint16_t>, std::vector<std::uint64_t>> shares;
    for (const StepRecord& rank : ranks)
        for (const StepValue& value : rank.values)
            if (isShare(value))
                shares[{value.quantity, value.index}].push_back(value.bits);
    for (StepRecord& rank : ranks) {
        for (StepValue& value : rank.values) {
            if (!isShare(value))
                continue;
            value.bits = joined(value.quantity, shares[{value.quantity, value.index}]);
            value.index = std::uint16_t(value.index & ~kShare);
        }
    }
}

void joinTensors(std::vector<TensorRecord>& ranks)
{
    TensorRecord whole = ranks.front();
    whole.has &= ~kTensorShare;
    double reduced = 0, update = 0, state = 0;
    whole.reducedFingerprint = whole.stateFingerprint = 0;
    for (const TensorRecord& rank : ranks) {
        whole.has |= rank.has & ~kTensorShare;
        reduced += rank.reducedNorm * rank.reducedNorm;
        update += rank.updateNorm * rank.updateNorm;
        state += rank.stateNorm * rank.stateNorm;
        whole.reducedFingerprint += rank.reducedFingerprint;
        whole.stateFingerprint += rank.stateFingerprint;
    }
    whole.reducedNorm = std::sqrt(reduced);
    whole.updateNorm = std::sqrt(update);
    whole.stateNorm = std::sqrt(state);
    for (TensorRecord& rank : ranks) {
        const int number = rank.rank;
        rank = whole;
        rank.rank = number;
    }
}

// `waiting` is removed and returned once all ranks are in it.
template<typename Key, typename Record>
std::vector<Record> collect(std::map<Key, std::vector<Record>>& waiting, const Key& key, Record record,
                            std::size_t world, void (*join)(std::vector<Record>&))
{
    std::vector<Record>& ranks = waiting[key];
    ranks.push_back(std::move(record));
    if (ranks.size() < world)
        return {};
    std::vector<Record> complete = std::move(ranks);
    waiting.erase(key);
    std::sort(complete.begin(), complete.end(),
              [](const Record& a, const Record& b) { return a.rank < b.rank; });
    join(complete);
    return complete;
}

} // namespace

std::vector<StepRecord> ShardJoin::add(StepRecord record)
{
    if (std::none_of(record.values.begin(), record.values.end(), isShare))
        return {std::move(record)};
    const std::int64_t step = record.step;
    return collect(steps_, step, std::move(record), world_, joinSteps);
}

std::vector<TensorRecord> ShardJoin::add(TensorRecord record)
{
    if ((record.has & kTensorShare) == 0)
        return {std::move(record)};
    const std::pair key(record.step, record.name);
    return collect(tensors_, key, std::move(record), world_, joinTensors);
}

} // namespace lockstep
