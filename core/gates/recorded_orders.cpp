#include "core/gates/recorded_orders.h"

#include "core/align/diagnose/run_trace.h"
#include "core/config/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <set>

namespace lockstep {

namespace {

struct Sequence {
    std::vector<std::uint32_t> ids;
    std::vector<std::uint64_t> contents;
    std::vector<std::uint32_t> steps;
    std::int64_t firstStep = -1;
};
using Epochs = std::map<std::int64_t, std::vector<Sequence>>; // by epoch, then rank

class Collector
{
public:
    Collector(RunReader& run, std::string name, const DataPlan& plan)
        : run_(run), name_(std::move(name)), plan_(plan)
    {
    }

    Result<std::unique_ptr<DataSource>> collect()
    {
        for (int rank = 0; rank < plan_.world; ++rank)
            if (Status read = addRank(rank); !read)
                return read.error();
        if (Status read = readEvents(); !read)
            return read.error();
        for (const auto& [epoch, ranks] : epochs_)
            begins_.insert(ranks.front().firstStep);
        keepWholeEpochs();
        if (epochs_.empty())
            return Error{ErrorKind::Input, fmt::format("The data of {} cannot be judged", name_),
                         largest_ < 0 ? "it recorded no samples" : "it did not finish one epoch",
                         "Record a run of at least two epochs with --record step"};
        if (Status read = addStreams(); !read)
            return read.error();
        if (Status read = readEvaluation(); !read)
            return read.error();
        return source();
    }

private:
    Status addRank(int rank)
    {
        Result<std::vector<SamplesRecord>> records = run_.samples(rank, INT64_MIN, INT64_MAX);
        if (!records)
            return records.error();
        for (const SamplesRecord& record : *records) {
            std::vector<Sequence>& ranks = epochs_[record.epoch];
            ranks.resize(std::size_t(plan_.world));
            Sequence& sequence = ranks[std::size_t(rank)];
            if (sequence.firstStep < 0)
                sequence.firstStep = record.step;
            for (std::size_t i = 0; i < record.ids.size(); ++i) {
                const std::int64_t id = record.ids[i];
                if (id < 0 || id > 0xfffffffe)
                    return Error{ErrorKind::Corrupt, fmt::format("The data of {} cannot be judged", name_),
                                 fmt::format("step {}, rank {} has the sample id {}", record.step, rank, id),
                                 "Number the samples from 0"};
                largest_ = std::max(largest_, id);
                sequence.ids.push_back(std::uint32_t(id));
                sequence.steps.push_back(std::uint32_t(record.step));
                if (i < record.hashes.size())
                    sequence.contents.push_back(record.hashes[i]);
            }
        }
        return {};
    }

    // Ends of epochs, the base seeds that their loaders drew, and whether the dataset has a length.
    Status readEvents()
    {
        Result<std::vector<EventRecord>> events = run_.events();
        if (!events)
            return events.error();
        for (const EventRecord& event : *events) {
            if (event.kind != "epoch_end")
                continue;
            const auto detail = parseJson(event.detail, "The event");
            if (!detail || !detail->IsObject())
                continue;
            if (const auto it = detail->FindMember("epoch"); it != detail->MemberEnd() && it->value.IsInt64())
                ended_.insert(it->value.GetInt64());
            if (const auto it = detail->FindMember("has_length");
                it != detail->MemberEnd() && it->value.IsBool())
                hasLength_ = it->value.GetBool();
            const auto seed = detail->FindMember("base_seed");
            if (seed != detail->MemberEnd() && seed->value.IsUint64() && event.rank >= 0)
                baseSeeds_.try_emplace(event.rank, seed->value.GetUint64());
        }
        return {};
    }

    void keepWholeEpochs()
    {
        const std::int64_t last = epochs_.empty() ? -1 : epochs_.rbegin()->first;
        std::erase_if(epochs_, [&](const auto& item) {
            const bool ended = item.first < last || ended_.contains(item.first);
            return !ended || std::any_of(item.second.begin(), item.second.end(),
                                         [](const Sequence& s) { return s.firstStep < 0; });
        });
        if (!epochs_.empty())
            completeResumedEpoch();
    }

