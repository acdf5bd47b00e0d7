// Rows 1 to 11, 34, 35 and N2: names and shapes, with or without the model to load into.
#include "core/ckpt/prefix.h"
#include "core/ckpt/verdict.h"
#include "core/ckpt/walk.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace lockstep {
namespace {

constexpr std::size_t kEvidence = 50; // keys listed with a finding

struct NamedShape {
    std::string name;
    std::vector<std::int64_t> shape;
    bool known = true; // a sharded checkpoint also lists keys that are no tensors
};

using Names = std::vector<std::string>;

Names head(const Names& names)
{
    return Names(names.begin(),
                 names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kEvidence)));
}

std::vector<std::int64_t> shapeOf(const Checkpoint& checkpoint, std::uint32_t tensor)
{
    const auto shape = checkpoint.shape(checkpoint.tensors[tensor]);
    return {shape.begin(), shape.end()};
}

bool isFolderOfShards(const Checkpoint& checkpoint)
{
    return checkpoint.container == Container::Dcp || checkpoint.container == Container::DcpHf;
}

std::string lastSegment(const std::string& key)
{
    return key.substr(key.rfind('.') + 1);
}

// "head.parametrizations.weight.original0" -> "head.weight"; empty if it is no parametrized key.
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

// Everything a comparison of two lists of keys needs.
class KeyComparison
{
public:
    KeyComparison(const RuleContext& context, std::vector<NamedShape> keys, std::vector<Verdict>& out)
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

    void run()
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

private:
    void takeCounters();
    void takeAveraged();
    void takeParametrized();
    void takeWrappers();
    void takeTied();
    void compareShapes();
    void reportRest();
    void reportPrefix(const std::string& prefix);
    void reportDropped(const KeyMapping& mapping, const Names& changed);

    const RuleContext& context_;
    std::vector<NamedShape> keys_;
    std::vector<Verdict>& out_;
    std::unordered_map<std::string, const Target::Shape*> wanted_;
    std::unordered_map<std::string, const NamedShape*> have_;
    Names missing_;
    Names unexpected_;
    KeyMapping mapping_;
};

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
    Verdict verdict =
        makeVerdict("9", Severity::Info,
                    listNames(counters) + (absent ? " is not in the checkpoint" : " is not in the model") +
                        "; it counts batches and changes no result");
    verdict.key = counters.front();
    verdict.evidence = head(counters);
    out_.push_back(std::move(verdict));
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
    Verdict verdict =
        makeVerdict("6", Severity::Failure,
                    "n_averaged beside keys with module. is the state of an AveragedModel, not of "
                    "DistributedDataParallel");
    verdict.key = "n_averaged";
    out_.push_back(std::move(verdict));
    // The prefix belongs to this finding and is not reported again.
    std::erase_if(unexpected_, [&](const std::string& name) {
        const std::string plain = name.substr(7);
        const auto place = std::find(missing_.begin(), missing_.end(), plain);
        if (place == missing_.end())
            return wanted_.contains(plain);
        missing_.erase(place);
        return true;
    });
    mapping_.prefixA = "module.";
}

