#include "core/align/track.h"

#include "core/base/fingerprint.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace lockstep::align {

namespace {

class StoredSeries : public Source
{
public:
    using Source::load;
    StoredSeries(RunReader* reader, const SeriesKey& key) : reader_(reader), key_(key) {}

    Status load(std::int64_t from, std::int64_t to, Track& track) override
    {
        data_.steps.swap(track.steps);
        data_.bits.swap(track.bits);
        const Status read = reader_->read(key_, from, to, data_);
        data_.steps.swap(track.steps);
        data_.bits.swap(track.bits);
        return read;
    }
    Result<std::vector<ChunkSummary>> chunks() override { return reader_->chunks(key_); }
    const RunReader* reader() const override { return reader_; }

private:
    RunReader* reader_;
    SeriesKey key_;
    SeriesData data_; // lends the reader the memory of a track
};

// One value per step from the values of all ranks; a step counts only where every rank has it.
class OverRanks : public Source
{
public:
    using Source::load;
    // One rank's part: its values and the series whose sum is its weight (none: weight 1).
    struct Part {
        SeriesKey value;
        std::vector<SeriesKey> weights;
    };
    OverRanks(RunReader* reader, std::vector<Part> parts, bool mean, bool integers)
        : reader_(reader), parts_(std::move(parts)), mean_(mean), integers_(integers)
    {
    }

    std::int64_t window() const override { return 1 << 14; }
    const RunReader* reader() const override { return reader_; }

    Status load(std::int64_t from, std::int64_t to, Track& joined) override
    {
        std::vector<double> sums, weightSums;
        std::vector<std::uint64_t> integerSums;
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            const Result<SeriesData> values = reader_->read(parts_[p].value, from, to);
            if (!values.ok())
                return values.error();
            const Result<std::vector<double>> weights = weightsOf(parts_[p], *values, from, to);
            if (!weights.ok())
                return weights.error();
            if (p == 0) {
                joined.steps = values->steps;
                sums.assign(joined.steps.size(), 0);
                weightSums = sums;
                integerSums.assign(joined.steps.size(), 0);
            }
            std::size_t kept = 0;
            for (std::size_t i = 0, j = 0; i < joined.steps.size(); ++i) {
                while (j < values->size() && values->steps[j] < joined.steps[i])
                    ++j;
                if (j == values->size() || values->steps[j] != joined.steps[i])
                    continue;
                joined.steps[kept] = joined.steps[i];
                sums[kept] = sums[i] + (*weights)[j] * values->value(j);
                weightSums[kept] = weightSums[i] + (*weights)[j];
                integerSums[kept] = integerSums[i] + values->bits[j];
                ++kept;
            }
            joined.steps.resize(kept);
        }
        joined.bits.resize(joined.steps.size());
        for (std::size_t i = 0; i < joined.bits.size(); ++i)
            joined.bits[i] = integers_ ? integerSums[i] : bitsOf(mean_ ? sums[i] / weightSums[i] : sums[i]);
        return {};
    }

private:
    // A weight for each of the values.
    Result<std::vector<double>> weightsOf(const Part& part, const SeriesData& values, std::int64_t from,
                                          std::int64_t to)
    {
        std::vector<double> weights(values.size(), part.weights.empty() ? 1.0 : 0.0);
        for (const SeriesKey& key : part.weights) {
            const Result<SeriesData> weight = reader_->read(key, from, to);
            if (!weight.ok())
                return weight.error();
            for (std::size_t i = 0, j = 0; i < values.size(); ++i) {
                while (j < weight->size() && weight->steps[j] < values.steps[i])
                    ++j;
                if (j < weight->size() && weight->steps[j] == values.steps[i])
                    weights[i] += weight->value(j);
            }
        }
        return weights;
    }

    RunReader* reader_;
    std::vector<Part> parts_;
    bool mean_;
    bool integers_;
};

class JoinedSamples : public Source
{
public:
    using Source::load;
    JoinedSamples(RunReader* reader, std::vector<int> ranks, bool contents, bool anyOrder)
        : reader_(reader), ranks_(std::move(ranks)), contents_(contents), anyOrder_(anyOrder)
    {
    }

    std::int64_t window() const override { return 1 << 10; }
    const RunReader* reader() const override { return reader_; }

