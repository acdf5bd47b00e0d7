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

// A resumed run begins with what it loaded: the first link that breaks right after the resume names what was not. State at
// the resume itself is held against the reference's where the run recorded it.
void lostOnResume(const Case& c, Suspicions& out)
{
    const std::int64_t at = resumedAt(c.sus());
    if (at < 0 || c.start() < at || c.start() > at + 1)
        return;
    const auto off = [&](Quantity quantity) { // recorded by both at the resume, and different
        for (const int rank : c.rankByRank() ? c.sus().ranks() : std::vector<int>())
            if (const auto own = c.sus().bits(rank, quantity, at), other = c.ref().bits(rank, quantity, at);
                own && other && own != other)
                return true;
        return false;
    };
    const auto add = [&](const char* cause, int fit, const std::string& fact) {
        Suspicion s;
        s.cause = cause;
        s.fit = fit;
        s.step = c.start();
        s.fact = fmt::format("The run went on from step {}. {}", at, fact);
        s.evidence.push_back(
            {c.quantity() ? std::string(quantityInfo(*c.quantity())->title) : "first difference",
             fact,
             c.quantity(),
             s.step,
             -1,
             {}});
        s.excluded.push_back({"A10", "the runs part right after the resume", std::nullopt, at, -1, {}});
        out.push_back(std::move(s));
    };
    const bool optimizerLost =
        off(Quantity::OptimizerFingerprint) || off(Quantity::OptimizerStep) ||
        (c.link() == CausalLink::Update && c.first(Quantity::LearningRate) != c.start());
    if (off(Quantity::ParamFingerprint))
        add("F1", kSignature + 8, "Its parameters there are not the reference's.");
    else if (c.link() == CausalLink::Forward)
        add("F1", kSignature + 6,
            "Equal samples and random numbers give another loss: its parameters are not the reference's.");
    else if (optimizerLost)
        add("F5", kSignature + 7,
            fmt::format(
                "Equal gradients give another update; the optimizer's counter is {:g}, the reference's {:g}.",
                c.sus().value(c.sus().ranks().front(), Quantity::OptimizerStep, c.start()).value_or(-1),
                c.ref().value(c.ref().ranks().front(), Quantity::OptimizerStep, c.start()).value_or(-1)));
    else if (off(Quantity::RngCpu) || c.link() == CausalLink::Rng)
        add("F6", kSignature + 6, "Its generators are not the reference's.");
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
        if (std::find(ranks.begin(), ranks.end(), event.rank) != ranks.end())
            continue;
        ranks.push_back(event.rank);
        if (ranks.size() <= 2) // from then on it was written twice
            step = event.step;
    }
    const std::pair<std::int64_t, std::vector<int>>* earliest = nullptr;
    for (const auto& [path, written] : writers)
        if (written.second.size() > 1 && (!earliest || written.first < earliest->first))
            earliest = &written;
    if (!earliest)
        return;
    Suspicion s;
    s.cause = "F2";
    s.fit = kSignature + 8; // what is then missing from the file follows from it
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
