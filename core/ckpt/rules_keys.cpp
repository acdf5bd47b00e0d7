// Rows 1 to 11, 34, 35 and N2: names and shapes, with or without the model to load into.
#include "core/ckpt/element_decode.h"
#include "core/ckpt/key_comparison.h"
#include "core/ckpt/walk.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace lockstep {
namespace {

using Names = std::vector<std::string>;

std::vector<std::int64_t> shapeOf(const Checkpoint& checkpoint, std::uint32_t tensor)
{
    const auto shape = checkpoint.shape(checkpoint.tensors[tensor]);
    return {shape.begin(), shape.end()};
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

// FSDP's flat parameters leave originals of shape [0] behind.
void emptyParameters(const Checkpoint& checkpoint, const ModelPart& model, std::vector<Verdict>& out)
{
    std::size_t empty = 0, weights = 0;
    for (const ModelKey& key : model.keys) {
        const TensorInfo& tensor = checkpoint.tensors[key.tensor];
        if (!isFloat(tensor.dtype) || lastSegment(key.name) == "running_mean")
            continue;
        const auto shape = checkpoint.shape(tensor);
        ++weights;
        empty += shape.size() == 1 && shape[0] == 0;
    }
    if (empty > 1 && empty * 2 > weights)
        out.push_back(makeVerdict("11", Severity::Warning,
                                  std::to_string(empty) + " of " + std::to_string(weights) +
                                      " parameters have the shape [0]"));
}

// Wrapper segments in front of all names; the number of them.
std::size_t leadingWrappers(const RuleContext& context, const ModelPart& model, Names names,
                            std::vector<Verdict>& out)
{
    const bool averaged = std::erase(names, "n_averaged") > 0;
    const std::string prefix = commonPrefix(names);
    std::size_t count = 0;
    bool compiled = false;
    std::string wrappers;
    for (const std::string_view segment : splitKey(prefix)) {
        if (!isWrapperSegment(segment))
            break;
        ++count;
        compiled = compiled || segment == "_orig_mod";
        wrappers += std::string(segment) + ".";
    }
    const Value root = context.checkpoint.rootValue();
    if (count > 0) {
        Verdict verdict =
            makeVerdict(averaged   ? "6"
                        : compiled ? "4"
                                   : "1",
                        averaged ? Severity::Info : Severity::Warning,
                        averaged ? "n_averaged beside keys with module. is the state of an AveragedModel"
                                 : "All keys carry the prefix " + wrappers);
        if (!averaged)
            verdict.fix = "For a model without the wrapper strip it: ckpt convert --strip " + wrappers;
        out.push_back(std::move(verdict));
    } else if (!model.path.empty() && prefix == "model." && root.is(ValueKind::Dict) &&
               root.get("pytorch-lightning_version").valid()) {
        out.push_back(makeVerdict("8", Severity::Info,
                                  "A Lightning checkpoint: the weights lie in " + model.path +
                                      " and carry the prefix model."));
    }
    return count;
}

void innerWrappers(const Checkpoint& checkpoint, const Names& names, std::size_t leading,
                   std::vector<Verdict>& out)
{
    Names inside;
    for (const std::string& name : names) {
        const auto segments = splitKey(name);
        for (std::size_t i = leading; i + 1 < segments.size(); ++i) {
            if (isUnmistakableWrapper(segments[i])) {
                inside.push_back(name);
                break;
            }
        }
    }
    if (inside.empty())
        return;
    Verdict verdict = makeVerdict(isFolderOfShards(checkpoint) ? "5" : "4", Severity::Warning,
                                  "A wrapper segment stands inside " + std::to_string(inside.size()) +
                                      " keys, for instance " + inside.front());
    verdict.key = inside.front();
    verdict.fix = "For a model without the wrapper drop it: ckpt convert --drop-wrappers";
    verdict.evidence = firstNames(inside);
    out.push_back(std::move(verdict));
}

void parametrizedNames(const Names& names, std::vector<Verdict>& out)
{
    Names parametrized;
    for (const std::string& name : names)
        if (const std::string plain = parametrizedName(name);
            !plain.empty() &&
            std::find(parametrized.begin(), parametrized.end(), plain) == parametrized.end())
            parametrized.push_back(plain);
    if (parametrized.empty())
        return;
    Verdict verdict =
        makeVerdict("7", Severity::Info, listNames(parametrized) + " is stored in parametrized form");
    verdict.key = parametrized.front();
    out.push_back(std::move(verdict));
}

// What names alone tell when it is not known what they will be loaded into.
void withoutTarget(const RuleContext& context, std::vector<Verdict>& out)
{
    const ModelPart* model = context.parts.model();
    if (!model)
        return;
    Names names;
    for (const ModelKey& key : model->keys)
        names.push_back(key.name);
    emptyParameters(context.checkpoint, *model, out);
    const std::size_t leading = leadingWrappers(context, *model, names, out);
    innerWrappers(context.checkpoint, names, leading, out);
    parametrizedNames(names, out);
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
