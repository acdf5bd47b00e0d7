#include "core/align/diagnose.h"

#include "core/align/diagnose/catalogue.h"
#include "core/align/diagnose/class_separation.h"
#include "core/align/diagnose/deciding_setting.h"
#include "core/align/diagnose/rules.h"
#include "core/align/diagnose/script_acts.h"

#include <algorithm>
#include <map>
#include <set>

namespace lockstep {

namespace {

using namespace align;

// What a comparison with a single process leaves open for such models; a twin closes it.
constexpr const char* kForwardOpen = "The model has random layers or batch statistics, so its losses and "
                                     "gradients cannot be held against a single process. "
                                     "Only ids, rates and what the ranks say of each other were judged. "
                                     "Record a twin of the run, or use --prove, to judge "
                                     "the rest.";

// Of a script there is neither a twin nor a replay.
constexpr const char* kScriptForwardOpen = "The model has random layers or batch statistics, so its losses "
                                           "and gradients cannot be held against a single "
                                           "process. Only ids, rates and what the ranks say of each other "
                                           "were judged. Switch dropout off and freeze the "
                                           "statistics (eval()) in both runs to judge the rest.";
constexpr const char* kNoTwin =
    "There is no twin of a script of your own, so nothing is proven: causes are named by "
    "equalities that need no tolerance and by differences beyond what rounding makes of a sum "
    "in another order.";

// The step a finding that no sharper rule explains stands at, by the link that broke first.
struct Remainder {
    CausalLink link;
    const char* cause;
};
constexpr Remainder kRemainders[] = {
    {CausalLink::Config, "A9"},     {CausalLink::SampleIds, "A10"}, {CausalLink::Content, "A7"},
    {CausalLink::Rng, "E5"},        {CausalLink::Forward, "E1"},    {CausalLink::PreReduction, "B9"},
    {CausalLink::Reduced, "C11"},   {CausalLink::Clipping, "D4"},   {CausalLink::Update, "D7"},
    {CausalLink::Parameters, "D7"}, {CausalLink::Buffers, "C9"},    {CausalLink::Logged, "B10"},
};

// A script's environment is recorded, so TF32 is a cause of its runs only where it can be one.
bool tf32Possible(const Case& c)
{
    const RunTraits &ref = c.ref().traits(), &sus = c.sus().traits();
    return !isUsersScript(sus) || settingOf(ref, "device") == "cuda" || settingOf(sus, "device") == "cuda";
}

// The limits of clipping in which the runs differ, in words; empty: in none.
std::string otherLimit(const Case& c)
{
    std::string words;
    for (const char* key : {"clip_norm", "clip_value"}) {
        const std::string ref = settingOf(c.ref().traits(), key), sus = settingOf(c.sus().traits(), key);
        if (ref != sus)
            words += fmt::format("{}{} is {} against {}", words.empty() ? "" : ", ", key,
                                 ref.empty() ? "off" : ref, sus.empty() ? "off" : sus);
    }
    return words;
}

// Nothing sharper fits: say where the runs part, and what usually breaks there.
void remainder(const Case& c, Suspicions& out)
{
    if (!out.empty() || !c.anyDifference() || !c.quantity())
        return;
    const auto it = std::find_if(std::begin(kRemainders), std::end(kRemainders),
                                 [&](const Remainder& r) { return r.link == c.link(); });
    if (it == std::end(kRemainders))
        return;
    Suspicion s;
    s.cause = it->cause;
    if (s.cause == "E1" && !tf32Possible(c)) {
        s.cause.clear();
        s.sentence = "The forward pass gives another loss";
        s.fix = "Hold what is done between the batch and the loss against the reference's script: layers, "
                "targets that are left out, the reduction of the loss";
    }
    s.fit = 1;
    const std::string clipped = c.link() == CausalLink::Clipping ? otherLimit(c) : std::string();
    if (!clipped.empty()) {
        s.cause.clear();
        s.fit = kPattern;
        s.sentence = "The gradients are clipped at another limit";
        s.fix = "Clip at the same limit in both runs";
    }
    s.step = c.start();
    const std::vector<int> off = c.ranksOff(*c.quantity(), c.start());
    s.rank = off.size() == 1 && c.world() > 1 ? off.front() : -1;
    s.fact =
        fmt::format("The runs part at step {} in \"{}\"; {}.", c.start(), quantityInfo(*c.quantity())->title,
                    clipped.empty() ? "no signature of the catalogue fits exactly" : clipped);
    s.evidence.push_back({std::string(quantityInfo(*c.quantity())->title),
                          "the first link that differs",
                          c.quantity(),
                          c.start(),
                          s.rank,
                          {}});
    out.push_back(std::move(s));
}

// One suspicion per cause, the best.
void sortOut(Suspicions& suspicions)
{
    std::stable_sort(suspicions.begin(), suspicions.end(),
                     [](const Suspicion& a, const Suspicion& b) { return a.fit > b.fit; });
    std::vector<std::string> seen;
    std::erase_if(suspicions, [&seen](const Suspicion& s) {
        if (std::find(seen.begin(), seen.end(), s.cause) != seen.end())
            return true;
        seen.push_back(s.cause);
        return false;
    });
}

Finding findingOf(const Suspicion& s, Certainty certainty)
{
    const Cause* cause = causeById(s.cause);
    Finding finding;
    if (cause)
        finding.causes = {s.cause};
    finding.certainty = s.benign || (cause && cause->benign && !s.open) ? Certainty::Benign : certainty;
    finding.step = s.step;
    finding.rank = s.rank;
    finding.parameter = s.parameter;
    const std::string named = !s.sentence.empty() ? s.sentence : cause ? std::string(cause->sentence) : "";
    finding.sentence = named.empty() ? s.fact : fmt::format("{}. {}", named, s.fact);
    finding.fix = !s.fix.empty() ? s.fix : cause ? std::string(cause->fix) : "";
    finding.evidence = s.evidence;
    finding.excluded = s.excluded;
    if (cause && cause->replayable)
        finding.replays = {FaultSpec{s.cause, s.solved}};
    return finding;
}

// The finding that holds what is the same bits, if there is one already.
Finding* sameBits(Diagnosis& diagnosis, const Suspicions& before, const Suspicion& suspicion)
{
    for (const Suspicion& earlier : before) {
        if (&earlier == &suspicion || suspicion.sameBits.empty())
            return nullptr;
        if (earlier.sameBits != suspicion.sameBits)
            continue;
        for (Finding& finding : diagnosis.findings)
            if (!finding.causes.empty() && finding.causes.front() == earlier.cause)
                return &finding;
    }
    return nullptr;
}

void describe(const Suspicions& suspicions, const RunTraits& suspect, Diagnosis& diagnosis)
{
    constexpr std::size_t kShown = 8;
    // Alone at the top with a signature: likely. Whatever shares the signature leaves it open.
    const auto rival = std::find_if(suspicions.begin(), suspicions.end(), [&](const Suspicion& s) {
        return &s != &suspicions.front() && (s.sameBits.empty() || s.sameBits != suspicions.front().sameBits);
    });
    const bool alone = rival == suspicions.end() || rival->fit < kSignature - 10 || rival->benign;
    for (std::size_t i = 0; i < std::min(suspicions.size(), kShown); ++i) {
        const Suspicion& s = suspicions[i];
        Finding finding = findingOf(s, i == 0 && s.fit >= kPattern && alone && !s.open ? Certainty::Likely
                                                                                       : Certainty::Possible);
        if (Finding* whole = sameBits(diagnosis, suspicions, s)) {
            whole->causes.push_back(s.cause);
            whole->replays.push_back(finding.replays.front());
            whole->separate = separatingRun(whole->causes, suspect);
        } else {
            diagnosis.findings.push_back(std::move(finding));
        }
    }
    std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& a, const Finding& b) {
                         return (a.certainty == Certainty::Benign) < (b.certainty == Certainty::Benign);
                     });
}

