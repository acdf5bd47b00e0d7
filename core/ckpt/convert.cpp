#include "core/ckpt/convert.h"

#include "core/ckpt/safetensors_writer.h"
#include "core/ckpt/save_tree.h"

#include <map>

namespace lockstep {
namespace {

// safetensors has no sharing: names over one storage are written once each.
void noteTies(SaveTree& tree)
{
    std::map<const SaveStorage*, std::size_t> uses;
    for (const SaveEntry& entry : tree.tensors)
        ++uses[entry.tensor.storage.get()];
    std::size_t shared = 0;
    for (const auto& [storage, count] : uses)
        shared += count > 1 ? count : 0;
    if (shared > 0)
        tree.report.notes.push_back(std::to_string(shared) +
                                    " tensors shared memory; each is written in full and the tie is lost");
}

} // namespace

Result<ConvertReport> previewConvert(const Checkpoint& checkpoint, const ConvertOptions& options)
{
    Result<SaveTree> tree = buildSaveTree(checkpoint, options);
    if (!tree)
        return tree.error();
    noteTies(*tree);
    return std::move(tree->report);
}

Result<ConvertReport> convertCheckpoint(const Checkpoint& checkpoint, const std::string& output,
                                        const ConvertOptions& options)
{
    Result<SaveTree> tree = buildSaveTree(checkpoint, options);
    if (!tree)
        return tree.error();
    noteTies(*tree);
    TorchZipOptions zip;
    zip.durable = options.durable;
    const Result<WrittenCheckpoint> written =
        options.format == OutputFormat::Safetensors
            ? writeSafetensors(output, checkpoint, tree->tensors, options.durable)
            : writeTorchZip(output, tree->root, zip);
    if (!written)
        return written.error();
    tree->report.bytes = written->bytes;
    tree->report.needsTorch = written->needsTorch;
    for (const std::string& type : written->newerBecauseOf)
        tree->report.notes.push_back("Type " + type + " needs torch " + written->needsTorch +
                                     " or later to load");
    return std::move(tree->report);
}

} // namespace lockstep
