// A recorded run as the rules read it: any value of any rank by step, loaded on first use. One thread.
#pragma once

#include "core/align/diagnose/run_traits.h"
#include "core/align/track.h"
#include "core/base/projection.h"
#include "core/store/run_reader.h"

#include <map>
#include <optional>
#include <vector>

namespace lockstep::align {

// A gradient as it was recorded: its norm and its random projections.
struct Gradient {
    double norm = 0;
    Projection projection = {};
};

class RunTrace
{
public:
    static Result<RunTrace> open(RunReader& reader, RunTraits traits);

    const RunTraits& traits() const { return traits_; }
    const RunView& view() const { return view_; }
    const std::vector<int>& ranks() const { return view_.ranks; }
    int world() const { return int(view_.ranks.size()); }
    std::int64_t lastStep() const { return view_.lastStep; }
    bool has(Quantity quantity) const { return view_.has(quantity); }

    std::optional<std::uint64_t> bits(int rank, Quantity quantity, std::int64_t step,
                                      std::uint16_t index = 0) const;
    // As a number; integers are converted.
    std::optional<double> value(int rank, Quantity quantity, std::int64_t step,
                                std::uint16_t index = 0) const;
    // Sum over the indices of an indexed quantity (samples or tokens of all micro-batches).
    std::optional<double> total(int rank, Quantity quantity, std::int64_t step) const;
    // Targets that count in the loss: the tokens; of whole samples those that were not left out, as a script tells it in
    // events. nullopt: not known at this step.
    std::optional<double> targets(int rank, std::int64_t step) const;
    bool leavesTargetsOut() const;
    std::optional<Gradient> local(int rank, std::int64_t step) const;
    std::optional<Gradient> reduced(int rank, std::int64_t step) const;
    // Weighted mean over the ranks; weights are normalised.
    std::optional<Gradient> localMean(std::int64_t step, const std::vector<double>& weights) const;
    std::optional<Gradient> localMean(std::int64_t step) const;
    // Mean over ranks weighted by samples.
    std::optional<double> lossMean(std::int64_t step) const;

    // Whether every rank has the same bits at the step; nullopt: not recorded.
    std::optional<bool> sameOnRanks(Quantity quantity, std::int64_t step) const;
    // First step from `from` on at which the ranks differ; -1: none.
    std::int64_t firstSpread(Quantity quantity, std::int64_t from) const;

    const std::vector<std::int64_t>& steps(int rank, Quantity quantity, std::uint16_t index = 0) const;
    const std::vector<TensorRecord>& tensors(int rank, std::int64_t step) const;
    // Ids of a rank per step, micro-batches in order; hashes likewise.
    struct StepSamples {
        std::int64_t step = 0;
        std::int64_t epoch = 0;
        std::vector<std::int64_t> ids;
        std::vector<std::uint64_t> hashes;
    };
    std::vector<StepSamples> samples(int rank, std::int64_t from, std::int64_t to) const;
    const std::vector<EventRecord>& events() const;

    // The first error any of the calls above met; those then answered as if nothing were recorded.
    const std::optional<Error>& error() const { return error_; }

private:
    struct Column {
        SeriesData data;
        std::optional<std::size_t> at(std::int64_t step) const;
    };
    // What "targets" events say of a rank, by the step from which it holds.
    using Counted = std::map<std::int64_t, std::optional<double>>;
    const std::map<int, Counted>& counted() const;
    RunTrace(RunReader& reader, RunTraits traits, RunView view)
        : reader_(&reader), traits_(std::move(traits)), view_(std::move(view))
    {
    }
    const Column& column(const SeriesKey& key) const;
    std::optional<Gradient> gradient(int rank, std::int64_t step, Quantity norm, Quantity projection) const;
    template<typename T>
    T orEmpty(Result<T> result) const;

    RunReader* reader_;
    RunTraits traits_;
    RunView view_;
    mutable std::map<SeriesKey, Column> columns_;
    mutable std::map<std::pair<int, std::int64_t>, std::vector<TensorRecord>> tensors_;
    mutable std::optional<std::vector<EventRecord>> events_;
    mutable std::optional<std::map<int, Counted>> counted_;
    mutable std::optional<Error> error_;
};

} // namespace lockstep::align
