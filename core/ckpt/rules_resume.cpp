// Row 48: what a resumed run needs, part by part and rank by rank.
#include "core/ckpt/verdict.h"

#include <algorithm>
#include <cctype>

namespace lockstep {
namespace {

constexpr std::int64_t kCpuState = 5056; // bytes of torch's CPU generator (mt19937) state
constexpr std::int64_t kCudaState = 16;  // seed and offset of a CUDA generator

// Every tensor below a value that holds random number states, with its name.
struct RandomStates {
    std::vector<std::pair<std::string, Value>> found;
    int left = 10000; // values still looked at: containers that are shared unfold without end

    void collect(Value value, const std::string& name, int depth)
    {
        if (!value.valid() || depth > 4 || found.size() > 64 || --left < 0)
            return;
        if (value.is(ValueKind::Tensor))
            found.emplace_back(name, value);
        for (std::size_t i = 0; value.is(ValueKind::Dict) && i < value.size() && left > 0; ++i)
            collect(value.item(i),
                    value.key(i).is(ValueKind::Str) ? name + "." + std::string(value.key(i).text()) : name,
                    depth + 1);
        if (value.is(ValueKind::List) || value.is(ValueKind::Tuple))
            for (std::size_t i = 0; i < value.size() && left > 0; ++i)
                collect(value.item(i), name, depth + 1);
    }
};

void checkRandomState(const RuleContext& context, std::vector<Verdict>& out, ResumeItem& item)
{
    RandomStates states;
    states.collect(context.parts.rng, "rng", 0);
    for (const auto& [name, value] : states.found) {
        const TensorInfo& tensor = value.tensor();
        const std::int64_t size = context.checkpoint.elements(tensor).value_or(-1);
        const bool cuda = name.find("cuda") != std::string::npos || name.find("gpu") != std::string::npos;
        if (tensor.dtype != DType::UInt8) {
            Verdict verdict =
                makeVerdict("48", Severity::Failure,
                            "The random state " + name + " has the element type " +
                                std::string(dtypeInfo(tensor.dtype).name) + " instead of uint8");
            verdict.key = name;
            verdict.errorText = "RNG state must be a torch.ByteTensor";
            verdict.evidence = {"dtype " + std::string(dtypeInfo(tensor.dtype).name)};
            item.note = verdict.sentence;
            out.push_back(std::move(verdict));
        } else if (!cuda && size != kCpuState) {
            const std::string what = size == kCudaState ? ", the size of a CUDA state" : "";
            Verdict verdict =
                makeVerdict("48", Severity::Failure,
                            "The random state " + name + " has " + std::to_string(size) + " bytes" + what +
                                "; a CPU state has " + std::to_string(kCpuState));
            verdict.key = name;
            verdict.errorText =
                "Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size to be " +
                std::to_string(size);
            verdict.evidence = {std::to_string(size) + " bytes" +
                                (size == kCudaState ? ", a CUDA state" : "")};
            item.note = verdict.sentence;
            out.push_back(std::move(verdict));
        }
    }
}

bool usesScaler(const RuleContext& context)
{
    return context.target && context.target->amp == "fp16";
}

void checkScaler(const RuleContext& context, std::vector<Verdict>& out, ResumeItem& item)
{
    const Value scaler = context.parts.scaler;
    const bool empty = context.parts.hasScaler && scaler.is(ValueKind::Dict) && scaler.size() == 0;
    item.present = context.parts.hasScaler && !empty;
    if (!usesScaler(context))
        return;
    if (empty) {
        Verdict verdict =
            makeVerdict("48", Severity::Failure,
                        "The gradient scaler's state is empty: it was saved from a disabled scaler");
        verdict.key = "scaler";
        verdict.errorText = "The source state dict is empty, possibly because it was saved from a disabled "
                            "instance of GradScaler.";
        verdict.evidence = {"empty"};
        out.push_back(std::move(verdict));
    } else if (!context.parts.hasScaler) {
        Verdict verdict = makeVerdict(
            "48", Severity::Warning,
            "The run uses fp16 and the checkpoint has no gradient scaler; the loss scale starts anew");
        verdict.key = "scaler";
        verdict.errorText.clear();
        out.push_back(std::move(verdict));
    }
}

// "rng_state_0.pth" -> "rng_state_" and ".pth" with the numbers found.
struct RankFiles {
    std::string stem, extension;
    std::vector<int> ranks;
};

std::vector<RankFiles> rankStates(const std::vector<std::string>& files)
{
    std::vector<RankFiles> found;
    for (const std::string& file : files) {
        for (const char* stem : {"rng_state_", "random_states_"}) {
            const std::string prefix(stem);
            if (!file.starts_with(prefix) || file.size() <= prefix.size() ||
                !std::isdigit(static_cast<unsigned char>(file[prefix.size()])))
                continue;
            std::size_t end = prefix.size();
            while (end < file.size() && std::isdigit(static_cast<unsigned char>(file[end])))
                ++end;
            const std::string extension = file.substr(end);
            auto group = std::find_if(found.begin(), found.end(),
                                      [&](const RankFiles& g) { return g.stem == prefix; });
            if (group == found.end())
                group = found.insert(found.end(), {prefix, extension, {}});
            group->ranks.push_back(std::atoi(file.c_str() + prefix.size()));
        }
    }
    return found;
}

bool anyFile(const std::vector<std::string>& files, std::initializer_list<std::string_view> names)
{
    return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
        return std::any_of(names.begin(), names.end(),
                           [&](std::string_view name) { return file.starts_with(name); });
    });
}