    Status load(std::int64_t from, std::int64_t to, Track& track) override
    {
        track = {};
        std::vector<SamplesRecord> records;
        for (const int rank : ranks_) {
            Result<std::vector<SamplesRecord>> some = reader_->samples(rank, from, to);
            if (!some.ok())
                return some.error();
            std::move(some->begin(), some->end(), std::back_inserter(records));
        }
        std::sort(records.begin(), records.end(), [](const SamplesRecord& x, const SamplesRecord& y) {
            return std::tie(x.step, x.micro, x.rank) < std::tie(y.step, y.micro, y.rank);
        });
        std::uint64_t counted = 0; // elements of the step so far: the fingerprint numbers them through
        for (const SamplesRecord& record : records) {
            if (contents_ && record.hashes.empty())
                continue;
            if (track.steps.empty() || track.steps.back() != record.step) {
                track.steps.push_back(record.step);
                track.bits.push_back(0);
                counted = 0;
            }
            if (contents_)
                track.bits.back() += sum(record.hashes, counted);
            else
                track.bits.back() += sum(record.ids, counted);
        }
        return {};
    }

private:
    // `counted` goes on by the number of words.
    template<typename Word>
    std::uint64_t sum(const std::vector<Word>& words, std::uint64_t& counted) const
    {
        const std::uint64_t first = counted;
        counted += words.size();
        if (!anyOrder_)
            return fingerprint(words.data(), words.size(), sizeof(Word), first);
        std::uint64_t total = 0; // every word at place 0: the sum is that of the set
        for (const Word word : words)
            total += fingerprintMix(0, std::uint64_t(word));
        return total;
    }

    RunReader* reader_;
    std::vector<int> ranks_;
    bool contents_;
    bool anyOrder_;
};

} // namespace

Result<Track> Source::load(std::int64_t from, std::int64_t to)
{
    Track track;
    if (Status loaded = load(from, to, track); !loaded.ok())
        return loaded.error();
    return track;
}

bool RunView::has(const SeriesKey& key) const
{
    return std::any_of(series.begin(), series.end(),
                       [&key](const SeriesInfo& info) { return info.key == key; });
}

bool RunView::has(Quantity quantity) const
{
    return std::any_of(series.begin(), series.end(),
                       [quantity](const SeriesInfo& info) { return info.key.quantity == quantity; });
}

std::vector<std::uint16_t> RunView::indices(int rank, Quantity quantity) const
{
    std::vector<std::uint16_t> found;
    for (const SeriesInfo& info : series) {
        if (info.key.rank == rank && info.key.quantity == quantity)
            found.push_back(info.key.index);
    }
    return found;
}

Result<RunView> viewRun(RunReader& reader)
{
    Result<std::vector<SeriesInfo>> series = reader.series();
    if (!series.ok())
        return series.error();
    RunView view;
    view.reader = &reader;
    view.series = std::move(*series);
    view.ranks = recordedRanks(view.series);
    std::map<int, std::pair<std::int64_t, std::int64_t>> spans;
    for (const SeriesInfo& info : view.series) {
        const auto [span, added] = spans.try_emplace(info.key.rank, info.firstStep, info.lastStep);
        span->second.first = std::min(span->second.first, info.firstStep);
        span->second.second = std::max(span->second.second, info.lastStep);
    }
    for (const auto& [rank, span] : spans) {
        const bool begin = view.firstStep < 0;
        view.firstStep = begin ? span.first : std::max(view.firstStep, span.first);
        view.lastStep = begin ? span.second : std::min(view.lastStep, span.second);
    }
    const Result<std::string> imported = reader.property(kImportedProperty);
    if (!imported.ok())
        return imported.error();
    view.imported = importedRunFromJson(*imported);
    return view;
}

std::unique_ptr<Source> storedSeries(const RunView& run, const SeriesKey& key)
{
    return std::make_unique<StoredSeries>(run.reader, key);
}

std::unique_ptr<Source> meanOverRanks(const RunView& run, Quantity quantity, std::uint16_t index,
                                      Quantity weight)
{
    if (run.ranks.size() == 1)
        return storedSeries(run, {run.ranks.front(), quantity, index});
    const bool ofMicroBatch = quantity == Quantity::LossMicro;
    std::vector<OverRanks::Part> parts;
    bool weighted = true;
    for (const int rank : run.ranks) {
        OverRanks::Part& part = parts.emplace_back(OverRanks::Part{{rank, quantity, index}, {}});
        for (const std::uint16_t micro : run.indices(rank, weight)) {
            if (!ofMicroBatch || micro == index)
                part.weights.push_back({rank, weight, micro});
        }
        weighted = weighted && !part.weights.empty();
    }
    if (!weighted) {
        for (OverRanks::Part& part : parts)
            part.weights.clear();
    }
    return std::make_unique<OverRanks>(run.reader, std::move(parts), true, false);
}

std::unique_ptr<Source> sumOverRanks(const RunView& run, Quantity quantity, std::uint16_t index)
{
    if (run.ranks.size() == 1)
        return storedSeries(run, {run.ranks.front(), quantity, index});
    std::vector<OverRanks::Part> parts;
    for (const int rank : run.ranks)
        parts.push_back({{rank, quantity, index}, {}});
    const QuantityInfo* info = quantityInfo(quantity);
    return std::make_unique<OverRanks>(run.reader, std::move(parts), false,
                                       info && info->type != ValueType::F64);
}

std::unique_ptr<Source> joinedSamples(const RunView& run, bool contents, bool anyOrder)
{
    return std::make_unique<JoinedSamples>(run.reader, run.ranks, contents, anyOrder);
}

} // namespace lockstep::align
