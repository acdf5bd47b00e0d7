#include "core/align/diagnose/run_trace.h"

#include "core/config/json.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lockstep::align {

Result<RunTrace> RunTrace::open(RunReader& reader, RunTraits traits)
{
    Result<RunView> view = viewRun(reader);
    if (!view)
        return view.error();
    return RunTrace(reader, std::move(traits), std::move(view).value());
}

template<typename T>
T RunTrace::orEmpty(Result<T> result) const
{
    if (result)
        return std::move(result).value();
    if (!error_)
        error_ = result.error();
    return {};
}

// Almost every series has every step: then the place is a subtraction.
std::optional<std::size_t> RunTrace::Column::at(std::int64_t step) const
{
    if (data.steps.empty() || step < data.steps.front() || step > data.steps.back())
        return {};
    const auto guess = std::size_t(step - data.steps.front());
    if (guess < data.steps.size() && data.steps[guess] == step)
        return guess;
    const auto it = std::lower_bound(data.steps.begin(), data.steps.end(), step);
    if (it == data.steps.end() || *it != step)
        return {};
    return std::size_t(it - data.steps.begin());
}

const RunTrace::Column& RunTrace::column(const SeriesKey& key) const
{
    const auto found = columns_.find(key);
    if (found != columns_.end())
        return found->second;
    Column column;
    if (view_.has(key))
        column.data = orEmpty(reader_->read(key));
    column.data.key = key;
    return columns_.emplace(key, std::move(column)).first->second;
}

std::optional<std::uint64_t> RunTrace::bits(int rank, Quantity quantity, std::int64_t step,
                                            std::uint16_t index) const
{
    const Column& values = column({rank, quantity, index});
    const std::optional<std::size_t> at = values.at(step);
    if (!at)
        return {};
    return values.data.bits[*at];
}

std::optional<double> RunTrace::value(int rank, Quantity quantity, std::int64_t step,
                                      std::uint16_t index) const
{
    const Column& values = column({rank, quantity, index});
    const std::optional<std::size_t> at = values.at(step);
    if (!at)
        return {};
    return values.data.value(*at);
}

std::optional<double> RunTrace::total(int rank, Quantity quantity, std::int64_t step) const
{
    std::optional<double> sum;
    for (const std::uint16_t index : view_.indices(rank, quantity))
        if (const std::optional<double> part = value(rank, quantity, step, index))
            sum = sum.value_or(0) + *part;
    return sum;
}

const std::map<int, RunTrace::Counted>& RunTrace::counted() const
{
    if (counted_)
        return *counted_;
    counted_.emplace();
    for (const EventRecord& event : events()) {
        if (event.kind != "targets")
            continue;
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (!json.IsObject() || !json.HasMember("counted") || !json["counted"].IsArray())
            continue;
        double sum = 0;
        for (const auto& micro : json["counted"].GetArray())
            sum += micro.IsNumber() ? micro.GetDouble() : NAN;
        Counted& own = (*counted_)[event.rank];
        own[event.step] = sum;
        if (json.HasMember("varies")) // no more is told
            own[event.step + 1] = std::nullopt;
    }
    return *counted_;
}

bool RunTrace::leavesTargetsOut() const
{
    return !counted().empty();
}

std::optional<double> RunTrace::targets(int rank, std::int64_t step) const
{
    if (has(Quantity::Tokens))
        return total(rank, Quantity::Tokens, step);
    if (const auto own = counted().find(rank); own != counted().end()) {
        const auto next = own->second.upper_bound(step);
        if (next != own->second.begin())
            return std::prev(next)->second;
    }
    return total(rank, Quantity::Samples, step);
}

std::optional<Gradient> RunTrace::gradient(int rank, std::int64_t step, Quantity norm,
                                           Quantity projection) const
{
    const std::optional<double> length = value(rank, norm, step);
    if (!length)
        return {};
    Gradient gradient;
    gradient.norm = *length;
    for (int k = 0; k < kProjections; ++k) {
        const std::optional<double> part = value(rank, projection, step, std::uint16_t(k));
        if (!part)
            return {};
        gradient.projection[std::size_t(k)] = *part;
    }
    return gradient;
}

