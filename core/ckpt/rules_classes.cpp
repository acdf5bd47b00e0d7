// Rows 45 to 47: whole modules, classes that weights_only=True refuses, and what an older reader does not know.
#include "core/ckpt/verdict.h"
#include "core/ckpt/walk.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace lockstep {
namespace {

std::string quoted(const std::string& global)
{
    return "Unsupported global: GLOBAL " + global + " was not an allowed global by default";
}

bool hasGlobal(const Checkpoint& checkpoint, std::string_view name)
{
    return std::any_of(checkpoint.globals.begin(), checkpoint.globals.end(),
                       [&](const GlobalUse& use) { return use.name == name; });
}

bool usesModule(const Checkpoint& checkpoint, std::string_view prefix)
{
    return std::any_of(checkpoint.globals.begin(), checkpoint.globals.end(),
                       [&](const GlobalUse& use) { return use.name.starts_with(prefix); });
}

// Where each class is used: path of the first leaf of that class.
std::map<std::string, std::string> classPaths(const Checkpoint& checkpoint)
{
    std::map<std::string, std::string> paths;
    walkLeaves(checkpoint, [&](const Leaf& leaf) {
        if (leaf.value.is(ValueKind::Object))
            paths.emplace(leaf.value.className(), leaf.path);
        else if (leaf.value.is(ValueKind::Global))
            paths.emplace(leaf.value.text(), leaf.path);
        else if (leaf.value.is(ValueKind::NumpyScalar))
            paths.emplace("numpy.scalar", leaf.path);
        else if (leaf.value.is(ValueKind::NumpyArray))
            paths.emplace("numpy.ndarray", leaf.path);
    });
    return paths;
}

// Classes a container's own format uses: not a finding there.
bool partOfFormat(const Checkpoint& checkpoint, std::string_view name)
{
    if (checkpoint.container == Container::Dcp)
        return name.starts_with("torch.") || name.starts_with("pathlib.") ||
               name.starts_with("collections.") || name == "builtins.getattr" || name == "builtins.set" ||
               name == "_codecs.encode";
    return false;
}

// Modules whose functions act on the machine. No list of bad names is complete: what is not on it is not called safe.
bool actsOnTheMachine(std::string_view name)
{
    constexpr std::string_view modules[] = {"os.",           "posix.",
                                            "nt.",           "subprocess.",
                                            "sys.",          "socket.",
                                            "shutil.",       "runpy.",
                                            "importlib.",    "ctypes.",
                                            "pty.",          "webbrowser.",
                                            "commands.",     "builtins.eval",
                                            "builtins.exec", "builtins.compile",
                                            "builtins.open", "builtins.__import__",
                                            "builtins.apply"};
    return std::any_of(std::begin(modules), std::end(modules),
                       [&](std::string_view m) { return name.starts_with(m); });
}

std::string_view topModule(std::string_view name)
{
    return name.substr(0, name.find('.'));
}

// Classes that weights_only=True refuses and that are used at one place of the tree.
struct BlockedUses {
    std::string path; // empty: no leaf of the tree is of these classes
    std::vector<const GlobalUse*> uses;
};

// Classes without a place of their own go with those of their module, unless they act on the machine.
std::vector<BlockedUses> blockedUses(const Checkpoint& checkpoint)
{
    const auto paths = classPaths(checkpoint);
    std::vector<BlockedUses> groups;
    std::vector<const GlobalUse*> homeless;
    std::unordered_map<std::string_view, std::size_t> byPath;
    for (const GlobalUse& use : checkpoint.globals) {
        if (use.allowed || partOfFormat(checkpoint, use.name))
            continue;
        auto place = paths.find(use.name);
        if (place == paths.end() && use.name.starts_with("numpy"))
            place = paths.find(use.name.ends_with("scalar") ? "numpy.scalar" : "numpy.ndarray");
        if (place == paths.end() || actsOnTheMachine(use.name)) {
            homeless.push_back(&use);
            continue;
        }
        const auto [group, fresh] = byPath.emplace(place->second, groups.size());
        if (fresh)
            groups.push_back({place->second, {}});
        groups[group->second].uses.push_back(&use);
    }
    // getattr is how pickles name nested classes and enum members: it belongs to whatever else was found.
    std::stable_partition(homeless.begin(), homeless.end(),
                          [](const GlobalUse* use) { return use->name != "builtins.getattr"; });
    std::unordered_map<std::string_view, std::size_t> byModule; // the first group of each
    for (std::size_t i = 0; i < groups.size(); ++i)
        byModule.emplace(topModule(groups[i].uses.front()->name), i);
    for (const GlobalUse* use : homeless) {
        if (use->name == "builtins.getattr" && !groups.empty()) {
            groups.front().uses.push_back(use);
            continue;
        }
        const auto [group, fresh] = byModule.emplace(topModule(use->name), groups.size());
        if (!fresh && !actsOnTheMachine(use->name))
            groups[group->second].uses.push_back(use);
        else
            groups.push_back({"", {use}});
    }
    return groups;
}

Verdict blockedVerdict(const BlockedUses& blocked)
{
    std::vector<std::string> names;
    for (const GlobalUse* use : blocked.uses)
        names.push_back(use->name);
    const bool one = names.size() == 1;
    const bool acts = actsOnTheMachine(names.front());
    std::string sentence =
        listNames(names) + (blocked.path.empty()
                                ? (one ? " is named by the pickle" : " are named by the pickle")
                                : (one ? " is used at " : " are used at ") + blocked.path);
    sentence += acts ? "; a reader without weights_only=True would run it"
                     : " and weights_only=True refuses " + std::string(one ? "it" : "them");
    Verdict verdict = makeVerdict("46", acts ? Severity::Failure : Severity::Warning, sentence);
    if (acts)
        verdict.fix = "Do not load this file; ask where it comes from";
    verdict.key = blocked.path;
    verdict.offset = blocked.uses.front()->offset;
    verdict.errorText = quoted(names.front());
    verdict.evidence = names;
    return verdict;
}

void newerFeatures(const RuleContext& context, std::vector<Verdict>& out)
{
    const Checkpoint& checkpoint = context.checkpoint;
    if (checkpoint.refusal.find("Unsupported operand") != std::string::npos) {
        Verdict verdict =
            makeVerdict("47", Severity::Warning,
                        "The pickle uses opcodes beyond protocol 2, which weights_only=True does not know (" +
                            checkpoint.refusal + ")");
        verdict.errorText = checkpoint.refusal;
        verdict.evidence = {"protocol 2"};
        out.push_back(std::move(verdict));
    }
    if (!context.target)
        return;
    const auto before = [](const std::string& have, std::vector<int> need) {
        need.resize(3);
        return !have.empty() && parseVersion(have) < need;
    };
    const std::string& torch = context.target->torchVersion;
    if (before(torch, {2, 1}) && hasGlobal(checkpoint, "torch._utils._rebuild_tensor_v3")) {
        std::vector<std::string> keys;
        for (const TensorLeaf& leaf : listTensors(checkpoint))
            if (dtypeInfo(leaf.tensor->dtype).storageClass.empty())
                keys.push_back(leaf.name);
        Verdict verdict = makeVerdict("47", Severity::Failure,
                                      listNames(keys) +
                                          " needs torch 2.1 or later: its element type is saved with "
                                          "_rebuild_tensor_v3, and the reader is torch " +
                                          torch);
        verdict.key = keys.empty() ? "" : keys.front();
        verdict.evidence = {"_rebuild_tensor_v3"};
        out.push_back(std::move(verdict));
    }
    if (before(torch, {1, 13})) {
        std::vector<std::string> keys;
        for (const TensorLeaf& leaf : listTensors(checkpoint))
            if (leaf.tensor->conj || leaf.tensor->neg)
                keys.push_back(leaf.name);
        if (!keys.empty()) {
            Verdict verdict =
                makeVerdict("47", Severity::Failure,
                            listNames(keys) + " carries a conjugate or negative bit, which torch " + torch +
                                " cannot rebuild");
            verdict.key = keys.front();
            verdict.errorText = "_rebuild_tensor_v2() takes 6 positional arguments but 7 were given";
            out.push_back(std::move(verdict));
        }
    }
    if (before(torch, {1, 6}) && checkpoint.container == Container::Zip) {
        Verdict verdict = makeVerdict("47", Severity::Failure,
                                      "The zip form came with torch 1.6; the reader is torch " + torch);
        out.push_back(std::move(verdict));
    }
    if (before(context.target->numpyVersion, {2, 0}) && usesModule(checkpoint, "numpy._core")) {
        const auto paths = classPaths(checkpoint);
        const auto place = paths.find("numpy.ndarray");
        Verdict verdict = makeVerdict("47", Severity::Failure,
                                      "A numpy object was written by numpy 2; the reader has numpy " +
                                          context.target->numpyVersion);
        verdict.key = place == paths.end() ? "" : displayName(place->second);
        verdict.errorText = "No module named 'numpy._core'";
        verdict.evidence = {"numpy 2"};
        out.push_back(std::move(verdict));
    }
}

} // namespace

