// Family A: which rank sees which samples. Everything here is decided by ids and hashes, exactly.
#include "core/align/diagnose/contents.h"
#include "core/align/diagnose/epoch_ids.h"
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"
#include "core/config/json.h"

#include <algorithm>
#include <cmath>

namespace lockstep::align {

namespace {

// Whether both runs recorded sample ids.
bool numbered(const Case& c)
{
    return c.ref().has(Quantity::SampleIds) && c.sus().has(Quantity::SampleIds);
}

Suspicion suspect(const Case& c, const char* cause, int fit, std::int64_t step, std::string fact)
{
    Suspicion s;
    s.cause = cause;
    s.fit = fit;
    s.step = step;
    s.fact = std::move(fact);
    s.evidence.push_back({"sample ids", s.fact, Quantity::SampleIds, step, c.sus().ranks().front(), {}});
    return s;
}

// What of the reference's samples this epoch brought.
Evidence coverage(const EpochIds& own, const EpochIds& reference)
{
    std::size_t covered = 0;
    for (const std::int64_t id : reference.all)
        covered += own.all.contains(id);
    return {"coverage of the epoch",
            fmt::format("{} of {} ids of the reference", covered, reference.all.size()),
            Quantity::SampleIds,
            own.firstStep,
            -1,
            {}};
}

// The dataset says it has no length: it is a stream.
bool withoutLength(const RunTrace& run)
{
    return settingOf(run.traits(), "workload_options.dataset_length") == "unknown" ||
           std::any_of(run.events().begin(), run.events().end(), [](const EventRecord& event) {
               rapidjson::Document json;
               json.Parse(event.detail.c_str());
               return event.kind == "epoch_end" && json.IsObject() && json.HasMember("has_length") &&
                      json["has_length"].IsBool() && !json["has_length"].GetBool();
           });
}

void notSplit(const Case& c, Suspicions& out)
{
    const std::int64_t step = dataStart(c);
    if (step < 0 || c.world() < 2)
        return;
    const EpochIds own = epochAt(c.sus(), step), reference = epochAt(c.ref(), step);
    if (!own.sameOnRanks() || reference.sameOnRanks())
        return;
    const bool stream = withoutLength(c.sus());
    const bool ordered = own.ascending();
    const std::string fact = fmt::format("All {} ranks have the same {} ids in the same order.", c.world(),
                                         own.ranks.front().size());
    Suspicion s =
        suspect(c, stream || (ordered && !reference.ascending()) ? "A2" : "A1", kSignature + 5, step, fact);
    s.evidence.push_back(
        {"order", ordered ? "ids ascend" : "ids are shuffled", Quantity::SampleIds, step, 0, {}});
    s.excluded.push_back(
        {"A4", "the ranks' orders are identical, not only overlapping", Quantity::SampleIds, step, -1, {}});
    out.push_back(std::move(s));
}

void orderRepeats(const Case& c, Suspicions& out)
{
    const std::int64_t step = dataStart(c);
    const EpochIds own = step > 0 ? epochAt(c.sus(), step) : EpochIds();
    if (own.epoch < 1)
        return;
    const EpochIds before = epochNumber(c.sus(), own.epoch - 1), first = epochNumber(c.sus(), 0);
    const EpochIds reference = epochAt(c.ref(), step), referenceBefore = epochNumber(c.ref(), own.epoch - 1);
    const auto repeats = [](const EpochIds& a, const EpochIds& b) {
        if (a.ranks.size() != b.ranks.size())
            return false;
        for (std::size_t r = 0; r < a.ranks.size(); ++r) {
            const std::size_t n = std::min(a.ranks[r].size(), b.ranks[r].size());
            if (n == 0 ||
                !std::equal(a.ranks[r].begin(), a.ranks[r].begin() + std::ptrdiff_t(n), b.ranks[r].begin()))
                return false;
        }
        return true;
    };
    const bool resumed = std::any_of(c.sus().events().begin(), c.sus().events().end(),
                                     [](const EventRecord& e) { return e.kind == "resume"; });
    if ((repeats(own, before) || repeats(own, first)) && !repeats(reference, referenceBefore) && !resumed &&
        step == own.firstStep) {
        Suspicion s = suspect(c, "A3", kSignature + 5, step,
                              fmt::format("Epoch {} repeats the order of epoch {} on every rank.", own.epoch,
                                          repeats(own, before) ? own.epoch - 1 : 0));
        s.excluded.push_back(
            {"A10", "the first epoch is that of the reference", Quantity::SampleIds, step, -1, {}});
        out.push_back(std::move(s));
    }
}

// The step of the last resume; -1: none. A script that puts state into an optimizer goes on with an earlier training.
std::int64_t lastResume(const RunTrace& run)
{
    std::int64_t step = -1;
    for (const EventRecord& event : run.events())
        if (event.kind == "resume" ||
            (event.kind == "loaded" && event.detail.find("\"optimizer\"") != std::string::npos))
            step = std::max(step, event.step);
    return step;
}

// A resume inside an epoch whose ids from there on are those of the first epoch at the same places.
void orderLostOnResume(const Case& c, Suspicions& out)
{
    const std::int64_t step = dataStart(c);
    if (step < 1)
        return;
    const std::int64_t resumedAt = lastResume(c.sus());
    if (resumedAt < 0 || step < resumedAt || step > resumedAt + 1)
        return;
    out.push_back(
        suspect(c, "F7", kSignature, step,
                fmt::format("The run was resumed at step {}; from there on its ids are not the reference's.",
                            resumedAt)));
}

void permutationPerRank(const Case& c, Suspicions& out)
{
    const std::int64_t step = dataStart(c);
    if (step < 0 || c.world() < 2)
        return;
    const EpochIds own = epochAt(c.sus(), step), reference = epochAt(c.ref(), step);
    const std::size_t shared = own.shared();
    // Orders of the ranks' own part in the first step of an epoch. Padding repeats fewer ids than there are ranks, and only at
    // its end.
    if ((numbered(c) && step > own.firstStep) || own.sameOnRanks() ||
        shared < (own.complete ? std::size_t(c.world()) : 1))
        return;
    Suspicion s = suspect(c, "A4", kSignature, step,
                          fmt::format("{} of {} ids are on more than one rank.", shared, own.all.size()));
    s.evidence.push_back(coverage(own, reference));
    s.excluded.push_back({"A1", "the ranks' orders are not identical", Quantity::SampleIds, step, -1, {}});
    out.push_back(std::move(s));
}

void batchKept(const Case& c, Suspicions& out)
{
    const std::int64_t step = dataStart(c);
    if (step < 1)
        return;
    const auto all = [](const RunTrace& run, std::int64_t at) {
        double sum = 0;
        for (const int rank : run.ranks())
            sum += run.total(rank, Quantity::Samples, at).value_or(0);
        return sum;
    };
    const double own = all(c.sus(), step), wanted = all(c.ref(), step);
    // Against the last batch of an epoch, which may be short, every batch is large.
    if (wanted <= 0 ||
        own < 1.5 * std::max(wanted, all(c.ref(), std::max<std::int64_t>(1, c.ref().view().firstStep))))
        return;
    const double factor = own / wanted;
    const double world = c.sus().traits().world;
    Suspicion s = suspect(c, "A9", near(factor, world, 1e-9) ? kSignature + 6 : kPattern, step,
                          fmt::format("A step has {} samples instead of {}: {} times, with {} ranks.", own,
                                      wanted, factorText(factor), world));
    s.evidence.push_back({"samples per step", s.fact, Quantity::SamplesSeen, step, -1, {}});
    s.excluded.push_back({"A1", "the ranks have different ids", Quantity::SampleIds, step, -1, {}});
    const EpochIds ids = epochAt(c.sus(), step);
    if (!ids.sameOnRanks())
        out.push_back(std::move(s));
}

// Whether the step used the same samples on as many ranks, as often each, only in another order: sums then differ in their
// last bits.
bool onlyOrder(const Case& c, std::int64_t step)
{
    std::vector<std::int64_t> own, theirs;
    std::set<std::size_t> sizes;
    for (const int rank : c.sus().ranks())
        for (const RunTrace::StepSamples& s : c.sus().samples(rank, step, step + 1)) {
            own.insert(own.end(), s.ids.begin(), s.ids.end());
            sizes.insert(s.ids.size());
        }
    for (const int rank : c.ref().ranks())
        for (const RunTrace::StepSamples& s : c.ref().samples(rank, step, step + 1))
            theirs.insert(theirs.end(), s.ids.begin(), s.ids.end());
    std::sort(own.begin(), own.end());
    std::sort(theirs.begin(), theirs.end());
    return sizes.size() == 1 && !own.empty() && own == theirs;
}

void sameSamples(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.first(Quantity::SampleIds);
    if (step < 1 || !onlyOrder(c, step))
        return;
    Suspicion s = suspect(c, "C12", kPattern, step,
                          fmt::format("Step {} uses the reference's samples in another order.", step));
    s.benign = true;
    out.push_back(std::move(s));
}

// Disjoint and complete, but in another order.
void orderReplaced(const Case& c, Suspicions& out)
{
    const std::int64_t step = dataStart(c);
    if (step < 1 || onlyOrder(c, step))
        return;
    const EpochIds own = epochAt(c.sus(), step), reference = epochAt(c.ref(), step);
    if (own.epoch < 0 || own.sameOnRanks() || own.shared() >= std::size_t(c.world()) + (c.world() == 1))
        return;
    const bool sequential = own.ascending() && !reference.ascending();
    Suspicion s =
        suspect(c, "A10", sequential ? kSignature : kRemainder + 10, step,
                sequential ? fmt::format("The ids of every rank ascend; the reference's are shuffled.")
                           : fmt::format("The ids of step {} are not the reference's.", step));
    s.evidence.push_back(coverage(own, reference));
    s.excluded.push_back({"A4", "no id is on two ranks", Quantity::SampleIds, step, -1, {}});
    out.push_back(std::move(s));
}

void contentsDiffer(const Case& c, Suspicions& out)
{
    const std::int64_t step = c.first(Quantity::SampleContent);
    const std::int64_t ids = c.first(Quantity::SampleIds);
    if (step < 0 || !numbered(c) || (ids >= 0 && ids <= step) ||
        (c.rankByRank() && c.start() >= 1 && step > c.start()))
        return;
    const std::vector<int> off = c.ranksOff(Quantity::SampleContent, step);
    const bool script = !c.rankByRank() && isUsersScript(c.sus().traits());
    const Contents contents = script ? contentsAt(c, step) : Contents();
    if (script && contents.changedAtRandom()) {
        Suspicion s = suspect(
            c, "E5", kPattern, step,
            fmt::format("At step {} {} ids bring contents the reference never had; there, too, an id brings "
                        "other contents in another epoch: the samples are changed at random.",
                        step, contents.differ));
        s.benign = true;
        out.push_back(std::move(s));
        return;
    }
    Suspicion s;
    s.cause = "A7";
    s.fit = script && contents.known == 0 ? kRemainder : kSignature + 5;
    s.step = step;
    s.rank = off.size() == 1 ? off.front() : -1;
    s.fact = fmt::format("At step {} the ids are equal and the contents are not, on {}.", step,
                         c.rankByRank() ? rankList(off, c.world()) : "some rank");
    s.evidence.push_back({"content of equal ids", s.fact, Quantity::SampleContent, step, s.rank, {}});
    s.excluded.push_back({"A10", "the ids are those of the reference", Quantity::SampleIds, step, -1, {}});
    out.push_back(std::move(s));
}

// The base seed the loader drew, as each rank said at the end of an epoch.
void workerSeeds(const Case& c, Suspicions& out)
{
    std::map<std::int64_t, std::map<int, std::string>> seeds; // by step, rank
    for (const EventRecord& event : c.sus().events()) {
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (event.kind != "epoch_end" || !json.IsObject() || !json.HasMember("base_seed"))
            continue;
        if (json["base_seed"].IsUint64() &&
            json["base_seed"].GetUint64() != 0) // 0: continued, nothing was drawn
            seeds[event.step][event.rank] = std::to_string(json["base_seed"].GetUint64());
    }
    if (c.sus().sameOnRanks(Quantity::RngCpu, 0).value_or(false) && !isUsersScript(c.sus().traits()))
        return; // then all their draws are equal: E6
    // Of a script it has to be seen that its workers draw anything.
    const std::int64_t changed = c.first(Quantity::SampleContent);
    if (isUsersScript(c.sus().traits()) &&
        (changed < 0 || c.first(Quantity::SampleIds) == changed || !contentsAt(c, changed).randomised))
        return;
    for (const auto& [step, ofRanks] : seeds) {
        const bool same = std::all_of(ofRanks.begin(), ofRanks.end(), [&](const auto& seed) {
            return seed.second == ofRanks.begin()->second;
        });
        if (ofRanks.size() < 2 || !same)
            continue;
        const EpochIds epoch = epochAt(c.sus(), step);
        // An epoch that a resume continues was opened by another run: its seed is that of the checkpoint's writer.
        if (epoch.firstStep == lastResume(c.sus()) + 1 && epoch.firstStep > 1)
            continue;
        Suspicion s;
        s.cause = "A8";
        s.fit = kSignature;
        s.step = std::max<std::int64_t>(1, epoch.firstStep);
        s.fact = fmt::format("The workers of all {} ranks were seeded from {} in epoch {}.", ofRanks.size(),
                             ofRanks.begin()->second, epoch.epoch);
        s.evidence.push_back({"seed of the loader's workers", s.fact, std::nullopt, step, -1, {}});
        s.excluded.push_back({"E6", "the ranks' own generators differ", Quantity::RngCpu, 0, -1, {}});
        out.push_back(std::move(s));
        return;
    }
}

constexpr Rule kRules[] = {notSplit,    orderRepeats,  orderLostOnResume, permutationPerRank, batchKept,
                           sameSamples, orderReplaced, contentsDiffer,    workerSeeds};

} // namespace

std::int64_t dataStart(const Case& c)
{
    std::int64_t step = -1;
    for (const Quantity quantity : {Quantity::SampleIds, Quantity::Samples, Quantity::SamplesSeen,
                                    Quantity::Epoch, Quantity::MicroSteps})
        if (const std::int64_t at = c.first(quantity); at >= 0 && (step < 0 || at < step))
            step = at;
    if (!numbered(c)) // a stream: its contents stand for ids
        if (const std::int64_t at = c.first(Quantity::SampleContent); at >= 0 && (step < 0 || at < step))
            step = at;
    // Padded samples cannot be told from others, but equal batches can.
    if (!numbered(c) && step < 0 && shapesVary(c.sus()) && epochAt(c.sus(), 1).sameOnRanks())
        step = 1;
    return step;
}

std::span<const Rule> dataRules()
{
    return kRules;
}

} // namespace lockstep::align
