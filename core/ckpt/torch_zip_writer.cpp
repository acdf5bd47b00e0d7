#include "core/ckpt/torch_zip_writer.h"

#include "core/ckpt/atomic_file.h"
#include "core/ckpt/pickle_writer.h"
#include "core/ckpt/zip_writer.h"

#include <cstdio>

namespace lockstep {
namespace {

// 40 digits: a hash over the record names and one over their CRCs, as in
// PyTorchStreamWriter::writeSerializationId. Torch compares it with nothing; it tells two saves apart.
std::string serializationId(const std::string& names, std::uint32_t combinedCrc)
{
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : names)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    char text[48];
    std::snprintf(text, sizeof text, "%020llu%020u", static_cast<unsigned long long>(hash), combinedCrc);
    return text;
}

} // namespace

Result<WrittenCheckpoint> writeTorchZip(const std::string& path, const SaveValue& root,
                                        const TorchZipOptions& options)
{
    Result<PickledTree> tree = pickleTree(root);
    if (!tree)
        return tree.error();
    Result<AtomicFile> file = AtomicFile::create(path, options.durable);
    if (!file)
        return file.error();
    ZipWriter zip(*file);
    std::string names;
    const auto name = [&](const std::string& record) {
        names += record + "\n";
        return options.folder + "/" + record;
    };

    // The pickle comes first, and there is no .format_version: that record would promise torch's own exact
    // layout.
    Status status = zip.add(name("data.pkl"), tree->bytes);
    if (status.ok())
        status = zip.add(name("byteorder"), "little");
    for (std::size_t i = 0; status.ok() && i < tree->storages.size(); ++i) {
        const SaveStorage& storage = *tree->storages[i];
        status = zip.add(name("data/" + std::to_string(i)), storage.size, [&](const ByteSink& sink) {
            return storage.produce ? storage.produce(sink) : sink(storage.data);
        });
    }
    if (status.ok())
        status = zip.add(name("version"), "3\n");
    if (status.ok())
        status =
            zip.add(options.folder + "/.data/serialization_id", serializationId(names, zip.combinedCrc()));
    if (status.ok())
        status = zip.finish();
    const std::uint64_t bytes = file->position();
    if (status.ok())
        status = file->commit();
    if (!status.ok())
        return status.error();
    return WrittenCheckpoint{bytes, tree->needsTorch, tree->newerBecauseOf};
}

} // namespace lockstep
