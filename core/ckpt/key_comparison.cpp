#include "core/ckpt/key_comparison.h"

#include <algorithm>
#include <unordered_set>

namespace lockstep {
namespace {

constexpr std::size_t kEvidence = 50; // keys listed with a finding

using Names = std::vector<std::string>;

const char* are(const Names& names)
{
    return names.size() == 1 ? " is" : " are";
}

// load_state_dict's own words, shortened after a few names.
std::string loadText(const Names& missing, const Names& unexpected)
{
    const auto list = [](const Names& names) {
        std::string text;
        for (std::size_t i = 0; i < names.size() && i < 3; ++i)
            text += (i ? ", \"" : "\"") + names[i] + "\"";
        return text + (names.size() > 3 ? ", ... " : ". ");
    };
    std::string text;
    if (!missing.empty())
        text += "Missing key(s) in state_dict: " + list(missing);
    if (!unexpected.empty())
        text += "Unexpected key(s) in state_dict: " + list(unexpected);
    return text.empty() ? text : text.substr(0, text.size() - 1);
}

std::string sizeText(const std::string& key, std::span<const std::int64_t> here,
                     std::span<const std::int64_t> there)
{
    return "size mismatch for " + key + ": copying a param with shape torch.Size(" + shapeText(here) +
           ") from checkpoint, the shape in current model is torch.Size(" + shapeText(there) + ").";
}

// Names of the checkpoint most like the one that is missing: those that share most of its end.
std::string nearest(const std::string& missing, const std::vector<NamedShape>& keys)
{
    const auto wanted = splitKey(missing);
    std::size_t best = 0;
    std::string name;
    for (const NamedShape& key : keys) {
        const auto segments = splitKey(key.name);
        std::size_t common = 0;
        for (const std::string_view segment : segments)
            common += std::find(wanted.begin(), wanted.end(), segment) != wanted.end();
        if (common > best) {
            best = common;
            name = key.name;
        }
    }
    return name;
}

} // namespace

std::string lastSegment(const std::string& key)
{
    return key.substr(key.rfind('.') + 1);
}

bool isFolderOfShards(const Checkpoint& checkpoint)
{
    return checkpoint.container == Container::Dcp || checkpoint.container == Container::DcpHf;
}

std::string parametrizedName(const std::string& key)
{
    const auto segments = splitKey(key);
    const std::size_t n = segments.size();
    if (n < 3 || segments[n - 3] != "parametrizations" || !segments[n - 1].starts_with("original"))
        return {};
    std::string name;
    for (std::size_t i = 0; i + 3 < n; ++i)
        name += std::string(segments[i]) + ".";
    return name + std::string(segments[n - 2]);
}

std::vector<std::string> firstNames(const std::vector<std::string>& names)
{
    return {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kEvidence))};
}

KeyComparison::KeyComparison(const RuleContext& context, std::vector<NamedShape> keys,
                             std::vector<Verdict>& out)
    : context_(context), keys_(std::move(keys)), out_(out)
{
    for (const auto& [name, shape] : context.target->model)
        wanted_.emplace(name, &shape);
    for (const NamedShape& key : keys_)
        have_.emplace(key.name, &key);
    for (const NamedShape& key : keys_)
        if (!wanted_.contains(key.name))
            unexpected_.push_back(key.name);
    for (const auto& [name, shape] : context.target->model)
        if (!have_.contains(name))
            missing_.push_back(name);
}

void KeyComparison::run()
{
    const std::size_t before = out_.size();
    const std::string said = loadText(missing_, unexpected_);
    takeCounters();
    takeAveraged();
    takeParametrized();
    takeWrappers();
    takeTied();
    compareShapes();
    reportRest();
    // All findings about names are parts of one error of load_state_dict.
    for (std::size_t i = before; i < out_.size(); ++i) {
        Verdict& verdict = out_[i];
        const bool names = verdict.row.size() == 1 && verdict.row != "9";
        if ((names && verdict.row != "5") || verdict.row == "N2")
            verdict.errorText = said;
    }
}

Verdict& KeyComparison::report(std::string_view row, Severity severity, std::string sentence,
                               const Names& names)
{
    Verdict& verdict = out_.emplace_back(makeVerdict(row, severity, std::move(sentence)));
    verdict.key = names.front();
    verdict.evidence = firstNames(names);
    return verdict;
}

void KeyComparison::takeCounters()
{
    Names counters;
    const auto take = [&](Names& names, bool absent) {
        std::erase_if(names, [&](const std::string& name) {
            if (lastSegment(name) != "num_batches_tracked")
                return false;
            // Under a wrapper the whole module is renamed; then the counter is not what differs.
            const std::string base = name.substr(0, name.size() - std::string("num_batches_tracked").size());
            const bool siblingsMatch =
                absent ? have_.contains(base + "running_mean") : wanted_.contains(base + "running_mean");
            if (siblingsMatch)
                counters.push_back(name);
            return siblingsMatch;
        });
    };
    take(missing_, true);
    const std::size_t absent = counters.size();
    take(unexpected_, false);
    if (counters.empty())
        return;
    report("9", Severity::Info,
           listNames(counters) + (absent ? " is not in the checkpoint" : " is not in the model") +
               "; it counts batches and changes no result",
           counters);
}

