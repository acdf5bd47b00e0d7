#include "core/ckpt/safetensors_writer.h"

#include "core/ckpt/atomic_file.h"
#include "core/ckpt/float_convert.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/config/json.h"

namespace lockstep {

Result<WrittenCheckpoint> writeSafetensors(const std::string& path, const Checkpoint& source,
                                           const std::vector<SaveEntry>& tensors, bool durable)
{
    rapidjson::StringBuffer text;
    JsonWriter json(text);
    json.StartObject();
    json.Key("__metadata__");
    json.StartObject();
    json.Key("format");
    json.String("pt");
    json.EndObject();
    std::uint64_t offset = 0;
    for (const SaveEntry& entry : tensors) {
        const DTypeInfo& info = dtypeInfo(entry.tensor.dtype);
        if (info.safetensors.empty())
            return Error{ErrorKind::Usage, path + " cannot be written as safetensors",
                         entry.name + " is of type " + std::string(info.name) +
                             ", which the format does not have",
                         "Write torch's own format instead"};
        std::uint64_t bytes = info.itemSize;
        json.Key(entry.name.data(), static_cast<rapidjson::SizeType>(entry.name.size()));
        json.StartObject();
        json.Key("dtype");
        json.String(info.safetensors.data(), static_cast<rapidjson::SizeType>(info.safetensors.size()));
        json.Key("shape");
        json.StartArray();
        // float4 is counted in pairs here and in single elements there.
        for (std::size_t i = 0; i < entry.tensor.shape.size(); ++i) {
            bytes *= static_cast<std::uint64_t>(entry.tensor.shape[i]);
            const bool pairs =
                entry.tensor.dtype == DType::Float4E2M1FNx2 && i + 1 == entry.tensor.shape.size();
            json.Int64(entry.tensor.shape[i] * (pairs ? 2 : 1));
        }
        json.EndArray();
        json.Key("data_offsets");
        json.StartArray();
        json.Uint64(offset);
        json.Uint64(offset + bytes);
        json.EndArray();
        json.EndObject();
        offset += bytes;
    }
    json.EndObject();
    std::string header(text.GetString(), text.GetSize());
    header.append((8 - header.size() % 8) % 8, ' '); // tensors begin at a multiple of 8

    Result<AtomicFile> file = AtomicFile::create(path, durable);
    if (!file)
        return file.error();
    const std::uint64_t size = header.size();
    Status status = file->write(std::as_bytes(std::span(&size, 1)));
    if (status.ok())
        status = file->write(header);
    for (const SaveEntry& entry : tensors) {
        if (!status.ok())
            break;
        const TensorInfo& info = source.tensors[entry.source];
        const auto bytes = TensorBytes::open(source, info);
        if (!bytes.ok())
            return bytes.problem().toError();
        std::vector<std::byte> converted;
        bytes->forEachBlock([&](std::span<const std::byte> block) {
            if (info.dtype != entry.tensor.dtype) {
                const std::size_t n = block.size() / itemSize(info.dtype);
                converted.resize(n * itemSize(entry.tensor.dtype));
                convertFloats(info.dtype, block.data(), n, entry.tensor.dtype, converted.data());
                block = converted;
            }
            status = file->write(block);
            return status.ok();
        });
    }
    const std::uint64_t written = file->position();
    if (status.ok() && written != 8 + header.size() + offset)
        status = Error{ErrorKind::Corrupt, path + " was not written",
                       "a tensor gave fewer bytes than its shape says", ""};
    if (status.ok())
        status = file->commit();
    if (!status.ok())
        return status.error();
    return WrittenCheckpoint{written, "", {}};
}

} // namespace lockstep
