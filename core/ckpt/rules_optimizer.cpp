// Rows 30 to 33: groups, order and shapes of optimizer states.
#include "core/ckpt/bytes.h"
#include "core/ckpt/verdict.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace lockstep {
namespace {

using Shape = std::vector<std::int64_t>;

std::vector<std::int64_t> groupSizes(const OptimizerPart& optimizer)
{
    std::vector<std::int64_t> sizes;
    for (const OptimizerGroup& group : optimizer.groups)
        sizes.push_back(static_cast<std::int64_t>(group.params.size()));
    return sizes;
}

// Shapes of the states in the order of the groups; empty where an id has no state yet.
std::vector<std::optional<Shape>> shapesInOrder(const OptimizerPart& optimizer)
{
    std::map<std::string, const OptimizerParam*> byId;
    for (const OptimizerParam& param : optimizer.params)
        byId.emplace(param.id, &param);
    std::vector<std::optional<Shape>> shapes;
    for (const OptimizerGroup& group : optimizer.groups) {
        for (const std::string& id : group.params) {
            const auto found = byId.find(id);
            if (found == byId.end() || found->second->tensors.empty())
                shapes.emplace_back();
            else
                shapes.emplace_back(found->second->shape);
        }
    }
    return shapes;
}

// Buffers have no optimizer state; the usual ones can be told by name, integers are never trained.
bool isParameter(const Checkpoint& checkpoint, const ModelKey& key)
{
    const DTypeClass kind = dtypeInfo(checkpoint.tensors[key.tensor].dtype).kind;
    if (kind != DTypeClass::Float && kind != DTypeClass::Complex)
        return false;
    const std::string last = key.name.substr(key.name.rfind('.') + 1);
    return last != "running_mean" && last != "running_var";
}

// What torch says when a state meets a parameter of another shape: the last dimension that differs.
std::string broadcastText(const Shape& state, const Shape& parameter)
{
    for (std::size_t back = 1; back <= std::min(state.size(), parameter.size()); ++back) {
        const std::int64_t a = state[state.size() - back], b = parameter[parameter.size() - back];
        if (a == b || a == 1 || b == 1)
            continue;
        const std::size_t dimension = std::max(state.size(), parameter.size()) - back;
        return "The size of tensor a (" + std::to_string(a) + ") must match the size of tensor b (" +
               std::to_string(b) + ") at non-singleton dimension " + std::to_string(dimension);
    }
    return ""; // the shapes broadcast: no error, wrong numbers
}

void compareOrder(const OptimizerPart& optimizer, const std::vector<Shape>& wanted,
                  const std::vector<std::string>& names, bool fromModel, std::vector<Verdict>& out)
{
    const auto shapes = shapesInOrder(optimizer);
    if (shapes.size() != wanted.size())
        return;
    std::vector<Shape> here, there;
    std::size_t first = shapes.size();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (!shapes[i])
            continue;
        here.push_back(*shapes[i]);
        there.push_back(wanted[i]);
        if (*shapes[i] != wanted[i] && first == shapes.size())
            first = i;
    }
    if (first == shapes.size())
        return;
    std::sort(here.begin(), here.end());
    std::sort(there.begin(), there.end());
    const bool moved = here == there;
    // The model in the same file lists buffers nobody can tell from parameters; only a pure permutation is a
    // proof.
    if (fromModel && !moved)
        return;
    const std::string name = first < names.size() ? " (" + names[first] + ")" : "";
    Verdict verdict =
        makeVerdict("32", Severity::Failure,
                    "The state of parameter " + std::to_string(first) + " has the shape " +
                        shapeText(*shapes[first]) + " and the parameter" + name + " the shape " +
                        shapeText(wanted[first]) + (moved ? "; the same shapes occur in another order" : ""));
    verdict.key = optimizer.path;
    verdict.errorText = broadcastText(*shapes[first], wanted[first]);
    out.push_back(std::move(verdict));
}

