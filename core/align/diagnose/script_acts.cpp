#include "core/align/diagnose/script_acts.h"

#include "core/align/diagnose/relation.h"
#include "core/config/json.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lockstep::align {

namespace {

struct Standing {
    std::optional<rapidjson::Document> said;
    bool varies = false; // the probe has stopped telling: what holds at the step is not known
};

// The last event of the kind up to the step: it holds until the next one.
Standing standing(const RunTrace& run, int rank, const char* kind, std::int64_t step)
{
    Standing found;
    for (const EventRecord& event : run.events()) {
        if (event.kind != kind || event.step > step || event.rank != rank)
            continue;
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (!json.IsObject())
            continue;
        found.varies = event.step < step && json.HasMember("varies");
        found.said = std::move(json);
    }
    return found;
}

std::vector<std::string> words(const rapidjson::Document& json, const char* key)
{
    std::vector<std::string> list;
    if (json.HasMember(key) && json[key].IsArray())
        for (const auto& item : json[key].GetArray())
            list.emplace_back(item.IsString() ? item.GetString() : "");
    return list;
}

} // namespace

bool isUsersScript(const RunTraits& traits)
{
    return std::any_of(traits.settings.begin(), traits.settings.end(),
                       [](const auto& setting) { return setting.first == "workload_options.script"; });
}

std::string settingOf(const RunTraits& traits, const char* key)
{
    const auto it = std::find_if(traits.settings.begin(), traits.settings.end(),
                                 [key](const auto& s) { return s.first == key; });
    return it == traits.settings.end() ? std::string() : it->second;
}

bool callsCollective(const RunTraits& traits, const char* name)
{
    return (',' + settingOf(traits, "workload_options.collectives") + ',')
               .find(',' + std::string(name) + ',') != std::string::npos;
}

bool severalOptimizers(const RunTraits& traits)
{
    return !settingOf(traits, "workload_options.optimizers").empty();
}

bool sumsNarrow(const RunTrace& run, std::int64_t step)
{
    constexpr double kFp16 = 5, kBf16 = 15; // c10::ScalarType
    const auto format = run.value(run.ranks().front(), Quantity::CollectiveDtype, step);
    return format == kFp16 || format == kBf16;
}

std::optional<ReductionActs> reductionActs(const RunTrace& run, std::int64_t step)
{
    const auto [json, varies] = standing(run, run.ranks().front(), "reduction", step);
    if (!json || varies)
        return {};
    ReductionActs acts{words(*json, "forward"), words(*json, "backward")};
    if (acts.forward.empty() || acts.forward.size() != acts.backward.size())
        return {};
    return acts;
}

LossFactors lossFactors(const RunTrace& run, int rank, std::int64_t step)
{
    LossFactors factors;
    const std::optional<rapidjson::Document> json = standing(run, rank, "loss_factors", step).said;
    if (!json || !json->HasMember("factors") || !(*json)["factors"].IsArray())
        return factors;
    for (const auto& micro : (*json)["factors"].GetArray()) {
        std::vector<double>& own = factors.emplace_back();
        if (micro.IsArray())
            for (const auto& factor : micro.GetArray())
                if (factor.IsNumber() && factor.GetDouble() != 1)
                    own.push_back(factor.GetDouble());
    }
    return factors;
}

double product(const std::vector<double>& factors)
{
    double whole = 1;
    for (const double factor : factors)
        whole *= factor;
    return whole;
}

namespace {

// Factors by which a script makes a mean or a sum of its micro-batch, the innermost, are as far apart as the numbers of samples
// are. One over the number: a mean, which is taken out on both sides. The number: a sum; true.
bool takeMeansOut(std::vector<double>& own, std::vector<double>& theirs, double samples, double theirSamples)
{
    while (!own.empty() && !theirs.empty()) {
        const double ratio = own.back() / theirs.back(), shares = theirSamples / samples;
        const bool mean = samples > 0 && theirSamples > 0 && own.back() < 1 && near(ratio, shares, 1e-6);
        if (!mean && !near(ratio, 1, 1e-6))
            return near(own.back(), samples, 1e-6) && near(theirs.back(), theirSamples, 1e-6);
        own.pop_back();
        theirs.pop_back();
    }
    return false;
}

} // namespace