std::optional<Gradient> RunTrace::local(int rank, std::int64_t step) const
{
    return gradient(rank, step, Quantity::GradNormLocal, Quantity::GradProjLocal);
}

std::optional<Gradient> RunTrace::reduced(int rank, std::int64_t step) const
{
    return gradient(rank, step, Quantity::GradNorm, Quantity::GradProj);
}

// Norms cannot be averaged: the mean has the root mean square of its projections for a norm.
std::optional<Gradient> RunTrace::localMean(std::int64_t step, const std::vector<double>& weights) const
{
    Gradient mean;
    double all = 0;
    for (std::size_t r = 0; r < view_.ranks.size(); ++r) {
        const std::optional<Gradient> own = local(view_.ranks[r], step);
        if (!own)
            return {};
        all += weights[r];
        for (std::size_t k = 0; k < kProjections; ++k)
            mean.projection[k] += weights[r] * own->projection[k];
        mean.norm = own->norm;
    }
    if (all == 0)
        return {};
    double squares = 0;
    for (double& part : mean.projection) {
        part /= all;
        squares += part * part;
    }
    if (view_.ranks.size() > 1)
        mean.norm = std::sqrt(squares / kProjections);
    return mean;
}

std::optional<Gradient> RunTrace::localMean(std::int64_t step) const
{
    return localMean(step, std::vector<double>(view_.ranks.size(), 1));
}

std::optional<double> RunTrace::lossMean(std::int64_t step) const
{
    double sum = 0, weights = 0;
    for (const int rank : view_.ranks) {
        const std::optional<double> loss = value(rank, Quantity::Loss, step);
        if (!loss)
            return {};
        const std::optional<double> counts = targets(rank, step);
        if (!counts && leavesTargetsOut())
            return {};
        const double weight = counts.value_or(1);
        sum += weight * *loss;
        weights += weight;
    }
    if (weights == 0)
        return {};
    return sum / weights;
}

std::optional<bool> RunTrace::sameOnRanks(Quantity quantity, std::int64_t step) const
{
    std::optional<std::uint64_t> first;
    for (const int rank : view_.ranks) {
        const std::optional<std::uint64_t> own = bits(rank, quantity, step);
        if (!own)
            return {};
        if (first && *own != *first)
            return false;
        first = own;
    }
    return first ? std::optional<bool>(true) : std::nullopt;
}

std::int64_t RunTrace::firstSpread(Quantity quantity, std::int64_t from) const
{
    if (view_.ranks.size() < 2)
        return -1;
    for (const std::int64_t step : column({view_.ranks.front(), quantity, 0}).data.steps)
        if (step >= from && !sameOnRanks(quantity, step).value_or(true))
            return step;
    return -1;
}

const std::vector<std::int64_t>& RunTrace::steps(int rank, Quantity quantity, std::uint16_t index) const
{
    return column({rank, quantity, index}).data.steps;
}

const std::vector<TensorRecord>& RunTrace::tensors(int rank, std::int64_t step) const
{
    const auto found = tensors_.find({rank, step});
    if (found != tensors_.end())
        return found->second;
    return tensors_.emplace(std::pair(rank, step), orEmpty(reader_->tensors(rank, step, step + 1)))
        .first->second;
}

std::vector<RunTrace::StepSamples> RunTrace::samples(int rank, std::int64_t from, std::int64_t to) const
{
    std::vector<SamplesRecord> records = orEmpty(reader_->samples(rank, from, to));
    std::vector<StepSamples> steps;
    for (SamplesRecord& record : records) {
        if (steps.empty() || steps.back().step != record.step)
            steps.push_back({record.step, record.epoch, {}, {}});
        StepSamples& step = steps.back();
        step.ids.insert(step.ids.end(), record.ids.begin(), record.ids.end());
        step.hashes.insert(step.hashes.end(), record.hashes.begin(), record.hashes.end());
    }
    return steps;
}

const std::vector<EventRecord>& RunTrace::events() const
{
    if (!events_)
        events_ = orEmpty(reader_->events());
    return *events_;
}

} // namespace lockstep::align
