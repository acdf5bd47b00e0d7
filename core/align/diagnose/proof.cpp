#include "core/align/proof.h"

#include "core/align/diagnose/class_separation.h"
#include "core/align/scan.h"
#include "core/align/track.h"
#include "core/config/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep {

namespace {

using namespace align;

bool comparedInReplay(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info && info->link != CausalLink::None && quantity != Quantity::CollectiveCount &&
           quantity != Quantity::CollectiveBytes && quantity != Quantity::CollectiveDtype;
}

// What the ends of the epochs say of seeds and the dataset, by step and rank.
Result<std::map<std::pair<std::int64_t, int>, std::string>> epochFacts(RunReader& run, std::int64_t to)
{
    const Result<std::vector<EventRecord>> events = run.events();
    if (!events)
        return events.error();
    std::map<std::pair<std::int64_t, int>, std::string> facts;
    for (const EventRecord& event : *events)
        if ((event.kind == "epoch_end" || event.kind == "unfreeze") && event.step <= to)
            facts[{event.step, event.rank}] = event.detail;
    return facts;
}

// Only ranks both runs have events of: a twin may report for rank 0 alone.
Status compareEvents(RunReader& replay, RunReader& observed, std::int64_t to, ReplayVerdict& verdict)
{
    const auto a = epochFacts(replay, to), b = epochFacts(observed, to);
    if (!a)
        return a.error();
    if (!b)
        return b.error();
    for (const auto& [key, detail] : *a) {
        const auto it = b->find(key);
        if (it == b->end())
            continue;
        ++verdict.points;
        if (it->second != detail && (verdict.step < 0 || key.first < verdict.step)) {
            verdict.step = key.first;
            verdict.quantity = "event";
        }
    }
    return {};
}

// One finding per cause: which of a class are the same bits, the replays decide.
std::vector<Finding> eachCause(std::vector<Finding> findings)
{
    std::vector<Finding> single;
    for (Finding& finding : findings)
        for (std::size_t i = 0; i < finding.causes.size(); ++i) {
            Finding one = finding;
            one.causes = {finding.causes[i]};
            if (!finding.replays.empty())
                one.replays = {finding.replays[i]};
            one.separate.clear();
            single.push_back(std::move(one));
        }
    return single;
}

std::string faultText(const FaultSpec& fault)
{
    std::string text = fault.id;
    for (const auto& [key, value] : fault.parameters)
        text += fmt::format(",{}={}", key, value);
    return text;
}

Evidence proofRow(const ReplayOutcome& outcome)
{
    if (outcome.state == ReplayOutcome::Equal)
        return {fmt::format("replay with {}", faultText(outcome.fault)),
                fmt::format("equal in every bit of {} values", outcome.verdict.points),
                std::nullopt,
                -1,
                -1,
                {}};
    if (outcome.state == ReplayOutcome::Failed)
        return {fmt::format("replay with {}", faultText(outcome.fault)),
                outcome.failure,
                std::nullopt,
                -1,
                -1,
                {}};
    return {fmt::format("replay with {}", faultText(outcome.fault)),
            fmt::format("parts from the observed run at step {}, {}", outcome.verdict.step,
                        outcome.verdict.quantity),
            std::nullopt,
            outcome.verdict.step,
            -1,
            {}};
}

} // namespace