// Names known on both sides: an order that changed among equal shapes fails without a word.
void compareNames(const RuleContext& context, const OptimizerPart& optimizer, std::vector<Verdict>& out)
{
    const std::vector<std::string>& wanted = context.target->optimizerNames;
    std::vector<std::string> saved;
    for (const OptimizerGroup& group : optimizer.groups)
        saved.insert(saved.end(), group.names.begin(), group.names.end());
    if (saved.empty() && context.parts.model())
        for (const ModelKey& key : context.parts.model()->keys)
            if (isParameter(context.checkpoint, key))
                saved.push_back(key.name);
    if (wanted.empty() || saved.size() != wanted.size() || shapesInOrder(optimizer).size() != wanted.size())
        return;
    std::vector<std::string> ids;
    std::string example;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (saved[i] == wanted[i])
            continue;
        ids.push_back(std::to_string(i));
        if (example.empty())
            example = "the state of " + saved[i] + " would go to " + wanted[i];
    }
    if (ids.empty())
        return;
    Verdict verdict = makeVerdict("32", Severity::Warning,
                                  "Ids " + listNames(ids) + " stand for other parameters now: " + example +
                                      ", and equal shapes raise no error");
    verdict.key = optimizer.path;
    verdict.evidence = ids;
    verdict.errorText.clear();
    out.push_back(std::move(verdict));
}

void compareGroups(const Target& target, const OptimizerPart& optimizer, std::vector<Verdict>& out)
{
    const std::vector<std::int64_t> here = groupSizes(optimizer);
    const std::vector<std::int64_t>& there = target.optimizerGroups;
    if (there.empty() || here == there)
        return;
    const bool count = here.size() != there.size();
    Verdict verdict =
        makeVerdict(count ? "31" : "30", Severity::Failure,
                    count ? "The checkpoint has " + std::to_string(here.size()) +
                                " parameter groups of sizes " + shapeText(here) + ", the optimizer " +
                                std::to_string(there.size()) + " of sizes " + shapeText(there)
                          : "The parameter groups have the sizes " + shapeText(here) + " here and " +
                                shapeText(there) + " in the optimizer");
    verdict.key = optimizer.path;
    out.push_back(std::move(verdict));
}

// Every state is one-dimensional: the optimizer was built on FSDP's flattened parameters, cut by the number
// of ranks.
bool isFlat(const OptimizerPart& optimizer)
{
    bool any = false;
    for (const OptimizerParam& param : optimizer.params) {
        if (!param.hasShape)
            continue;
        any = true;
        if (param.shape.size() != 1)
            return false;
    }
    return any;
}

// Flat states are cut by the number of ranks, so another number cuts them otherwise.
void compareWorldSize(const RuleContext& context, const OptimizerPart& optimizer, std::vector<Verdict>& out)
{
    if (!context.target || !context.target->worldSize)
        return;
    const std::int64_t saved = context.rankFiles, now = *context.target->worldSize;
    if (saved <= 0 || now <= 0 || saved == now || !isFlat(optimizer))
        return;
    Verdict verdict = makeVerdict("33", Severity::Failure,
                                  "The flat optimizer states were saved by " + std::to_string(saved) +
                                      " ranks and are to be loaded by " + std::to_string(now) +
                                      "; their sizes differ by that ratio");
    verdict.key = optimizer.path;
    const auto first = std::find_if(optimizer.params.begin(), optimizer.params.end(),
                                    [](const OptimizerParam& param) { return param.hasShape; });
    const std::int64_t here = first->shape[0]; // isFlat(): there is one
    if (std::int64_t all = 0; mulInto(here, saved, all))
        verdict.errorText = "The size of tensor a (" + std::to_string(here) +
                            ") must match the size of tensor b (" + std::to_string(all / now) + ")";
    out.push_back(std::move(verdict));
}

} // namespace

void optimizerRules(const RuleContext& context, std::vector<Verdict>& out)
{
    for (const OptimizerPart& optimizer : context.parts.optimizers) {
        if (context.target && context.target->hasOptimizer) {
            const std::size_t before = out.size();
            compareGroups(*context.target, optimizer, out);
            if (out.size() == before)
                compareOrder(optimizer, context.target->optimizerParams, context.target->optimizerNames,
                             false, out);
            if (out.size() == before)
                compareNames(context, optimizer, out);
        } else if (context.parts.model() && context.parts.optimizers.size() == 1 &&
                   (context.checkpoint.container == Container::Zip ||
                    context.checkpoint.container == Container::Legacy)) {
            // Only a pickle keeps the order of the parameters; safetensors and folders sort their keys.
            std::vector<Shape> shapes;
            std::vector<std::string> names;
            for (const ModelKey& key : context.parts.model()->keys) {
                if (!isParameter(context.checkpoint, key))
                    continue;
                const auto shape = context.checkpoint.shape(context.checkpoint.tensors[key.tensor]);
                shapes.emplace_back(shape.begin(), shape.end());
                names.push_back(key.name);
            }
            compareOrder(optimizer, shapes, names, true, out);
        }
        compareWorldSize(context, optimizer, out);
    }
}

} // namespace lockstep