std::optional<LossScaling> lossScaling(const RunTrace& reference, const RunTrace& suspect, std::int64_t step)
{
    if (!isUsersScript(reference.traits()) || !isUsersScript(suspect.traits()))
        return {};
    for (const RunTrace* run : {&reference, &suspect})
        for (const int rank : run->ranks())
            if (standing(*run, rank, "loss_factors", step).varies)
                return {};
    const LossFactors theirs = lossFactors(reference, reference.ranks().front(), step);
    const LossFactors own = lossFactors(suspect, suspect.ranks().front(), step);
    for (const int rank : suspect.ranks())
        if (lossFactors(suspect, rank, step) != own) // weights of the ranks: unequal shares
            return {};
    const auto micros = [step](const RunTrace& run) {
        return std::size_t(run.value(run.ranks().front(), Quantity::MicroSteps, step).value_or(1));
    };
    const std::size_t count = micros(suspect), world = suspect.ranks().size();
    // One process may work through the micro-batches of all ranks; then each weighs as much as one of a rank in the mean.
    const bool dealt = count != micros(reference);
    if (dealt && (count * world != micros(reference) ||
                  std::any_of(theirs.begin(), theirs.end(),
                              [&](const std::vector<double>& own) { return own != theirs.front(); })))
        return {};
    const auto at = [](const LossFactors& factors, std::size_t micro) {
        return micro < factors.size() ? factors[micro] : std::vector<double>();
    };
    LossScaling scaling;
    scaling.notDivided = count > 1;
    const auto samples = [step](const RunTrace& run, std::size_t micro) {
        return run.value(run.ranks().front(), Quantity::Samples, step, std::uint16_t(micro)).value_or(0);
    };
    for (std::size_t micro = 0; micro < count; ++micro) {
        std::vector<double> ours = at(own, micro), others = at(theirs, micro);
        if (!dealt)
            scaling.summed = takeMeansOut(ours, others, samples(suspect, micro), samples(reference, micro)) ||
                             scaling.summed;
        const double ratio = product(ours) / product(others) / (dealt ? double(world) : 1);
        if (!std::isfinite(ratio))
            return {};
        if (near(ratio, 1, 1e-6))
            continue;
        if (!scaling.micros.empty() && !near(ratio, scaling.factor, 1e-6))
            return {};
        scaling.factor = ratio;
        scaling.micros.push_back(micro);
        scaling.notDivided = scaling.notDivided && ours.empty() && near(ratio, double(count), 1e-6);
    }
    if (scaling.micros.empty())
        return {};
    scaling.whole = scaling.micros.size() == count;
    return scaling;
}

std::optional<ScheduleActs> scheduleActs(const RunTrace& reference, const RunTrace& suspect)
{
    constexpr const char* kSchedule = "workload_options.schedule";
    ScheduleActs acts{settingOf(suspect.traits(), kSchedule), settingOf(reference.traits(), kSchedule), 0};
    if (acts.own.empty() || acts.theirs.empty())
        return {};
    for (const EventRecord& event : suspect.events()) {
        if (event.kind != "schedule")
            continue;
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (json.IsObject() && json.HasMember("calls") && json["calls"].IsInt())
            acts.calls = std::max(acts.calls, json["calls"].GetInt());
    }
    return acts;
}

bool hasWrapper(const RunTrace& run)
{
    return std::any_of(run.events().begin(), run.events().end(),
                       [](const EventRecord& event) { return event.kind == "reduction"; });
}

std::optional<double> clippedScaled(const RunTrace& run, int rank, std::int64_t step)
{
    const std::optional<rapidjson::Document> json = standing(run, rank, "clipped", step).said;
    if (!json || !json->HasMember("scale") || !(*json)["scale"].IsNumber() ||
        (*json)["scale"].GetDouble() == 1)
        return {};
    return (*json)["scale"].GetDouble();
}

std::int64_t lastLoad(const RunTrace& run, std::int64_t step)
{
    std::int64_t last = -1;
    for (const EventRecord& event : run.events())
        if ((event.kind == "loaded" || event.kind == "resume") && event.step <= step)
            last = std::max(last, event.step);
    return last;
}

ModelCopies modelCopies(const RunTrace& run)
{
    ModelCopies copies;
    for (const EventRecord& event : run.events()) {
        if (event.kind != "copy")
            continue;
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (!json.IsObject() || !json.HasMember("moved") || !json["moved"].IsBool())
            continue;
        copies.moved = copies.moved || json["moved"].GetBool();
        copies.step = std::max(copies.step, event.step);
        if (json.HasMember("module") && json["module"].IsString())
            copies.module = json["module"].GetString();
    }
    return copies;
}