Result<ReplayVerdict> compareReplay(RunReader& replay, RunReader& observed, std::int64_t from,
                                    std::int64_t to)
{
    const Result<RunView> a = viewRun(replay);
    const Result<RunView> b = viewRun(observed);
    if (!a)
        return a.error();
    if (!b)
        return b.error();
    ReplayVerdict verdict;
    if (a->ranks != b->ranks || a->lastStep < std::min(to, b->lastStep)) {
        verdict.step = a->lastStep + 1;
        verdict.quantity = "the replay ended";
        return verdict;
    }
    for (const SeriesInfo& info : b->series) {
        if (!comparedInReplay(info.key.quantity) || info.firstStep > to)
            continue;
        if (!a->has(info.key)) {
            if (!a->has(info.key.quantity))
                continue; // the twin does not record it
            verdict.step = verdict.step < 0 ? info.firstStep : std::min(verdict.step, info.firstStep);
            verdict.quantity = quantityInfo(info.key.quantity)->name;
            continue;
        }
        const auto own = storedSeries(*a, info.key), other = storedSeries(*b, info.key);
        const Judge judge{{CompareMode::Exact, 0}, nullptr, quantityInfo(info.key.quantity)->type, false};
        const Result<Scan> scan = scanSteps(*own, *other, from, to, judge);
        if (!scan)
            return scan.error();
        verdict.points += scan->points;
        if (scan->first && (verdict.step < 0 || scan->first->stepA < verdict.step)) {
            verdict.step = scan->first->stepA;
            verdict.quantity = quantityInfo(info.key.quantity)->name;
        }
    }
    if (Status compared = compareEvents(replay, observed, to, verdict); !compared)
        return compared.error();
    verdict.equal = verdict.step < 0 && verdict.points > 0;
    return verdict;
}

std::vector<FaultSpec> replayCandidates(const Diagnosis& diagnosis, int limit)
{
    std::vector<FaultSpec> candidates;
    for (const Finding& finding : diagnosis.findings)
        for (const FaultSpec& fault : finding.replays)
            if (finding.certainty != Certainty::Benign && int(candidates.size()) < limit)
                candidates.push_back(fault);
    return candidates;
}

std::int64_t replayUntil(const Diagnosis& diagnosis, std::int64_t lastStep)
{
    std::int64_t until = std::max<std::int64_t>(diagnosis.firstStep, 0);
    for (const Finding& finding : diagnosis.findings) {
        if (finding.certainty == Certainty::Benign)
            continue;
        until = std::max(until, finding.step);
        for (const Evidence& row : finding.evidence)
            if (!row.quantity && diagnosis.firstStep < 0) // an event
                until = std::max(until, row.step);
    }
    return std::min(lastStep, until + kReplayBeyond);
}

void dropRefuted(Diagnosis& diagnosis)
{
    std::erase_if(diagnosis.findings, [](const Finding& f) {
        const bool beyondReplay = !f.causes.empty() && f.replays.empty();
        return f.certainty != Certainty::Benign && !beyondReplay;
    });
}

void applyReplays(Diagnosis& diagnosis, const std::vector<ReplayOutcome>& outcomes, const RunTraits& suspect)
{
    std::vector<Finding> proven, open, disproven;
    for (Finding& finding : eachCause(std::move(diagnosis.findings))) {
        const auto outcome = std::find_if(outcomes.begin(), outcomes.end(), [&](const ReplayOutcome& o) {
            return !finding.replays.empty() && o.fault == finding.replays.front();
        });
        if (outcome == outcomes.end()) {
            open.push_back(std::move(finding));
            continue;
        }
        finding.evidence.push_back(proofRow(*outcome));
        if (outcome->state == ReplayOutcome::Equal)
            proven.push_back(std::move(finding));
        else if (outcome->state == ReplayOutcome::Differs && finding.certainty != Certainty::Benign)
            disproven.push_back(std::move(finding));
        else
            open.push_back(std::move(finding));
    }
    diagnosis.findings.clear();
    if (!proven.empty()) {
        Finding whole = proven.front();
        whole.certainty = Certainty::Proven;
        for (std::size_t i = 1; i < proven.size(); ++i) {
            whole.causes.push_back(proven[i].causes.front());
            whole.replays.push_back(proven[i].replays.front());
            whole.evidence.push_back(proven[i].evidence.back());
        }
        if (whole.causes.size() > 1)
            whole.separate = separatingRun(whole.causes, suspect);
        diagnosis.findings.push_back(std::move(whole));
    }
    const auto append = [&diagnosis](std::vector<Finding>& findings, bool benign, bool lower) {
        for (Finding& finding : findings) {
            if ((finding.certainty == Certainty::Benign) != benign)
                continue;
            if (lower && !benign)
                finding.certainty = Certainty::Possible;
            diagnosis.findings.push_back(std::move(finding));
        }
    };
    // A proven cause explains the difference: what else would fit only stays if it says so on its own evidence.
    append(open, false, !proven.empty());
    append(disproven, false, true);
    append(open, true, false);
}

} // namespace lockstep
