// Rows 42 to 44: tied weights, views that keep a large storage, device tags.
#include "core/ckpt/element_diff.h"
#include "core/ckpt/storage_use.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/ckpt/verdict.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>

namespace lockstep {
namespace {

const ModelKey* findKey(const ModelPart& model, const std::string& name)
{
    for (const ModelKey& key : model.keys)
        if (key.name == name)
            return &key;
    return nullptr;
}

bool sameMemory(const TensorInfo& a, const TensorInfo& b)
{
    return a.storage != kNone && a.storage == b.storage && a.offset == b.offset;
}

// Element-wise comparison of two tensors of one type and shape; nullopt if one cannot be read.
std::optional<ElementDiff> compare(const Checkpoint& checkpoint, const TensorInfo& a, const TensorInfo& b)
{
    if (repeatsBeyondReason(checkpoint, a) || repeatsBeyondReason(checkpoint, b))
        return std::nullopt;
    const auto x = TensorBytes::open(checkpoint, a), y = TensorBytes::open(checkpoint, b);
    if (!x.ok() || !y.ok() || x->elements() != y->elements() || x->dtype() != y->dtype())
        return std::nullopt;
    ElementDiff diff;
    constexpr std::uint64_t kStep = 1 << 16;
    std::vector<std::byte> p(kStep * x->elementSize()), q(p.size());
    for (std::uint64_t done = 0; done < x->elements(); done += kStep) {
        const std::uint64_t n = std::min(kStep, x->elements() - done);
        x->read(done, n, p.data());
        y->read(done, n, q.data());
        accumulateDiff(x->dtype(), p.data(), y->dtype(), q.data(), n, diff);
    }
    return diff;
}

void reportTie(const Checkpoint& checkpoint, const ModelKey& a, const ModelKey& b, bool expected,
               std::vector<Verdict>& out)
{
    const TensorInfo& x = checkpoint.tensors[a.tensor];
    const TensorInfo& y = checkpoint.tensors[b.tensor];
    Verdict verdict;
    if (sameMemory(x, y)) {
        verdict = makeVerdict("42", Severity::Info, a.name + " and " + b.name + " share one storage");
        verdict.evidence = {"shared", a.name, b.name};
        verdict.fix = "Keep torch's own format to keep the tie; safetensors refuses shared memory";
    } else {
        const auto diff = compare(checkpoint, x, y);
        if (!diff)
            return;
        if (diff->bitsDiffer == 0) {
            verdict = makeVerdict("42", Severity::Info,
                                  a.name + " and " + b.name + " are equal copies, no longer tied");
            verdict.evidence = {"equal", a.name, b.name};
            verdict.errorText.clear();
        } else if (expected) {
            verdict = makeVerdict("42", Severity::Warning,
                                  a.name + " and " + b.name + " are tied in the model and differ here in " +
                                      std::to_string(diff->valuesDiffer) + " of " +
                                      std::to_string(diff->a.elements) + " elements");
            verdict.evidence = {"diverged", a.name, b.name, std::to_string(diff->valuesDiffer)};
            verdict.fix = "Find out which copy was trained; loading keeps only the one that is copied last";
            verdict.errorText.clear();
        } else {
            return;
        }
    }
    verdict.key = a.name;
    out.push_back(std::move(verdict));
}

// Pairs that language models usually tie.
bool usuallyTied(const std::string& a, const std::string& b)
{
    const auto isInput = [](const std::string& n) {
        return n.find("emb") != std::string::npos || n.find("wte") != std::string::npos;
    };
    const auto isOutput = [](const std::string& n) {
        return n.find("lm_head") != std::string::npos || n.find("decoder.weight") != std::string::npos ||
               n.find("output.weight") != std::string::npos;
    };
    return (isInput(a) && isOutput(b)) || (isInput(b) && isOutput(a));
}

void tiedRules(const RuleContext& context, std::vector<Verdict>& out)
{
    const ModelPart* model = context.parts.model();
    if (!model)
        return;
    const Checkpoint& checkpoint = context.checkpoint;
    constexpr std::size_t kMostPairs = 1000; // compared; real models tie a handful
    std::set<std::pair<std::string, std::string>> done;
    const auto report = [&](const ModelKey& a, const ModelKey& b, bool expected) {
        if (done.size() < kMostPairs && done.emplace(std::minmax(a.name, b.name)).second)
            reportTie(checkpoint, a, b, expected, out);
    };
    if (context.target)
        for (const auto& group : context.target->tied)
            for (std::size_t i = 1; i < group.size(); ++i)
                if (const ModelKey* a = findKey(*model, group[0]), *b = findKey(*model, group[i]); a && b)
                    report(*a, *b, true);
    // Keys of the same memory, whatever their names.
    std::map<std::tuple<std::uint32_t, std::int64_t, std::vector<std::int64_t>>, const ModelKey*> byMemory;
    for (const ModelKey& key : model->keys) {
        const TensorInfo& tensor = checkpoint.tensors[key.tensor];
        if (tensor.storage == kNone || checkpoint.storages[tensor.storage].bytes == 0)
            continue;
        const auto shape = checkpoint.shape(tensor);
        const auto [place, fresh] =
            byMemory.try_emplace({tensor.storage, tensor.offset, {shape.begin(), shape.end()}}, &key);
        if (!fresh)
            report(*place->second, key, false);
    }
    std::vector<const ModelKey*> candidates;
    for (const ModelKey& key : model->keys)
        if (checkpoint.tensors[key.tensor].rank == 2)
            candidates.push_back(&key);
    for (std::size_t i = 0; i < candidates.size() && candidates.size() < 2000; ++i) {
        for (std::size_t k = i + 1; k < candidates.size(); ++k) {
            if (!usuallyTied(candidates[i]->name, candidates[k]->name))
                continue;
            const auto a = checkpoint.shape(checkpoint.tensors[candidates[i]->tensor]);
            const auto b = checkpoint.shape(checkpoint.tensors[candidates[k]->tensor]);
            if (std::equal(a.begin(), a.end(), b.begin(), b.end()))
                report(*candidates[i], *candidates[k], false);
        }
    }
}

void viewRules(const RuleContext& context, std::vector<Verdict>& out)
{
    for (const StorageUsage& use : storageUsage(context.checkpoint)) {
        // Little is lost on small storages, and half a storage may be a deliberate slice.
        if (use.storedBytes < 4096 || use.usedBytes * 2 > use.storedBytes)
            continue;
        const double percent =
            100.0 * static_cast<double>(use.usedBytes) / static_cast<double>(use.storedBytes);
        char text[32];
        const auto end = std::to_chars(text, text + sizeof text, percent, std::chars_format::general, 2);
        Verdict verdict = makeVerdict("43", Severity::Info,
                                      listNames(use.keys) + (use.keys.size() == 1 ? " uses " : " use ") +
                                          std::string(text, end.ptr) +
                                          " % of the storage: " + std::to_string(use.usedBytes) + " of " +
                                          std::to_string(use.storedBytes) + " bytes");
        verdict.key = use.keys.empty() ? "" : use.keys.front();
        verdict.evidence = use.keys;
        out.push_back(std::move(verdict));
    }
}

void deviceRules(const RuleContext& context, std::vector<Verdict>& out)
{
    std::map<std::string, std::size_t> tags;
    for (const StorageInfo& storage : context.checkpoint.storages)
        if (!storage.device.empty() && storage.device != "cpu" && storage.device != "meta")
            ++tags[std::string(storage.device)];
    std::vector<std::string> absent, texts;
    for (const auto& [tag, count] : tags) {
        const std::string type = tag.substr(0, tag.find(':'));
        const std::int64_t index =
            tag.find(':') == std::string::npos ? 0 : std::atoll(tag.c_str() + tag.find(':') + 1);
        bool there = false;
        if (context.target && context.target->devicesGiven) {
            const auto found = context.target->devices.find(type);
            there = found != context.target->devices.end() && index < found->second;
        }
        if (there)
            continue;
        absent.push_back(tag);
        texts.push_back(std::to_string(count) + (count == 1 ? " storage" : " storages") + " on " + tag);
    }
    if (absent.empty())
        return;
    const bool known = context.target && context.target->devicesGiven;
    Verdict verdict = makeVerdict("44", known ? Severity::Failure : Severity::Info,
                                  listNames(texts, 6) + (known ? ", which the target does not have" : ""));
    verdict.evidence = absent;
    const std::string& tag = absent.front();
    const auto cuda =
        known ? context.target->devices.find("cuda") : std::map<std::string, std::int64_t>::const_iterator{};
    if (tag.starts_with("cuda") && known && cuda != context.target->devices.end() && cuda->second > 0)
        verdict.errorText = "Attempting to deserialize object on CUDA device " +
                            tag.substr(tag.find(':') + 1) + " but torch.cuda.device_count() is " +
                            std::to_string(cuda->second);
    else if (tag.starts_with("cuda"))
        verdict.errorText =
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False";
    else
        verdict.errorText =
            "don't know how to restore data location of torch.storage.UntypedStorage (tagged with " + tag +
            ")";
    out.push_back(std::move(verdict));
}

} // namespace

void storageRules(const RuleContext& context, std::vector<Verdict>& out)
{
    tiedRules(context, out);
    viewRules(context, out);
    deviceRules(context, out);
}

} // namespace lockstep
