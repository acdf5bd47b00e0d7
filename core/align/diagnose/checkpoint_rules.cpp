// Family F: what a resume forgot, and who wrote a checkpoint.
#include "core/align/diagnose/rules.h"
#include "core/config/json.h"

#include <algorithm>

namespace lockstep::align {

namespace {

// The step a resumed run began at; -1: it was not resumed.
std::int64_t resumedAt(const RunTrace& run)
{
    std::int64_t step = -1;
    for (const EventRecord& event : run.events())
        if (event.kind == "resume" && (step < 0 || event.step < step))
            step = event.step;
    return step;
}

// A resumed run begins with what it loaded. Held against the reference at that step, each part speaks for itself.
void lostOnResume(const Case& c, Suspicions& out)
{
    const std::int64_t at = resumedAt(c.sus());
    if (at < 0 || c.start() < at || c.start() > at + 1)
        return;
    const auto add = [&](const char* cause, int fit, Quantity quantity, std::int64_t step,
                         const std::string& fact) {
        Suspicion s;
        s.cause = cause;
        s.fit = fit;
        s.step = step;
        s.fact = fact;
        s.evidence.push_back({std::string(quantityInfo(quantity)->title), fact, quantity, step, -1, {}});
        s.excluded.push_back({"D1", "the difference begins with the resume", quantity, step, -1, {}});
        out.push_back(std::move(s));
    };
    const auto off = [&](Quantity quantity, std::int64_t step) {
        return c.sus().has(quantity) && !c.ranksOff(quantity, step).empty();
    };
    const std::int64_t next = at + 1;
    if (c.rankByRank() && off(Quantity::ParamFingerprint, at)) {
        const bool all = int(c.ranksOff(Quantity::ParamFingerprint, at).size()) == c.world();
        add("F1", kSignature + (all ? 8 : 4), Quantity::ParamFingerprint, at,
            fmt::format("The run was resumed at step {} with other parameters than the reference had there.",
                        at));
        return;
    }
    if ((c.rankByRank() && off(Quantity::OptimizerFingerprint, at)) || off(Quantity::OptimizerStep, at))
        add("F5", kSignature + 6, Quantity::OptimizerFingerprint, at,
            fmt::format("The run was resumed at step {} with the reference's parameters and another "
                        "optimizer state (its counter is {:g}).",
                        at,
                        c.sus().value(c.sus().ranks().front(), Quantity::OptimizerStep, at).value_or(-1)));
    if (c.rankByRank() && off(Quantity::RngCpu, at)) {
        Suspicions before = out;
        const bool same = c.sus().sameOnRanks(Quantity::RngCpu, at).value_or(false) && c.world() > 1;
        add("F6", kSignature + 5, Quantity::RngCpu, at,
            fmt::format(
                "The run was resumed at step {} with other generators than the reference had there{}.", at,
                same ? ", the same on all ranks" : ""));
    }
    if (c.link() == CausalLink::Update && c.start() == next)
        add("F5", kPattern, Quantity::UpdateNorm, next,
            fmt::format("The first update after the resume at step {} is not the reference's.", at));
}

// More than one rank wrote one file.
void severalWriters(const Case& c, Suspicions& out)
{
    std::map<std::string, std::pair<std::int64_t, std::vector<int>>> writers; // by path
    for (const EventRecord& event : c.sus().events()) {
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (event.kind != "checkpoint" || !json.IsObject() || !json.HasMember("path") ||
            !json["path"].IsString())
            continue;
        auto& [step, ranks] = writers[json["path"].GetString()];
        step = event.step;
        if (std::find(ranks.begin(), ranks.end(), event.rank) == ranks.end())
            ranks.push_back(event.rank);
    }
    const std::pair<std::int64_t, std::vector<int>>* earliest = nullptr;
    for (const auto& [path, written] : writers)
        if (written.second.size() > 1 && (!earliest || written.first < earliest->first))
            earliest = &written;
    if (!earliest)
        return;
    Suspicion s;
    s.cause = "F2";
    s.fit = kSignature + 5;
    s.step = earliest->first;
    s.fact = fmt::format("At step {} {} wrote the same file.", earliest->first,
                         rankList(earliest->second, c.world()));
    s.evidence.push_back({"writers of the checkpoint", s.fact, std::nullopt, s.step, -1, {}});
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {lostOnResume, severalWriters};

} // namespace

std::span<const Rule> checkpointRules()
{
    return kRules;
}

} // namespace lockstep::align
