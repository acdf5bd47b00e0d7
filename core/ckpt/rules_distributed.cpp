// Rows 12 to 15 and 41: what FSDP, DTensor and ZeRO leave in files.
#include "core/ckpt/verdict.h"
#include "core/ckpt/walk.h"

#include <algorithm>

namespace lockstep {
namespace {

std::string className(const Checkpoint& checkpoint, const TensorInfo& tensor)
{
    if (tensor.pyClass == kNone)
        return {};
    return std::string(checkpoint.value(tensor.pyClass).text());
}

// Number of ranks a DTensor was spread over: the size of the mesh in its spec, or how often the local part
// fits.
struct Shards {
    std::int64_t ranks = 0;
    std::string local; // shape of the local part
};

// Looks for the device mesh among the attributes of a DTensor.
struct MeshSearch {
    const Checkpoint& checkpoint;
    std::int64_t ranks = 0;
    int left = 1000; // values still looked at: containers that are shared unfold without end

    void look(Value value, std::string_view name, int depth)
    {
        if (!value.valid() || depth > 8 || ranks > 0 || --left < 0)
            return;
        if (value.is(ValueKind::Tensor) && (name == "mesh" || name == "_rank_map" || name == "_mesh")) {
            ranks = checkpoint.elements(value.tensor()).value_or(0);
            return;
        }
        if (value.is(ValueKind::Dict))
            lookIntoDict(value, name, depth);
        if (value.is(ValueKind::Tuple))
            lookIntoTuple(value, name, depth);
        if (value.is(ValueKind::Object)) {
            lookIntoDict(value.state(), name, depth);
            lookIntoTuple(value.args(), name, depth);
        }
    }

private:
    void lookIntoDict(Value dict, std::string_view name, int depth)
    {
        for (std::size_t i = 0; dict.is(ValueKind::Dict) && i < dict.size() && left > 0; ++i)
            look(dict.item(i), dict.key(i).is(ValueKind::Str) ? dict.key(i).text() : name, depth + 1);
    }
    void lookIntoTuple(Value tuple, std::string_view name, int depth)
    {
        for (std::size_t i = 0; tuple.is(ValueKind::Tuple) && i < tuple.size() && left > 0; ++i)
            look(tuple.item(i), name, depth + 1);
    }
};

Shards shardsOf(const Checkpoint& checkpoint, const TensorInfo& tensor)
{
    Shards shards;
    if (tensor.attributes == kNone)
        return shards;
    Value attributes = checkpoint.value(tensor.attributes);
    // BUILD with slots: (None, {...}).
    if (attributes.is(ValueKind::Tuple) && attributes.size() == 2)
        attributes = attributes.item(1);
    if (!attributes.is(ValueKind::Dict))
        return shards;
    MeshSearch mesh{checkpoint};
    mesh.look(attributes, "", 0);
    shards.ranks = mesh.ranks;
    const Value local = attributes.get("_local_tensor");
    if (!local.is(ValueKind::Tensor))
        return shards;
    const auto part = checkpoint.shape(local.tensor()), whole = checkpoint.shape(tensor);
    shards.local = shapeText(part);
    for (std::size_t i = 0; shards.ranks == 0 && i < part.size() && i < whole.size(); ++i)
        if (part[i] > 0 && part[i] < whole[i])
            shards.ranks = (whole[i] - 1) / part[i] + 1;
    return shards;
}

// The keys that FSDP, DTensor and ShardedTensor leave.
struct DistributedKeys {
    std::vector<std::string> flat, dtensors, sharded;
    std::string shardedClass;
    // A DTensor: one that is cut says more than one that every rank holds whole.
    const TensorInfo* example = nullptr;
};

DistributedKeys distributedKeys(const Checkpoint& checkpoint)
{
    DistributedKeys keys;
    bool exampleIsCut = false;
    for (const TensorLeaf& leaf : listTensors(checkpoint)) {
        // Tensors inside a wrapper (attributes, shards) are its parts, not keys.
        if (leaf.path.find("/a:") != std::string::npos || leaf.path.find("/g:") != std::string::npos)
            continue;
        const std::string last = leaf.name.substr(leaf.name.rfind('.') + 1);
        const bool flatName = last.find("_flat_param") != std::string::npos || last.starts_with("flat_param");
        if (flatName && leaf.tensor->rank == 1) {
            keys.flat.push_back(leaf.name);
            continue;
        }
        if (!leaf.tensor->wrapper)
            continue;
        const std::string name = className(checkpoint, *leaf.tensor);
        if (name.ends_with("DTensor")) {
            keys.dtensors.push_back(leaf.name);
            if (!exampleIsCut) {
                keys.example = leaf.tensor;
                exampleIsCut =
                    shardsOf(checkpoint, *leaf.tensor).local != shapeText(checkpoint.shape(*leaf.tensor));
            }
        } else if (name.ends_with("ShardedTensor")) {
            keys.sharded.push_back(leaf.name);
            keys.shardedClass = name;
        }
    }
    return keys;
}

} // namespace

void distributedRules(const RuleContext& context, std::vector<Verdict>& out)
{
    const Checkpoint& checkpoint = context.checkpoint;
    const auto [flat, dtensors, sharded, shardedClass, example] = distributedKeys(checkpoint);
    const std::string files =
        context.rankFiles > 1 ? " This is one of " + std::to_string(context.rankFiles) + " files" : "";
    if (!flat.empty()) {
        Verdict verdict = makeVerdict(
            "12", Severity::Failure,
            listNames(flat) + " is a flattened parameter: the local state dict of one rank." + files);
        verdict.key = flat.front();
        out.push_back(std::move(verdict));
    }
    if (!dtensors.empty()) {
        const Shards shards = shardsOf(checkpoint, *example);
        const std::int64_t ranks = shards.ranks > 0 ? shards.ranks : context.rankFiles;
        std::string sentence = std::to_string(dtensors.size()) + " tensors are distributed";
        if (ranks > 0)
            sentence += "; this file holds 1 of " + std::to_string(ranks) + " shards";
        if (!shards.local.empty())
            sentence +=
                " (for instance " + shards.local + " of " + shapeText(checkpoint.shape(*example)) + ")";
        Verdict verdict = makeVerdict("13", Severity::Failure, sentence);
        verdict.key = dtensors.front();
        out.push_back(std::move(verdict));
    }
    if (!sharded.empty()) {
        Verdict verdict = makeVerdict("15", Severity::Failure,
                                      std::to_string(sharded.size()) + " keys are of class " + shardedClass +
                                          ", each with one rank's shard." + files);
        verdict.key = sharded.front();
        verdict.evidence = {shardedClass};
        out.push_back(std::move(verdict));
    }
    if (context.target && context.target->modelIs == "DTensor" && dtensors.empty() && context.parts.model() &&
        checkpoint.container != Container::Dcp && checkpoint.container != Container::DcpHf)
        out.push_back(
            makeVerdict("14", Severity::Failure, "The tensors are plain and the model's are distributed"));
    if (checkpoint.container == Container::Zero && context.target && context.target->worldSize &&
        context.parts.zeroWorldSize > 0 && context.parts.zeroWorldSize != *context.target->worldSize) {
        const std::string saved = std::to_string(context.parts.zeroWorldSize),
                          now = std::to_string(*context.target->worldSize);
        Verdict verdict =
            makeVerdict("41", Severity::Failure, "Saved by " + saved + " ranks and to be loaded by " + now);
        verdict.errorText = "The checkpoint being loaded used a DP world size of " + saved +
                            " but the current world size is " + now;
        out.push_back(std::move(verdict));
    }
}

} // namespace lockstep