    // The run began inside this epoch: what came before was recorded by the run it continues.
    void completeResumedEpoch()
    {
        auto& [epoch, ranks] = *epochs_.begin();
        const std::int64_t perStep = plan_.batch * plan_.accumulate;
        const std::int64_t done = ranks.front().firstStep - 1;
        if (done <= 0 || plan_.datasetSize < 0)
            return;
        DataPlan clean = plan_;
        clean.faults.clear();
        const EpochOrder planned = simulateEpoch(clean, epoch);
        const auto perRank = std::int64_t(planned.ranks.front().count);
        const std::int64_t steps = (perRank + perStep - 1) / perStep;
        const std::int64_t missing = steps == 0 ? 0 : std::min(done % steps * perStep, perRank);
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            Sequence& sequence = ranks[r];
            sequence.contents.clear();
            std::vector<std::uint32_t> head, headSteps;
            for (std::int64_t p = 0; p < missing; ++p) {
                head.push_back(planned.ranks[r][std::size_t(p)]);
                headSteps.push_back(std::uint32_t(done - done % steps + p / perStep + 1));
            }
            sequence.ids.insert(sequence.ids.begin(), head.begin(), head.end());
            sequence.steps.insert(sequence.steps.begin(), headSteps.begin(), headSteps.end());
        }
    }

    Status readEvaluation()
    {
        RunTraits traits;
        traits.world = plan_.world;
        const Result<align::RunTrace> trace = align::RunTrace::open(run_, std::move(traits));
        if (!trace)
            return trace.error();
        evaluation_ = align::evaluationCounts(*trace);
        return trace->error() ? Status(*trace->error()) : Status();
    }

    // The generators' states before the first step, by their fingerprints.
    Status addStreams()
    {
        Result<std::vector<SeriesInfo>> series = run_.series();
        if (!series)
            return series.error();
        for (const SeriesInfo& info : *series) {
            if (info.key.quantity != Quantity::RngCpu)
                continue;
            Result<SeriesData> data = run_.read(info.key, info.firstStep, info.firstStep + 1);
            if (!data)
                return data.error();
            if (data->size() > 0)
                draws_.push_back({info.key.rank, -1, data->bits.front()});
            if (Status read = lookForDraws(info); !read)
                return read.error();
        }
        for (const auto& [rank, seed] : baseSeeds_)
            draws_.push_back({rank, 0, seed});
        return {};
    }

    // A loader draws once when an epoch begins; what moves a generator between two steps of an epoch is the training.
    Status lookForDraws(const SeriesInfo& info)
    {
        constexpr std::int64_t kLooked = 512; // steps
        Result<SeriesData> data = run_.read(info.key, info.firstStep, info.firstStep + kLooked);
        if (!data)
            return data.error();
        for (std::size_t i = 1; i < data->size(); ++i)
            drawn_ = drawn_ || (data->bits[i] != data->bits[i - 1] && !begins_.contains(data->steps[i]));
        return {};
    }

    std::unique_ptr<DataSource> source()
    {
        DataFacts facts;
        facts.name = name_;
        facts.world = plan_.world;
        facts.sizeKnown = plan_.datasetSize >= 0;
        facts.datasetSize = facts.sizeKnown ? plan_.datasetSize : largest_ + 1;
        facts.hasLength = hasLength_;
        facts.draws = std::move(draws_);
        facts.evaluation = std::move(evaluation_);
        facts.randomUsed = drawn_ || plan_.workers > 0 || !plan_.script;
        const auto owner = std::make_shared<Epochs>(std::move(epochs_));
        std::vector<EpochOrder> orders;
        for (const auto& [epoch, ranks] : *owner) {
            EpochOrder order;
            order.epoch = epoch;
            order.owner = owner;
            for (const Sequence& s : ranks)
                order.ranks.push_back({s.ids.data(), 1, s.ids.size(),
                                       s.contents.size() == s.ids.size() ? s.contents.data() : nullptr,
                                       s.steps.data()});
            orders.push_back(std::move(order));
        }
        return std::make_unique<MemorySource>(std::move(facts), std::move(orders));
    }

    RunReader& run_;
    const std::string name_;
    const DataPlan& plan_;
    Epochs epochs_;
    std::set<std::int64_t> ended_;
    std::map<int, std::uint64_t> baseSeeds_;
    std::vector<StreamDraw> draws_;
    std::optional<align::EvaluationCounts> evaluation_;
    std::int64_t largest_ = -1;
    bool hasLength_ = true;
    std::set<std::int64_t> begins_; // first steps of the epochs, of those left out as well
    bool drawn_ = false;
};

} // namespace

Result<std::unique_ptr<DataSource>> recordedOrders(RunReader& run, const std::string& name,
                                                   const DataPlan& plan)
{
    try {
        return Collector(run, name, plan).collect();
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::Environment, fmt::format("The data of {} cannot be judged", name),
                     "there is not enough memory for its sample ids", "Judge a shorter run"};
    }
}

} // namespace lockstep