void KeyComparison::takeAveraged()
{
    const auto counter = std::find(unexpected_.begin(), unexpected_.end(), "n_averaged");
    if (counter == unexpected_.end())
        return;
    const bool wrapped = std::all_of(unexpected_.begin(), unexpected_.end(), [](const std::string& name) {
        return name == "n_averaged" || name.starts_with("module.");
    });
    if (!wrapped)
        return;
    unexpected_.erase(counter);
    report("6", Severity::Failure,
           "n_averaged beside keys with module. is the state of an AveragedModel, not of "
           "DistributedDataParallel",
           {"n_averaged"})
        .evidence.clear();
    // The prefix belongs to this finding and is not reported again.
    std::unordered_set<std::string> met;
    std::erase_if(unexpected_, [&](const std::string& name) {
        const std::string plain = name.substr(std::string_view("module.").size());
        if (!wanted_.contains(plain))
            return false;
        met.insert(plain);
        return true;
    });
    std::erase_if(missing_, [&met](const std::string& name) { return met.contains(name); });
    mapping_.prefixA = "module.";
}

void KeyComparison::takeParametrized()
{
    Names names; // each once, in order
    std::unordered_set<std::string> told;
    std::erase_if(unexpected_, [&](const std::string& key) {
        std::string name = parametrizedName(key);
        // weight_norm before torch 2.0 wrote weight_g and weight_v.
        if (name.empty() && (key.ends_with("_g") || key.ends_with("_v"))) {
            const std::string base = key.substr(0, key.size() - 2);
            if (have_.contains(base + "_g") && have_.contains(base + "_v"))
                name = base;
        }
        const bool known = !name.empty() && wanted_.contains(name);
        if (known && told.insert(name).second)
            names.push_back(name);
        return known;
    });
    if (names.empty())
        return;
    std::erase_if(missing_, [&](const std::string& key) { return told.contains(key); });
    report("7", Severity::Failure, listNames(names) + are(names) + " stored in parametrized form", names);
}

// A tied parameter is saved under one of its names only by formats that refuse shared memory.
void KeyComparison::takeTied()
{
    for (const auto& group : context_.target->tied) {
        Names absent, present;
        for (const std::string& name : group)
            (have_.contains(name) ? present : absent).push_back(name);
        if (absent.empty() || present.empty())
            continue;
        std::erase_if(missing_, [&absent](const std::string& name) {
            return std::find(absent.begin(), absent.end(), name) != absent.end();
        });
        Verdict& verdict =
            report("42", Severity::Failure,
                   listNames(absent) + " is missing; the model ties it to " + listNames(present), absent);
        verdict.evidence = {"missing"};
        verdict.fix =
            "Tie the weights before loading, or add the key: its values are those of " + present.front();
        verdict.errorText = "KeyError / Missing key(s) in state_dict: \"" + absent.front() + "\"";
    }
}

void KeyComparison::compareShapes()
{
    std::unordered_map<std::string, const Target::Shape*> byName;
    for (const auto& [name, shape] : context_.target->model)
        byName.emplace(mapping_.fromB(name), &shape);
    Names empty, differ;
    std::string first, text, emptyText;
    for (const NamedShape& key : keys_) {
        const auto exact = wanted_.find(key.name);
        const Target::Shape* want = exact != wanted_.end() ? exact->second : nullptr;
        if (!want) {
            const auto mapped = byName.find(mapping_.fromA(key.name));
            want = mapped != byName.end() ? mapped->second : nullptr;
        }
        if (!want || !key.known || *want == key.shape)
            continue;
        const bool wantsSome =
            std::none_of(want->begin(), want->end(), [](std::int64_t n) { return n == 0; });
        if (key.shape == std::vector<std::int64_t>{0} && wantsSome) {
            if (empty.empty())
                emptyText = sizeText(key.name, key.shape, *want);
            empty.push_back(key.name);
            continue;
        }
        if (differ.empty()) {
            text = sizeText(key.name, key.shape, *want);
            first =
                key.name + " is " + shapeText(key.shape) + " here and " + shapeText(*want) + " in the model";
        }
        differ.push_back(key.name);
    }
    if (!empty.empty()) {
        report("11", Severity::Failure,
               std::to_string(empty.size()) + " of " + std::to_string(keys_.size()) +
                   " parameters have the shape [0]: " + listNames(empty),
               empty)
            .errorText = emptyText;
    }
    if (!differ.empty()) {
        report("10", Severity::Failure,
               std::to_string(differ.size()) +
                   (differ.size() == 1 ? " shape differs: " : " shapes differ: ") + first,
               differ)
            .errorText = text;
    }
}

// load_state_dict of torch.distributed.checkpoint has texts of its own, and none for keys that are left over.
void KeyComparison::reportShardKeys()
{
    if (!missing_.empty()) {
        const std::string close = nearest(missing_.front(), keys_);
        report("34", Severity::Failure,
               listNames(missing_) + are(missing_) + " not in the checkpoint" +
                   (close.empty() ? "" : "; the nearest key is " + close),
               missing_)
            .errorText = "RuntimeError: Missing key in checkpoint state_dict: " + missing_.front() + ".";
    }
    if (!unexpected_.empty())
        report("35", Severity::Warning,
               listNames(unexpected_) + are(unexpected_) +
                   " not in the model and will be ignored without a word",
               unexpected_);
}

void KeyComparison::reportRest()
{
    if (isFolderOfShards(context_.checkpoint))
        return reportShardKeys();
    if (missing_.empty() && unexpected_.empty())
        return;
    std::string sentence;
    if (!missing_.empty())
        sentence = listNames(missing_) + are(missing_) + " not in the checkpoint";
    if (!unexpected_.empty())
        sentence +=
            (sentence.empty() ? "" : "; ") + listNames(unexpected_) + are(unexpected_) + " not in the model";
    report("N2", Severity::Failure, sentence, missing_.empty() ? unexpected_ : missing_).evidence =
        firstNames(missing_);
}

} // namespace lockstep
