#include "core/ckpt/parts.h"

#include <algorithm>
#include <array>

namespace lockstep {
namespace {

constexpr int kMaxDepth = 6;              // state dicts lie near the root
constexpr std::size_t kMaxNodes = 200000; // visited; a hostile graph may unfold without end

// In order of preference where several dicts hold equally many tensors.
constexpr std::array<std::string_view, 10> kModelNames = {
    "state_dict", "model_state_dict", "model",   "module", "model_state",
    "net",        "network",          "weights", "params", "generator"};

bool nameHas(std::string_view name, std::string_view part)
{
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return lower.find(part) != std::string::npos;
}

bool isOptimizer(Value dict)
{
    return dict.get("param_groups").valid() && dict.get("state").is(ValueKind::Dict);
}

std::string keyText(Value key)
{
    if (key.is(ValueKind::Str))
        return std::string(key.text());
    if (key.is(ValueKind::Int) || key.is(ValueKind::BigInt))
        return key.decimal();
    return {};
}

class Finder
{
public:
    explicit Finder(Parts& parts) : parts_(parts) {}

    void walk(Value node, const std::string& path, std::string_view name, int depth)
    {
        if (!node.valid() || depth > kMaxDepth || ++visited_ > kMaxNodes)
            return;
        if (node.is(ValueKind::Object)) {
            if (isModule(node))
                addModule(node, path);
            return;
        }
        if (node.is(ValueKind::List) || node.is(ValueKind::Tuple)) {
            for (std::size_t i = 0; i < node.size() && i < 64; ++i)
                walk(node.item(i), join(path, std::to_string(i)), name, depth + 1);
            return;
        }
        if (!node.is(ValueKind::Dict))
            return;
        if (isOptimizer(node)) {
            addOptimizer(node, path);
            return;
        }
        noteByName(node, name);
        if (isRngName(name))
            return;
        addModel(node, path);
        for (std::size_t i = 0; i < node.size(); ++i) {
            const std::string key = keyText(node.key(i));
            noteByName(node.item(i), key);
            walk(node.item(i), join(path, key), key, depth + 1);
        }
    }

private:
    static std::string join(const std::string& path, const std::string& key)
    {
        return path.empty() ? key : path + "." + key;
    }
    static bool isRngName(std::string_view name)
    {
        return nameHas(name, "rng") || nameHas(name, "random_state") || nameHas(name, "random_seed") ||
               name == "torch_manual_seed";
    }
    static bool isModule(Value node)
    {
        const Value state = node.state();
        return state.is(ValueKind::Dict) && state.get("_parameters").valid() && state.get("_modules").valid();
    }

    void noteByName(Value value, std::string_view name)
    {
        const auto take = [&](bool matches, bool& has, Value& slot) {
            if (matches && !has) {
                has = true;
                slot = value;
            }
        };
        take(nameHas(name, "scheduler"), parts_.hasScheduler, parts_.scheduler);
        take(nameHas(name, "scaler"), parts_.hasScaler, parts_.scaler);
        take(isRngName(name), parts_.hasRng, parts_.rng);
        take(nameHas(name, "sampler") || nameHas(name, "dataloader"), parts_.hasSampler, parts_.sampler);
    }

    void addModel(Value dict, const std::string& path)
    {
        ModelPart part;
        for (std::size_t i = 0; i < dict.size(); ++i) {
            if (!dict.item(i).is(ValueKind::Tensor) || !dict.key(i).is(ValueKind::Str))
                continue;
            const std::string key(dict.key(i).text());
            if (!isRngName(key))
                part.keys.push_back({key, dict.item(i).tensorIndex()});
        }
        if (part.keys.empty())
            return;
        part.path = path;
        part.dict = dict;
        parts_.models.push_back(std::move(part));
    }

