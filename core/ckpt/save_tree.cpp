#include "core/ckpt/save_tree.h"

#include "core/ckpt/float_convert.h"
#include "core/ckpt/save_values.h"
#include "core/ckpt/storage_use.h"
#include "core/ckpt/walk.h"

#include <algorithm>
#include <set>

namespace lockstep {
namespace {

// Every plain tensor under its new name: those of the model, or all where there is no model.
std::vector<SaveEntry> flatTensors(const Checkpoint& checkpoint, const ModelPart* model, ValueSaver& saver)
{
    std::vector<SaveEntry> tensors;
    RepeatBudget budget(checkpoint);
    const auto add = [&](const std::string& name, std::uint32_t index) {
        const TensorInfo& info = checkpoint.tensors[index];
        if (!saver.keeps(index) || info.wrapper || info.meta || info.layout != Layout::Strided ||
            info.extra != kNone)
            return;
        if (!budget.spend(info)) {
            saver.note(name + " repeats its bytes more often than can be written out; it was left out");
            return;
        }
        Result<SaveTensor> dense = saver.tensors().dense(index);
        if (dense)
            tensors.push_back({name, std::move(*dense), index});
        else
            saver.fail(dense.error());
    };
    if (model)
        for (const ModelKey& key : model->keys)
            add(saver.rename(key.name), key.tensor);
    else
        for (const TensorLeaf& leaf : listTensors(checkpoint))
            add(saver.rename(leaf.name), static_cast<std::uint32_t>(leaf.tensor - checkpoint.tensors.data()));
    return tensors;
}

void checkNames(const std::vector<SaveEntry>& tensors, ValueSaver& saver)
{
    std::set<std::string> names;
    for (const SaveEntry& entry : tensors)
        if (!names.insert(entry.name).second)
            saver.fail(ValueSaver::collision(entry.name));
}

void noteUselessPrefixes(const ConvertOptions& options, ConvertReport& report)
{
    for (const std::string& prefix : options.strip) {
        const bool met = std::any_of(report.renamed.begin(), report.renamed.end(), [&](const auto& pair) {
            return pair.first.find(prefix) != std::string::npos;
        });
        if (!met)
            report.notes.push_back("No key begins with " + prefix);
    }
}

std::optional<Error> obstacle(const Checkpoint& checkpoint, const ConvertOptions& options)
{
    if (checkpoint.root == kNone) {
        const CkptProblem* problem = checkpoint.fatal();
        return problem ? problem->toError()
                       : Error{ErrorKind::Input, checkpoint.path + " cannot be converted",
                               "nothing could be read", "Run ckpt verify"};
    }
    if (options.dtype && !canConvertTo(*options.dtype))
        return Error{ErrorKind::Usage,
                     "Values cannot be converted to " + std::string(dtypeInfo(*options.dtype).name),
                     "only float64, float32, float16 and bfloat16 are written", ""};
    return std::nullopt;
}

} // namespace

Result<SaveTree> buildSaveTree(const Checkpoint& checkpoint, const ConvertOptions& options)
{
    if (auto error = obstacle(checkpoint, options))
        return std::move(*error);
    const Parts parts = findParts(checkpoint);
    const ModelPart* model = parts.model();
    ValueSaver saver(checkpoint, options, parts);
    SaveTree tree;
    if (options.format == OutputFormat::Safetensors) {
        tree.tensors = flatTensors(checkpoint, model, saver);
        if (tree.tensors.empty())
            return Error{ErrorKind::Input, checkpoint.path + " cannot be written as safetensors",
                         "it holds no plain tensor", ""};
        checkNames(tree.tensors, saver);
        const std::size_t all = listTensors(checkpoint).size();
        if (all > tree.tensors.size())
            saver.note(std::to_string(all - tree.tensors.size()) +
                       " other tensors and everything that is no tensor were left out");
    } else if (options.modelOnly) {
        if (!model)
            return Error{ErrorKind::Input, checkpoint.path + " holds no model part",
                         "no dict of tensors was found", "Convert the whole file instead"};
        tree.root = saver.stateDict(*model);
        if (!model->path.empty())
            saver.note("The state dict was taken from " + model->path);
    } else {
        tree.root = saver.value(checkpoint.rootValue(), "", 0);
    }
    if (saver.error())
        return *saver.error();
    tree.report = saver.takeReport();
    for (const SaveEntry& entry : tree.tensors)
        tree.report.keys.push_back(entry.name);
    if (options.format == OutputFormat::Torch)
        noteUselessPrefixes(options, tree.report);
    if (const std::size_t converted = saver.tensors().converted(); converted > 0)
        tree.report.notes.push_back(std::to_string(converted) + " tensors were converted to " +
                                    std::string(dtypeInfo(*options.dtype).name));
    return tree;
}

} // namespace lockstep