void KeyComparison::takeParametrized()
{
    Names names;
    std::erase_if(unexpected_, [&](const std::string& key) {
        std::string name = parametrizedName(key);
        // weight_norm before torch 2.0 wrote weight_g and weight_v.
        if (name.empty() && (key.ends_with("_g") || key.ends_with("_v"))) {
            const std::string base = key.substr(0, key.size() - 2);
            if (have_.contains(base + "_g") && have_.contains(base + "_v"))
                name = base;
        }
        const bool known = !name.empty() && wanted_.contains(name);
        if (known && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
        return known;
    });
    if (names.empty())
        return;
    std::erase_if(missing_, [&](const std::string& key) {
        return std::find(names.begin(), names.end(), key) != names.end();
    });
    Verdict verdict =
        makeVerdict("7", Severity::Failure,
                    listNames(names) + (names.size() == 1 ? " is" : " are") + " stored in parametrized form");
    verdict.key = names.front();
    verdict.evidence = head(names);
    out_.push_back(std::move(verdict));
}

void KeyComparison::reportPrefix(const std::string& prefix)
{
    const auto segments = splitKey(std::string_view(prefix).substr(0, prefix.size() - 1));
    const auto has = [&](std::string_view name) {
        return std::find(segments.begin(), segments.end(), name) != segments.end();
    };
    const bool wrappers = std::all_of(segments.begin(), segments.end(), isWrapperSegment);
    const std::string_view row = has("_orig_mod") ? "4" : wrappers ? "1" : "8";
    std::string sentence = "All keys carry the prefix " + prefix;
    if (!context_.parts.models.empty() && !context_.parts.model()->path.empty())
        sentence += " (the weights lie in " + context_.parts.model()->path + ")";
    Verdict verdict = makeVerdict(row, Severity::Failure, sentence);
    verdict.fix = "Strip it: ckpt convert --strip " + prefix;
    for (const std::string_view segment : segments)
        verdict.evidence.push_back(std::string(segment) + ".");
    out_.push_back(std::move(verdict));
}

// Segments that stand in the middle of some names on one side only.
void KeyComparison::reportDropped(const KeyMapping& mapping, const Names& changed)
{
    for (const std::string& segment : mapping.drop) {
        Names withIt;
        bool leading = true;
        for (const std::string& name : changed) {
            const auto segments = splitKey(name);
            if (std::find(segments.begin(), segments.end(), segment) == segments.end())
                continue;
            withIt.push_back(name);
            leading = leading && isWrapperSegment(segments.front());
        }
        if (withIt.empty())
            continue;
        const bool shards = isFolderOfShards(context_.checkpoint);
        const std::string_view row = leading               ? (segment == "_orig_mod" ? "4" : "1")
                                     : segment == "module" ? "3"
                                     : shards              ? "5"
                                                           : "4";
        Verdict verdict =
            makeVerdict(row, Severity::Failure,
                        "The wrapper segment " + segment + " stands inside " + std::to_string(withIt.size()) +
                            (withIt.size() == 1 ? " key" : " keys") + ", for instance " + withIt.front());
        verdict.key = withIt.front();
        verdict.fix = "Drop it wherever it stands: ckpt convert --drop-wrappers";
        verdict.evidence = head(withIt);
        out_.push_back(std::move(verdict));
    }
}

void KeyComparison::takeWrappers()
{
    if (missing_.empty() || unexpected_.empty())
        return;
    const KeyMapping mapping = findMapping(unexpected_, missing_);
    if (mapping.identity() || mapping.matched == 0)
        return;
    Names changedHere, changedThere;
    std::set<std::string> names;
    std::unordered_map<std::string, std::string> byName;
    for (const std::string& name : missing_)
        byName.emplace(mapping.fromB(name), name);
    std::erase_if(unexpected_, [&](const std::string& name) {
        const auto found = byName.find(mapping.fromA(name));
        if (found == byName.end())
            return false;
        changedHere.push_back(name);
        changedThere.push_back(found->second);
        names.insert(found->second);
        return true;
    });
    std::erase_if(missing_, [&](const std::string& name) { return names.contains(name); });

    if (!mapping.drop.empty()) {
        reportDropped(mapping, changedHere);
        // The model is wrapped inside and the checkpoint is not.
        const bool wrappedThere =
            std::any_of(mapping.drop.begin(), mapping.drop.end(), [&](const std::string& segment) {
                const auto has = [&](const std::string& name) {
                    const auto segments = splitKey(name);
                    return std::find(segments.begin(), segments.end(), segment) != segments.end();
                };
                return std::any_of(changedThere.begin(), changedThere.end(), has) &&
                       std::none_of(changedHere.begin(), changedHere.end(), has);
            });
        if (wrappedThere) {
            Verdict verdict =
                makeVerdict("2", Severity::Failure,
                            "The model is wrapped and the checkpoint is plain: " + changedHere.front() +
                                " here is " + changedThere.front() + " there");
            verdict.key = changedHere.front();
            out_.push_back(std::move(verdict));
        }
    }
    if (!mapping.prefixA.empty())
        reportPrefix(mapping.prefixA);
    if (!mapping.prefixB.empty()) {
        Verdict verdict =
            makeVerdict("2", Severity::Failure,
                        "The model's keys carry " + mapping.prefixB + " and the checkpoint's do not");
        verdict.fix = "Load before wrapping the model, or: ckpt convert --add-prefix " + mapping.prefixB;
        verdict.evidence = {mapping.prefixB};
        out_.push_back(std::move(verdict));
    }
    if (mapping_.identity())
        mapping_ = mapping;
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
        std::erase_if(missing_, [&](const std::string& n) {
            return std::find(absent.begin(), absent.end(), n) != absent.end();
        });
        Verdict verdict =
            makeVerdict("42", Severity::Failure,
                        listNames(absent) + " is missing; the model ties it to " + listNames(present));
        verdict.key = absent.front();
        verdict.evidence = {"missing"};
        verdict.fix =
            "Tie the weights before loading, or add the key: its values are those of " + present.front();
        verdict.errorText = "KeyError / Missing key(s) in state_dict: \"" + absent.front() + "\"";
        out_.push_back(std::move(verdict));
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
        if (differ.empty())
            text = sizeText(key.name, key.shape, *want);
        if (differ.empty())
            first =
                key.name + " is " + shapeText(key.shape) + " here and " + shapeText(*want) + " in the model";
        differ.push_back(key.name);
    }
    if (!empty.empty()) {
        Verdict verdict = makeVerdict("11", Severity::Failure,
                                      std::to_string(empty.size()) + " of " + std::to_string(keys_.size()) +
                                          " parameters have the shape [0]: " + listNames(empty));
        verdict.key = empty.front();
        verdict.errorText = emptyText;
        verdict.evidence = head(empty);
        out_.push_back(std::move(verdict));
    }
    if (!differ.empty()) {
        Verdict verdict =
            makeVerdict("10", Severity::Failure,
                        std::to_string(differ.size()) +
                            (differ.size() == 1 ? " shape differs: " : " shapes differ: ") + first);
        verdict.key = differ.front();
        verdict.errorText = text;
        verdict.evidence = head(differ);
        out_.push_back(std::move(verdict));
    }
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

void KeyComparison::reportRest()
{
    if (isFolderOfShards(context_.checkpoint)) {
        if (!missing_.empty()) {
            const std::string close = nearest(missing_.front(), keys_);
            Verdict verdict = makeVerdict("34", Severity::Failure,
                                          listNames(missing_) + (missing_.size() == 1 ? " is" : " are") +
                                              " not in the checkpoint" +
                                              (close.empty() ? "" : "; the nearest key is " + close));
            verdict.key = missing_.front();
            verdict.errorText =
                "RuntimeError: Missing key in checkpoint state_dict: " + missing_.front() + ".";
            verdict.evidence = head(missing_);
            out_.push_back(std::move(verdict));
        }
        if (!unexpected_.empty()) {
            Verdict verdict =
                makeVerdict("35", Severity::Warning,
                            listNames(unexpected_) + (unexpected_.size() == 1 ? " is" : " are") +
                                " not in the model and will be ignored without a word");
            verdict.key = unexpected_.front();
            verdict.evidence = head(unexpected_);
            out_.push_back(std::move(verdict));
        }
        return;
    }
    if (missing_.empty() && unexpected_.empty())
        return;
    std::string sentence;
    if (!missing_.empty())
        sentence = listNames(missing_) + (missing_.size() == 1 ? " is" : " are") + " not in the checkpoint";
    if (!unexpected_.empty())
        sentence += (sentence.empty() ? "" : "; ") + listNames(unexpected_) +
                    (unexpected_.size() == 1 ? " is" : " are") + " not in the model";
    Verdict verdict = makeVerdict("N2", Severity::Failure, sentence);
    verdict.key = missing_.empty() ? unexpected_.front() : missing_.front();
    verdict.evidence = head(missing_);
    out_.push_back(std::move(verdict));
}

std::size_t overlap(const std::vector<NamedShape>& keys, const Target& target)
{
    std::set<std::string> names;
    for (const auto& [name, shape] : target.model)
        names.insert(withoutWrappers(name));
    std::size_t count = 0;
    for (const NamedShape& key : keys)
        count += names.contains(withoutWrappers(key.name));
    return count;
}

// The names by which the checkpoint can be meant: those of a state dict in it, or for sharded folders the
// flat keys. The list with most in common with the target is compared.
std::vector<NamedShape> namesFor(const RuleContext& context)
{
    const Checkpoint& checkpoint = context.checkpoint;
    std::vector<std::vector<NamedShape>> candidates;
    for (const ModelPart& part : context.parts.models) {
        std::vector<NamedShape> keys;
        for (const ModelKey& key : part.keys)
            keys.push_back({key.name, shapeOf(checkpoint, key.tensor)});
        candidates.push_back(std::move(keys));
    }
    if (isFolderOfShards(checkpoint)) {
        std::unordered_map<std::string, std::vector<std::int64_t>> shapes;
        for (const TensorLeaf& leaf : listTensors(checkpoint))
            shapes.emplace(leaf.name, shapeOf(checkpoint, static_cast<std::uint32_t>(
                                                              leaf.tensor - checkpoint.tensors.data())));
        std::vector<NamedShape> flat;
        for (const std::string& key : checkpoint.flatKeys) {
            const auto found = shapes.find(key);
            flat.push_back({key, found == shapes.end() ? std::vector<std::int64_t>{} : found->second,
                            found != shapes.end()});
        }
        candidates.insert(candidates.begin(), std::move(flat));
    }
    std::vector<NamedShape> best;
    std::size_t most = 0;
    for (std::vector<NamedShape>& keys : candidates) {
        const std::size_t common = overlap(keys, *context.target);
        if (best.empty() || common > most) {
            most = common;
            best = std::move(keys);
        }
    }
    return best;
}

// What names alone tell when it is not known what they will be loaded into.
void withoutTarget(const RuleContext& context, std::vector<Verdict>& out)
{
    const ModelPart* model = context.parts.model();
    if (!model)
        return;
    Names names;
    std::size_t empty = 0, weights = 0;
    for (const ModelKey& key : model->keys) {
        names.push_back(key.name);
        const TensorInfo& tensor = context.checkpoint.tensors[key.tensor];
        const auto shape = context.checkpoint.shape(tensor);
        const bool parameter =
            dtypeInfo(tensor.dtype).kind == DTypeClass::Float && lastSegment(key.name) != "running_mean";
        weights += parameter;
        empty += parameter && shape.size() == 1 && shape[0] == 0;
    }
    if (empty > 1 && empty * 2 > weights) {
        Verdict verdict = makeVerdict("11", Severity::Warning,
                                      std::to_string(empty) + " of " + std::to_string(weights) +
                                          " parameters have the shape [0]");
        out.push_back(std::move(verdict));
    }
    const bool averaged = std::find(names.begin(), names.end(), "n_averaged") != names.end();
    std::erase(names, "n_averaged");
    const std::string prefix = commonPrefix(names);
    std::vector<std::string> leading;
    for (const std::string_view segment : splitKey(prefix)) {
        if (!isWrapperSegment(segment))
            break;
        leading.emplace_back(segment);
    }
    if (!leading.empty()) {
        std::string text;
        for (const std::string& segment : leading)
            text += segment + ".";
        const bool compiled = std::find(leading.begin(), leading.end(), "_orig_mod") != leading.end();
        Verdict verdict =
            makeVerdict(averaged   ? "6"
                        : compiled ? "4"
                                   : "1",
                        Severity::Info,
                        averaged ? "n_averaged beside keys with module. is the state of an AveragedModel"
                                 : "All keys carry the prefix " + text);
        if (!averaged)
            verdict.fix = "For a model without the wrapper strip it: ckpt convert --strip " + text;
        out.push_back(std::move(verdict));
    } else if (!model->path.empty() && prefix == "model." &&
               context.checkpoint.rootValue().is(ValueKind::Dict) &&
               context.checkpoint.rootValue().get("pytorch-lightning_version").valid()) {
        out.push_back(makeVerdict("8", Severity::Info,
                                  "A Lightning checkpoint: the weights lie in " + model->path +
                                      " and carry the prefix model."));
    }
    Names inside, parametrized;
    for (const std::string& name : names) {
        const std::string plain = parametrizedName(name);
        if (!plain.empty() &&
            std::find(parametrized.begin(), parametrized.end(), plain) == parametrized.end())
            parametrized.push_back(plain);
        const auto segments = splitKey(name);
        for (std::size_t i = leading.size(); i + 1 < segments.size(); ++i) {
            if (isUnmistakableWrapper(segments[i])) {
                inside.push_back(name);
                break;
            }
        }
    }
    if (!inside.empty()) {
        Verdict verdict = makeVerdict(isFolderOfShards(context.checkpoint) ? "5" : "4", Severity::Info,
                                      "A wrapper segment stands inside " + std::to_string(inside.size()) +
                                          " keys, for instance " + inside.front());
        verdict.key = inside.front();
        verdict.fix = "For a model without the wrapper drop it: ckpt convert --drop-wrappers";
        verdict.evidence = head(inside);
        out.push_back(std::move(verdict));
    }
    if (!parametrized.empty()) {
        Verdict verdict =
            makeVerdict("7", Severity::Info, listNames(parametrized) + " is stored in parametrized form");
        verdict.key = parametrized.front();
        out.push_back(std::move(verdict));
    }
}

} // namespace

void keyRules(const RuleContext& context, std::vector<Verdict>& out)
{
    if (!context.target || context.target->model.empty()) {
        withoutTarget(context, out);
        return;
    }
    KeyComparison(context, namesFor(context), out).run();
}

} // namespace lockstep
