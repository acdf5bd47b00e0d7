#include "core/gates/degrade_judge.h"

#include "core/gates/gate_check.h"
#include "core/gates/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lockstep {

namespace {

struct Weighted {
    double sum = 0;
    double weight = 0;
};

// How often each sample of each epoch was seen, all ranks together.
using EpochCounts = std::map<std::int64_t, std::map<std::int64_t, int>>;

Result<EpochCounts> countSamples(RunReader& run)
{
    const Result<std::vector<SeriesInfo>> series = run.series();
    if (!series)
        return series.error();
    std::set<int> ranks;
    for (const SeriesInfo& info : *series)
        ranks.insert(info.key.rank);
    EpochCounts counts;
    for (const int rank : ranks) {
        const Result<std::vector<SamplesRecord>> records = run.samples(rank, 0, INT64_MAX);
        if (!records)
            return records.error();
        for (const SamplesRecord& record : *records)
            for (const std::int64_t id : record.ids)
                ++counts[record.epoch][id];
    }
    return counts;
}

class Judge
{
public:
    Judge(const RunInfo& run, RunReader& interrupted, RunReader& whole, const Envelope& envelope,
          int transitions)
        : run_(run), interrupted_(interrupted), whole_(whole), envelope_(envelope), transitions_(transitions)
    {
        outcome_.runId = run.id;
    }

    Result<DegradeOutcome> judge();

private:
    void add(const char* id, bool holds, std::string value, std::string limit, std::string sentence);
    Status segments();
    Status samples();
    Status losses();

    const RunInfo& run_;
    RunReader& interrupted_;
    RunReader& whole_;
    const Envelope& envelope_;
    const int transitions_;
    DegradeOutcome outcome_;
};

void Judge::add(const char* id, bool holds, std::string value, std::string limit, std::string sentence)
{
    addCheck(outcome_.checks, id, holds, std::move(value), std::move(limit), std::move(sentence));
}

Status Judge::segments()
{
    Result<std::vector<SegmentInfo>> segments = interrupted_.segments();
    if (!segments)
        return segments.error();
    outcome_.segments = std::move(segments).value();
    std::vector<std::string> words;
    for (const SegmentInfo& segment : outcome_.segments)
        words.push_back(
            fmt::format("{} from step {}", counted(segment.world, "rank", "ranks"), segment.firstStep));
    const int made = int(outcome_.segments.size()) - 1;
    add("finished", run_.state == RunState::Finished && made == transitions_,
        fmt::format("{}, {}", runStateName(run_.state), counted(made, "change", "changes")),
        fmt::format("finished, {}", counted(transitions_, "change", "changes")),
        run_.firstFailure.sentence.empty() ? fmt::format("The run went on: {}.", fmt::join(words, ", "))
                                           : run_.firstFailure.sentence);
    return {};
}

// Both runs are cut into the same epochs; the uninterrupted one says what an epoch is, padding included.
Status Judge::samples()
{
    const Result<EpochCounts> seen = countSamples(interrupted_);
    if (!seen)
        return seen.error();
    const Result<EpochCounts> wanted = countSamples(whole_);
    if (!wanted)
        return wanted.error();
    for (const auto& [epoch, ids] : *wanted) {
        const auto found = seen->find(epoch);
        ++outcome_.epochs;
        for (const auto& [id, times] : ids) {
            int got = 0;
            if (found != seen->end())
                if (const auto count = found->second.find(id); count != found->second.end())
                    got = count->second;
            outcome_.samples += got;
            outcome_.repeated += std::max(0, got - times);
            outcome_.missing += std::max(0, times - got);
        }
        if (found != seen->end())
            for (const auto& [id, times] : found->second)
                if (ids.count(id) == 0)
                    outcome_.repeated += times; // not of this epoch at all
    }
    add("samples", outcome_.repeated == 0 && outcome_.missing == 0 && outcome_.samples > 0,
        fmt::format("{} repeated, {} missing", grouped(outcome_.repeated), grouped(outcome_.missing)), "0, 0",
        fmt::format("{} samples of {} were seen as often as without interruption.", grouped(outcome_.samples),
                    counted(outcome_.epochs, "epoch", "epochs")));
    return {};
}

Status Judge::losses()
{
    const Result<LossCurve> a = lossOverRanks(interrupted_);
    if (!a)
        return a.error();
    const Result<LossCurve> b = lossOverRanks(whole_);
    if (!b)
        return b.error();
    const EnvelopeBand* band = envelope_.band(Quantity::Loss, 0);
    if (!band)
        return Error{ErrorKind::Input, "The loss cannot be judged", "the repeats measured no envelope for it",
                     "Measure the envelope with longer runs"};
    std::size_t j = 0;
    for (std::size_t i = 0; i < a->steps.size(); ++i) {
        while (j < b->steps.size() && b->steps[j] < a->steps[i])
            ++j;
        if (j == b->steps.size() || b->steps[j] != a->steps[i])
            continue;
        const std::optional<double> limit = band->limit(a->steps[i], b->values[j]);
        if (!limit)
            continue;
        ++outcome_.steps;
        const double distance = std::abs(a->values[i] - b->values[j]);
        if (distance > 0 && *limit > 0)
            outcome_.ofSpread = std::max(outcome_.ofSpread, distance * band->scale / *limit);
        if (distance > 0)
            outcome_.apart = std::max(outcome_.apart, distance / std::abs(b->values[j]));
        const double share = distance == 0 ? 0 : *limit > 0 ? distance / *limit : INFINITY;
        if (!(share <= outcome_.worst)) {
            outcome_.worst = share;
            outcome_.worstStep = a->steps[i];
        }
    }
    const bool all = outcome_.steps > 0 && outcome_.steps == std::int64_t(b->steps.size());
    const std::string inside =
        outcome_.apart == 0
            ? fmt::format("The loss of {} steps is that of the uninterrupted run, in every bit.",
                          grouped(outcome_.steps))
            : fmt::format(
                  "The loss of {} steps is at most {:.2g} of its value away, {:.2g} of what {} correct runs "
                  "differ by.",
                  grouped(outcome_.steps), outcome_.apart, outcome_.ofSpread, envelope_.repeats);
    add("loss", all && outcome_.worst <= 1,
        fmt::format("{:.3g} of the limit, {} steps", outcome_.worst, grouped(outcome_.steps)),
        fmt::format("1, {} steps", grouped(std::int64_t(b->steps.size()))), inside);
    return {};
}

Result<DegradeOutcome> Judge::judge()
{
    for (const auto& part : {&Judge::segments, &Judge::samples, &Judge::losses})
        if (Status judged = (this->*part)(); !judged)
            return judged.error();
    const Result<std::vector<EventRecord>> events = interrupted_.events();
    if (!events)
        return events.error();
    for (const EventRecord& event : *events)
        if (event.kind == "verdict") {
            const auto after = std::find_if(outcome_.segments.begin(), outcome_.segments.end(),
                                            [](const SegmentInfo& s) { return s.reason == "degrade"; });
            if (after != outcome_.segments.end())
                outcome_.lostSteps = std::max<std::int64_t>(0, event.step - after->firstStep);
        }
    outcome_.holds = std::all_of(outcome_.checks.begin(), outcome_.checks.end(),
                                 [](const GateCheck& check) { return check.verdict == "pass"; });
    return std::move(outcome_);
}

} // namespace