    // A pickled nn.Module keeps its parameters in dicts of its own; together they are what state_dict() would
    // have given.
    void addModule(Value module, const std::string& path)
    {
        ModelPart part;
        part.path = path;
        part.wholeModule = true;
        part.moduleClass = std::string(module.className());
        collectModule(module, "", part, 0);
        if (!part.keys.empty())
            parts_.models.push_back(std::move(part));
    }
    void collectModule(Value module, const std::string& prefix, ModelPart& part, int depth)
    {
        if (depth > 100 || !module.is(ValueKind::Object) || ++visited_ > kMaxNodes)
            return;
        const Value state = module.state();
        if (!state.is(ValueKind::Dict))
            return;
        for (const char* kind : {"_parameters", "_buffers"}) {
            const Value dict = state.get(kind);
            for (std::size_t i = 0; dict.is(ValueKind::Dict) && i < dict.size(); ++i)
                if (dict.item(i).is(ValueKind::Tensor) && dict.key(i).is(ValueKind::Str))
                    part.keys.push_back(
                        {prefix + std::string(dict.key(i).text()), dict.item(i).tensorIndex()});
        }
        const Value children = state.get("_modules");
        for (std::size_t i = 0; children.is(ValueKind::Dict) && i < children.size(); ++i)
            collectModule(children.item(i), prefix + keyText(children.key(i)) + ".", part, depth + 1);
    }

    void addOptimizer(Value dict, const std::string& path)
    {
        OptimizerPart part;
        part.path = path;
        part.dict = dict;
        const Value groups = dict.get("param_groups");
        for (std::size_t i = 0; groups.is(ValueKind::List) && i < groups.size(); ++i) {
            OptimizerGroup group;
            if (groups.item(i).is(ValueKind::Dict)) {
                const Value params = groups.item(i).get("params");
                for (std::size_t k = 0; params.is(ValueKind::List) && k < params.size(); ++k)
                    group.params.push_back(keyText(params.item(k)));
                const Value names = groups.item(i).get("param_names");
                for (std::size_t k = 0; names.is(ValueKind::List) && k < names.size(); ++k)
                    group.names.push_back(keyText(names.item(k)));
            }
            part.groups.push_back(std::move(group));
        }
        const Value state = dict.get("state");
        for (std::size_t i = 0; i < state.size(); ++i) {
            OptimizerParam param;
            param.id = keyText(state.key(i));
            const Value slots = state.item(i);
            for (std::size_t k = 0; slots.is(ValueKind::Dict) && k < slots.size(); ++k) {
                if (!slots.item(k).is(ValueKind::Tensor))
                    continue;
                const std::uint32_t index = slots.item(k).tensorIndex();
                param.tensors.push_back({keyText(slots.key(k)), index});
                const auto shape = slots.checkpoint()->shape(slots.item(k).tensor());
                if (!param.hasShape && !shape.empty()) {
                    param.hasShape = true;
                    param.shape.assign(shape.begin(), shape.end());
                }
            }
            part.params.push_back(std::move(param));
        }
        parts_.optimizers.push_back(std::move(part));
    }

    Parts& parts_;
    std::size_t visited_ = 0;
};

std::size_t preference(const ModelPart& part)
{
    const std::string last = part.path.substr(part.path.rfind('.') + 1);
    const auto found = std::find(kModelNames.begin(), kModelNames.end(), last);
    std::size_t rank = part.path.empty() ? 0 : static_cast<std::size_t>(found - kModelNames.begin()) + 1;
    if (nameHas(part.path, "ema"))
        rank += 100;
    return rank;
}

} // namespace

Parts findParts(const Checkpoint& checkpoint)
{
    Parts parts;
    Finder(parts).walk(checkpoint.rootValue(), "", "", 0);
    // One optimizer file per rank; the reader has compared their number with the recorded one.
    if (checkpoint.container == Container::Zero)
        for (const auto& file : checkpoint.files)
            parts.zeroWorldSize += file && file->name().ends_with("_optim_states.pt");
    std::stable_sort(parts.models.begin(), parts.models.end(), [](const ModelPart& x, const ModelPart& y) {
        return x.keys.size() != y.keys.size() ? x.keys.size() > y.keys.size() : preference(x) < preference(y);
    });
    return parts;
}

std::string listNames(const std::vector<std::string>& names, std::size_t most)
{
    std::string text;
    const std::size_t shown = names.size() > most + 1 ? most : names.size();
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0)
            text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    if (shown < names.size())
        text += " and " + std::to_string(names.size() - shown) + " more";
    return text;
}

std::string shapeText(std::span<const std::int64_t> shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

} // namespace lockstep
