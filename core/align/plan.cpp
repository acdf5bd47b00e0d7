#include "core/align/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep::align {

namespace {

enum class Joining { Mean, Sum, Samples, FirstRank, Replicated, OwnRank };

Joining joiningOf(Quantity quantity)
{
    switch (quantity) {
    case Quantity::Loss:
    case Quantity::LossMicro:
    case Quantity::GradProjLocal:
        return Joining::Mean;
    case Quantity::Samples:
    case Quantity::Tokens:
    case Quantity::EvalSamplesLocal:
        return Joining::Sum;
    case Quantity::SampleIds:
    case Quantity::SampleContent:
        return Joining::Samples;
    case Quantity::LossLogged:
        return Joining::FirstRank;
    case Quantity::GradNormLocal:
    case Quantity::RngCpu:
    case Quantity::RngCuda:
    case Quantity::BufferFingerprint:
    case Quantity::Metric:
    case Quantity::CollectiveCount:
    case Quantity::CollectiveBytes:
    case Quantity::CollectiveDtype:
        return Joining::OwnRank;
    default:
        return Joining::Replicated;
    }
}

bool isCollective(Quantity quantity)
{
    return quantity == Quantity::CollectiveCount || quantity == Quantity::CollectiveBytes ||
           quantity == Quantity::CollectiveDtype;
}

bool isStateFingerprint(Quantity quantity)
{
    return quantity == Quantity::ParamFingerprint || quantity == Quantity::BufferFingerprint ||
           quantity == Quantity::OptimizerFingerprint;
}

bool sameReduction(const RunConfig& a, const RunConfig& b)
{
    return a.mode == b.mode && a.world == b.world && a.backend == b.backend && a.reduction == b.reduction &&
           a.bucketMb == b.bucketMb && a.findUnused == b.findUnused && a.staticGraph == b.staticGraph &&
           a.accumulate == b.accumulate && a.broadcastBuffers == b.broadcastBuffers;
}

// Ranks a finished run of this configuration records.
int expectedRanks(const RunConfig& config)
{
    return config.mode == "single" ? 1 : config.world;
}

std::string missingRanks(const RunView& run, const RunConfig& config, const char* which)
{
    std::string missing;
    for (int rank = 0; rank < expectedRanks(config); ++rank) {
        if (std::find(run.ranks.begin(), run.ranks.end(), rank) == run.ranks.end())
            missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
    }
    return missing.empty()
               ? missing
               : fmt::format("run {} has no records of rank {} of {}", which, missing, expectedRanks(config));
}

class Planner
{
public:
    Planner(const RunView& a, const RunView& b, const std::set<std::string>& tags, Plan& plan)
        : a_(a), b_(b), tags_(tags), plan_(plan)
    {
    }

    void rankByRank(const QuantityInfo& info)
    {
        std::size_t before = plan_.tasks.size();
        for (const int rank : a_.ranks) {
            for (const std::uint16_t index : a_.indices(rank, info.id)) {
                const SeriesKey key{rank, info.id, index};
                const std::optional<SeriesKey> other = counterpart(key);
                if (other)
                    addTask(key, *other, rank);
            }
        }
        if (plan_.tasks.size() == before)
            leaveOut(info.id, info.id == Quantity::Metric ? "no tag that could be compared is in both logs"
                                                          : "no rank recorded it in both runs");
    }

    void whole(const QuantityInfo& info, CompareMode mode)
    {
        const Joining joining = joiningOf(info.id);
        if (joining == Joining::OwnRank)
            return leaveOut(info.id,
                            "it belongs to one rank and has no counterpart in a run with other ranks");
        if (joining == Joining::Samples) { // the series of a rank cannot be joined; the records can
            const bool contents = info.id == Quantity::SampleContent;
            const bool anyOrder = mode != CompareMode::Exact; // it changes no more than the order of a sum
            return add(info.id, 0, -1, joinedSamples(a_, contents, anyOrder),
                       joinedSamples(b_, contents, anyOrder));
        }
        const Quantity weight =
            a_.has(Quantity::Tokens) && b_.has(Quantity::Tokens) ? Quantity::Tokens : Quantity::Samples;
        const std::vector<std::uint16_t> indicesB = b_.indices(b_.ranks.front(), info.id);
        for (const std::uint16_t index : a_.indices(a_.ranks.front(), info.id)) {
            if (std::find(indicesB.begin(), indicesB.end(), index) == indicesB.end())
                continue;
            if (joining == Joining::Mean)
                add(info.id, index, -1, meanOverRanks(a_, info.id, index, weight),
                    meanOverRanks(b_, info.id, index, weight));
            else if (joining == Joining::Sum)
                add(info.id, index, -1, sumOverRanks(a_, info.id, index), sumOverRanks(b_, info.id, index));
            else
                replicated(info.id, index, joining == Joining::FirstRank);
        }
    }

private:
    // The same series of B. Numbers of tags are those of one run: their names pair them.
    std::optional<SeriesKey> counterpart(const SeriesKey& key) const
    {
        SeriesKey other = key;
        if (key.quantity == Quantity::Metric) {
            const ImportedSeries* row = a_.row(key.quantity, key.index);
            if (!row || !b_.imported || (tags_.empty() ? row->machine : !tags_.contains(row->tag)))
                return std::nullopt;
            const ImportedSeries* same = b_.imported->byTag(row->tag);
            if (!same || same->quantity != Quantity::Metric)
                return std::nullopt;
            other.index = same->index;
        }
        return b_.has(other) ? std::optional(other) : std::nullopt;
    }