Result<LossCurve> lossOverRanks(RunReader& run)
{
    const Result<std::vector<SeriesInfo>> series = run.series();
    if (!series)
        return series.error();
    std::map<std::pair<int, std::int64_t>, double> samples; // of a rank in a step
    for (const SeriesInfo& info : *series) {
        if (info.key.quantity != Quantity::Samples)
            continue;
        const Result<SeriesData> data = run.read(info.key);
        if (!data)
            return data.error();
        for (std::size_t i = 0; i < data->size(); ++i)
            samples[{info.key.rank, data->steps[i]}] += data->value(i);
    }
    std::map<std::int64_t, Weighted> means;
    for (const SeriesInfo& info : *series) {
        if (info.key.quantity != Quantity::Loss)
            continue;
        const Result<SeriesData> data = run.read(info.key);
        if (!data)
            return data.error();
        for (std::size_t i = 0; i < data->size(); ++i) {
            const auto weight = samples.find({info.key.rank, data->steps[i]});
            if (weight == samples.end())
                continue;
            Weighted& mean = means[data->steps[i]];
            mean.sum += weight->second * data->value(i);
            mean.weight += weight->second;
        }
    }
    LossCurve curve;
    for (const auto& [step, mean] : means) {
        curve.steps.push_back(step);
        curve.values.push_back(mean.sum / mean.weight);
    }
    return curve;
}

Result<DegradeOutcome> judgeDegrade(const RunInfo& run, RunReader& interrupted, RunReader& whole,
                                    const Envelope& envelope, int transitions)
{
    return Judge(run, interrupted, whole, envelope, transitions).judge();
}

} // namespace lockstep