bool shapesVary(const RunTrace& run)
{
    return std::any_of(run.events().begin(), run.events().end(),
                       [](const EventRecord& event) { return event.kind == "shapes"; });
}

bool followersMove(const RunTrace& run)
{
    return std::any_of(run.events().begin(), run.events().end(), [](const EventRecord& event) {
        return event.kind == "followers" && event.detail.find("true") != std::string::npos;
    });
}

ParameterAveraging parameterAveraging(const RunTrace& run)
{
    struct Said {
        bool moved = false;
        bool last = false; // no more is told
        std::set<std::string> prints;
        std::set<int> ranks;
    };
    std::map<std::int64_t, Said> told; // by step
    for (const EventRecord& event : run.events()) {
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (event.kind != "between" || !json.IsObject() || !json.HasMember("moved") ||
            !json["moved"].IsBool() || !json.HasMember("fingerprint") || !json["fingerprint"].IsString())
            continue;
        Said& said = told[event.step];
        said.moved = json["moved"].GetBool();
        said.last = said.last || json.HasMember("varies");
        said.prints.insert(json["fingerprint"].GetString());
        said.ranks.insert(event.rank);
    }
    ParameterAveraging found;
    if (run.ranks().size() < 2 || !run.sameOnRanks(Quantity::ParamFingerprint, 0).value_or(false))
        return found;
    std::int64_t last = -1, gap = 1;
    for (auto it = told.begin(); it != told.end(); ++it) {
        const Said& said = it->second;
        if (said.last)
            last = run.lastStep();
        // An average joins what differed; clamped weights, a follower's turn or a load do not. And it reaches every rank.
        if (!said.moved || said.ranks.size() != run.ranks().size() ||
            run.sameOnRanks(Quantity::ParamFingerprint, it->first).value_or(true))
            continue;
        if (said.prints.size() != 1) // they moved, and not to the same place
            return {};
        if (last >= 0)
            gap = std::max(gap, it->first - last);
        // What was told holds until the next word; of the last step nothing is known.
        const auto next = std::next(it);
        last = next == told.end() || said.last ? run.lastStep() : next->first - 1;
        if (found.first < 0)
            found.first = it->first;
    }
    if (found.first < 0)
        return found;
    gap = std::max(gap, found.first);
    if (run.lastStep() - last > 2 * gap)
        found.stopped = last + 1;
    return found;
}

OtherDraws otherDraws(const RunTrace& run)
{
    OtherDraws draws;
    std::map<std::string, std::map<std::int64_t, std::vector<std::string>>> states; // by generator and step
    for (const EventRecord& event : run.events()) {
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (event.kind != "draws" || !json.IsObject())
            continue;
        for (const auto& member : json.GetObject())
            if (member.value.IsString())
                states[member.name.GetString()][event.step].emplace_back(member.value.GetString());
    }
    for (const auto& [name, steps] : states) {
        draws.generators.push_back(name);
        draws.steps = std::max(draws.steps, std::int64_t(steps.size()));
        for (const auto& [step, ofRanks] : steps)
            draws.alike = draws.alike ||
                          (ofRanks.size() > 1 && ofRanks.size() == run.ranks().size() &&
                           std::all_of(ofRanks.begin(), ofRanks.end(),
                                       [&](const std::string& state) { return state == ofRanks.front(); }));
    }
    return draws;
}

bool drawsBesideTorch(const RunTrace& run)
{
    constexpr std::int64_t kWatched = 3; // draws.py
    return otherDraws(run).steps >= std::max<std::int64_t>(1, std::min(kWatched, run.lastStep()));
}

bool skippedInOne(const RunTrace& reference, const RunTrace& suspect, std::int64_t step)
{
    const auto a = reference.value(reference.ranks().front(), Quantity::StepSkipped, step);
    const auto b = suspect.value(suspect.ranks().front(), Quantity::StepSkipped, step);
    return a && b && *a != *b;
}

Unfreezing unfreezing(const RunTrace& run)
{
    Unfreezing found;
    for (const EventRecord& event : run.events()) {
        if (event.kind != "unfreeze" || found.step >= 0)
            continue;
        found.step = event.step;
        rapidjson::Document json;
        json.Parse(event.detail.c_str());
        if (json.IsObject() && json.HasMember("parameters") && json["parameters"].IsArray())
            for (const auto& name : json["parameters"].GetArray())
                if (name.IsString())
                    found.names.emplace_back(name.GetString());
    }
    return found;
}

} // namespace lockstep::align