void classRules(const RuleContext& context, std::vector<Verdict>& out)
{
    const Checkpoint& checkpoint = context.checkpoint;
    const bool distributed = std::any_of(out.begin(), out.end(), [](const Verdict& v) {
        return v.row == "12" || v.row == "13" || v.row == "15";
    });
    const ModelPart* model = nullptr;
    for (const ModelPart& part : context.parts.models)
        if (part.wholeModule)
            model = model ? model : &part;
    if (model && !checkpoint.torchScript) {
        std::vector<std::string> keys;
        for (const ModelKey& key : model->keys)
            keys.push_back(key.name);
        Verdict verdict = makeVerdict("45", Severity::Failure,
                                      "The file holds a module of class " + model->moduleClass + " with " +
                                          std::to_string(keys.size()) + " tensors, not a state dict");
        verdict.key = model->path;
        verdict.evidence = keys;
        verdict.errorText = quoted(model->moduleClass);
        out.push_back(std::move(verdict));
    } else if (!distributed && !checkpoint.torchScript) {
        constexpr std::size_t kMost = 30;
        const std::vector<BlockedUses> blocked = blockedUses(checkpoint);
        for (std::size_t i = 0; i < blocked.size() && i < kMost; ++i)
            out.push_back(blockedVerdict(blocked[i]));
    }
    newerFeatures(context, out);
}

} // namespace lockstep