Suspicions suspicionsOf(const Case& c)
{
    Suspicions suspicions;
    for (const std::span<const Rule> family :
         {dataRules(), epochTailRules(), lossRules(), shareRules(), synchronisationRules(), rateRules(),
          clippingRules(), optimizerRules(), precisionRules(), checkpointRules(), loggingRules(),
          scriptRules(), scriptOptimizerRules(), randomLayerRules(), evaluationRules()})
        for (const Rule rule : family)
            rule(c, suspicions);
    // What happened before the runs part explains more than what follows from it.
    remainder(c, suspicions);
    sortOut(suspicions);
    return suspicions;
}

std::string rankProblems(const RunTrace& run, const char* which)
{
    const int expected = run.traits().single ? 1 : run.traits().world;
    std::string missing;
    for (int rank = 0; rank < expected; ++rank)
        if (std::find(run.ranks().begin(), run.ranks().end(), rank) == run.ranks().end())
            missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
    return missing.empty()
               ? ""
               : fmt::format("The {} run has no records of rank {} of {}.", which, missing, expected);
}

void noteDifferingSettings(const RunTraits& reference, const RunTraits& suspect, Diagnosis& diagnosis)
{
    static const std::set<std::string> expected = {
        "mode",   "world",     "align_world", "record",           "steps", "epochs",
        "resume", "log_every", "eval_every",  "checkpoint_every", "name",  "workload_options.collectives"};
    const std::map<std::string, std::string> theirs(reference.settings.begin(), reference.settings.end());
    std::string list;
    for (const auto& [key, value] : suspect.settings) {
        const auto other = theirs.find(key);
        const std::string a = other == theirs.end() ? std::string() : other->second;
        // A script's own batch is that of a rank.
        const bool dealt = key == "batch" && isUsersScript(suspect);
        if (a != value && !dealt && !expected.contains(key))
            list += fmt::format("{}{} {} against {}", list.empty() ? "" : ", ", key, a.empty() ? "-" : a,
                                value.empty() ? "-" : value);
    }
    if (!list.empty())
        diagnosis.problems.push_back(fmt::format("The runs were told different things: {}.", list));
}

