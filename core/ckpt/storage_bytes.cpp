#include "core/ckpt/storage_bytes.h"

#include "core/ckpt/zip_archive.h"

namespace lockstep {

CkptResult<StorageBytes> storageBytes(const Checkpoint& c, std::uint32_t storage)
{
    const StorageInfo& info = c.storages[storage];
    const auto fail = [&](CkptFault fault, std::uint64_t offset, std::string why) {
        CkptProblem p;
        p.fault = fault;
        p.offset = offset;
        p.file = info.file < c.files.size() ? c.files[info.file]->name() : std::string();
        p.record = "storage " + std::string(info.key);
        p.why = std::move(why);
        return p;
    };
    if (info.meta)
        return fail(CkptFault::RecordMissing, 0, "a meta tensor has no bytes");
    if (info.archive == kNone) {
        if (info.file == kNone)
            return fail(CkptFault::RecordMissing, 0, "the file ends before this storage");
        const MappedFile& file = *c.files[info.file];
        if (!file.contains(info.offset, info.bytes))
            return fail(CkptFault::TensorBounds, info.offset, "the storage reaches past the end of the file");
        return StorageBytes{file.bytes().subspan(info.offset, info.bytes), nullptr};
    }
    const ZipArchive& zip = *c.archives[info.archive];
    if (info.record == kNone)
        return fail(CkptFault::RecordMissing, zip.base() + zip.directory(),
                    "the archive does not hold this storage");
    const ZipRecord& record = zip.records()[info.record];
    if (record.stored()) {
        auto payload = zip.payload(info.record);
        if (!payload)
            return payload.problem();
        return StorageBytes{*payload, nullptr};
    }
    // Many tensors may be views of one compressed storage: the one inflated last is kept.
    InflatedStorage& cache = *c.inflated;
    const std::lock_guard lock(cache.mutex);
    if (cache.storage == storage && cache.bytes)
        return StorageBytes{{cache.bytes.get(), static_cast<std::size_t>(record.size)}, cache.bytes};
    auto inflated = zip.inflate(info.record, inflateLimit(record.compressed, zip.length()));
    if (!inflated)
        return inflated.problem();
    cache.storage = storage;
    cache.bytes = std::shared_ptr<const std::byte[]>(inflated->release());
    return StorageBytes{{cache.bytes.get(), static_cast<std::size_t>(record.size)}, cache.bytes};
}

} // namespace lockstep