    std::string tagOf(Quantity quantity, std::uint16_t index) const
    {
        const ImportedSeries* row = a_.row(quantity, index);
        return row ? row->tag : std::string();
    }

    void addTask(const SeriesKey& a, const SeriesKey& b, int rank)
    {
        plan_.tasks.push_back({a.quantity, a.index, tagOf(a.quantity, a.index),
                               coarser(a_.row(a.quantity, a.index), b_.row(b.quantity, b.index)), rank,
                               a.rank, b.rank, storedSeries(a_, a), storedSeries(b_, b)});
    }

    // The first rank of the smaller run against the first or every rank of the larger.
    void replicated(Quantity quantity, std::uint16_t index, bool firstOnly)
    {
        const bool smallerIsA = a_.ranks.size() <= b_.ranks.size();
        const std::vector<int>& many = smallerIsA ? b_.ranks : a_.ranks;
        const int one = smallerIsA ? a_.ranks.front() : b_.ranks.front();
        for (const int other : many) {
            const SeriesKey keyA{smallerIsA ? one : other, quantity, index};
            const SeriesKey keyB{smallerIsA ? other : one, quantity, index};
            if (a_.has(keyA) && b_.has(keyB))
                addTask(keyA, keyB, other);
            if (firstOnly)
                break;
        }
    }

    void add(Quantity quantity, std::uint16_t index, int rank, std::unique_ptr<Source> a,
             std::unique_ptr<Source> b)
    {
        plan_.tasks.push_back({quantity, index, tagOf(quantity, index),
                               coarser(a_.row(quantity, index), b_.row(quantity, index)), rank, -1, -1,
                               std::move(a), std::move(b)});
    }

    void leaveOut(Quantity quantity, const std::string& reason)
    {
        plan_.notCompared.push_back({quantity, reason});
    }

    const RunView& a_;
    const RunView& b_;
    const std::set<std::string>& tags_; // empty: all
    Plan& plan_;
};

} // namespace

std::vector<const QuantityInfo*> causalOrder()
{
    std::vector<const QuantityInfo*> order;
    for (const QuantityInfo& info : allQuantities())
        order.push_back(&info);
    std::stable_sort(order.begin(), order.end(),
                     [](const QuantityInfo* x, const QuantityInfo* y) { return x->link < y->link; });
    return order;
}

std::unique_ptr<Source> wholeRun(const RunView& run, Quantity quantity, std::uint16_t index)
{
    switch (joiningOf(quantity)) {
    case Joining::Mean:
        return meanOverRanks(run, quantity, index,
                             run.has(Quantity::Tokens) ? Quantity::Tokens : Quantity::Samples);
    case Joining::Sum:
        return sumOverRanks(run, quantity, index);
    case Joining::FirstRank:
    case Joining::Replicated:
        return storedSeries(run, {run.ranks.front(), quantity, index});
    default:
        return nullptr;
    }
}

RankMatch matchRanks(const RunView& a, const RunConfig& ca, const RunView& b, const RunConfig& cb)
{
    // By configuration first: a DDP run that lost a rank is still to be compared rank by rank.
    return a.ranks == b.ranks || expectedRanks(ca) == expectedRanks(cb) ? RankMatch::RankByRank
                                                                        : RankMatch::Whole;
}

Plan makePlan(const RunView& a, const RunConfig& ca, const RunView& b, const RunConfig& cb, CompareMode mode,
              const CompareOptions& options)
{
    Plan plan;
    plan.match = matchRanks(a, ca, b, cb);
    plan.missingRanks = missingRanks(a, ca, "A");
    if (plan.missingRanks.empty())
        plan.missingRanks = missingRanks(b, cb, "B");
    std::set<Quantity> only(options.only.begin(), options.only.end());
    const std::set<std::string> tags(options.tags.begin(), options.tags.end());
    for (const std::string& tag : tags)
        if (const ImportedSeries* row = a.imported ? a.imported->byTag(tag) : nullptr)
            only.insert(row->quantity);
    Planner planner(a, b, tags, plan);
    for (const QuantityInfo* info : causalOrder()) {
        const bool inA = a.has(info->id);
        const bool inB = b.has(info->id);
        if (info->link == CausalLink::None || (!inA && !inB) || (!only.empty() && !only.contains(info->id)))
            continue;
        if (!inA || !inB)
            plan.notCompared.push_back({info->id, fmt::format("only run {} recorded it", inA ? "A" : "B")});
        else if (isCollective(info->id) && !sameReduction(ca, cb))
            plan.notCompared.push_back({info->id, "the runs reduce in different ways"});
        else if (isStateFingerprint(info->id) && mode != CompareMode::Exact)
            plan.notCompared.push_back({info->id, "a fingerprint tells only whether all bits are equal"});
        else if (info->id == Quantity::EvalAccuracy && mode != CompareMode::Exact)
            plan.notCompared.push_back(
                {info->id, "one answer at a tie changes it by more than rounding does"});
        else if (mode == CompareMode::Envelope && info->type == ValueType::F64 &&
                 !options.envelope->hasBand(info->id))
            plan.notCompared.push_back({info->id, "the envelope was not measured for it"});
        else if (plan.match == RankMatch::RankByRank)
            planner.rankByRank(*info);
        else
            planner.whole(*info, mode);
    }
    return plan;
}

} // namespace lockstep::align