// Where the runs were told different values for it, that is what undoes the cause.
void nameSettings(const RunTraits& reference, const RunTraits& suspect, Diagnosis& diagnosis)
{
    for (Finding& finding : diagnosis.findings) {
        if (finding.causes.empty())
            continue;
        if (const auto setting = decidingSetting(finding.causes.front(), reference, suspect)) {
            finding.setting = setting->name;
            finding.value = setting->value;
        }
    }
}

std::optional<Error> firstError(const RunTrace& a, const RunTrace& b)
{
    return a.error() ? a.error() : b.error();
}

Result<Diagnosis> judge(const RunTrace& reference, const RunTrace& suspect)
{
    Diagnosis diagnosis;
    for (const auto& [trace, which] : {std::pair(&reference, "reference"), std::pair(&suspect, "suspect")}) {
        if (trace->ranks().empty()) {
            diagnosis.comparable = false;
            diagnosis.problems.push_back(fmt::format("The {} run has recorded nothing.", which));
        } else if (std::string missing = rankProblems(*trace, which); !missing.empty()) {
            diagnosis.problems.push_back(std::move(missing));
        }
    }
    if (!diagnosis.comparable)
        return diagnosis;
    if (std::min(reference.lastStep(), suspect.lastStep()) <
        std::max(reference.view().firstStep, suspect.view().firstStep)) {
        diagnosis.comparable = false;
        diagnosis.problems.push_back("The runs have no step in common.");
        return diagnosis;
    }
    Result<Case> c = Case::make(reference, suspect);
    if (!c)
        return c.error();
    if (reference.lastStep() != suspect.lastStep())
        diagnosis.problems.push_back(fmt::format(
            "The reference ends at step {}, the suspect at step {}; steps up to {} were compared.",
            reference.lastStep(), suspect.lastStep(), c->lastStep()));
    if (!c->rankByRank() && (drawsEachStep(suspect) || batchStatistics(suspect)) &&
        c->link() == CausalLink::Forward)
        diagnosis.problems.push_back(isUsersScript(suspect.traits()) ? kScriptForwardOpen : kForwardOpen);
    noteDifferingSettings(reference.traits(), suspect.traits(), diagnosis);
    diagnosis.firstStep = c->start();
    diagnosis.link = c->link();
    describe(suspicionsOf(*c), suspect.traits(), diagnosis);
    if (isUsersScript(suspect.traits()) && !c->rankByRank() && !diagnosis.findings.empty())
        diagnosis.problems.push_back(kNoTwin);
    nameSettings(reference.traits(), suspect.traits(), diagnosis);
    if (const std::optional<Error> error = firstError(reference, suspect))
        return *error;
    return diagnosis;
}

} // namespace

const char* certaintyName(Certainty certainty)
{
    switch (certainty) {
    case Certainty::Proven:
        return "proven";
    case Certainty::Likely:
        return "likely";
    case Certainty::Benign:
        return "benign";
    case Certainty::Possible:
        break;
    }
    return "possible";
}

Result<Diagnosis> diagnose(const DiagnosedRun& reference, const DiagnosedRun& suspect,
                           const std::optional<DiagnosedRun>& twin)
{
    const Result<RunTrace> own = RunTrace::open(*suspect.reader, suspect.traits);
    if (!own)
        return own.error();
    const Result<RunTrace> other = RunTrace::open(*reference.reader, reference.traits);
    if (!other)
        return other.error();
    Result<Diagnosis> asAsked = judge(*other, *own);
    if (!asAsked || !twin || !asAsked->comparable)
        return asAsked;
    const Result<RunTrace> replayed = RunTrace::open(*twin->reader, twin->traits);
    if (!replayed)
        return replayed.error();
    Result<Diagnosis> exact = judge(*replayed, *own);
    if (!exact || !exact->comparable)
        return asAsked;
    // The twin has the suspect's own settings: what those explain only the reference as asked can say.
    for (Finding& finding : asAsked->findings) {
        const auto sameCause = [&](const Finding& f) { return f.causes == finding.causes; };
        const bool told = finding.certainty == Certainty::Benign || exact->findings.empty();
        if (told && std::none_of(exact->findings.begin(), exact->findings.end(), sameCause))
            exact->findings.push_back(std::move(finding));
    }
    exact->problems = asAsked->problems;
    std::erase(exact->problems, kForwardOpen);
    if (exact->firstStep < 0) {
        exact->firstStep = asAsked->firstStep;
        exact->link = asAsked->link;
    }
    return exact;
}

} // namespace lockstep