// Folders of the Hugging Face Trainer and of accelerate: one file per part.
void folderRules(const RuleContext& context, const std::vector<std::string>& files, std::vector<Verdict>& out,
                 std::vector<ResumeItem>& checklist)
{
    checklist.push_back({"model", {}, anyFile(files, {"pytorch_model", "model."}), ""});
    checklist.push_back({"optimizer", {}, anyFile(files, {"optimizer"}), ""});
    checklist.push_back({"scheduler", {}, anyFile(files, {"scheduler"}), "", false});
    checklist.push_back({"scaler", {}, anyFile(files, {"scaler"}), "", usesScaler(context)});
    const int world =
        static_cast<int>(context.target && context.target->worldSize ? *context.target->worldSize : 0);
    for (const RankFiles& group : rankStates(files)) {
        std::vector<std::string> absent;
        for (int rank = 0; rank < std::min(world, 65536); ++rank) {
            const bool there = std::find(group.ranks.begin(), group.ranks.end(), rank) != group.ranks.end();
            const std::string name = group.stem + std::to_string(rank) + group.extension;
            checklist.push_back({"rng", rank, there, name});
            if (!there)
                absent.push_back(name);
        }
        if (absent.empty())
            continue;
        Verdict verdict =
            makeVerdict("48", Severity::Failure,
                        listNames(absent) + (absent.size() == 1 ? " is" : " are") + " missing: the run has " +
                            std::to_string(world) + " ranks and the folder random states of " +
                            std::to_string(group.ranks.size()));
        verdict.key = absent.front();
        verdict.file = absent.front();
        verdict.errorText = "FileNotFoundError: " + absent.front();
        verdict.evidence = absent;
        out.push_back(std::move(verdict));
    }
}

} // namespace

void resumeRules(const RuleContext& context, std::vector<Verdict>& out, std::vector<ResumeItem>& checklist)
{
    const bool resume = context.target && context.target->resume;
    const std::vector<std::string>& files = context.checkpoint.fileNames;
    if (!rankStates(files).empty()) {
        if (resume)
            folderRules(context, files, out, checklist);
        return;
    }
    const Parts& parts = context.parts;
    ResumeItem model{"model", {}, parts.model() != nullptr, ""};
    ResumeItem optimizer{"optimizer", {}, !parts.optimizers.empty(), ""};
    ResumeItem scheduler{"scheduler", {}, parts.hasScheduler, "", false};
    ResumeItem scaler{"scaler", {}, false, "", usesScaler(context)};
    ResumeItem rng{"rng", {}, parts.hasRng, ""};
    ResumeItem sampler{"sampler", {}, parts.hasSampler, ""};
    if (!resume) {
        scaler.present = parts.hasScaler;
        checklist = {model, optimizer, scheduler, scaler, rng, sampler};
        return;
    }
    checkScaler(context, out, scaler);
    checkRandomState(context, out, rng);
    std::vector<std::string> absent;
    for (const ResumeItem* item : {&optimizer, &scheduler, &rng})
        if (!item->present)
            absent.push_back(item->part);
    // A run without a scheduler, or one that does not care for the random states, is complete without them.
    if (!optimizer.present) {
        Verdict verdict = makeVerdict("48", Severity::Failure,
                                      "The checkpoint holds no " + listNames(absent) +
                                          (model.present ? "; only the model is there" : ""));
        verdict.key = absent.front();
        verdict.errorText = "Trying to restore optimizer state but checkpoint contains only the model";
        verdict.evidence = absent;
        out.push_back(std::move(verdict));
    } else if (!rng.present) {
        Verdict verdict =
            makeVerdict("48", Severity::Warning,
                        "The checkpoint holds no random state; the resumed run draws other numbers");
        verdict.key = "rng";
        verdict.errorText.clear();
        verdict.evidence = {"rng"};
        out.push_back(std::move(verdict));
    }
    checklist = {model, optimizer, scheduler, scaler, rng, sampler};
}

} // namespace lockstep
