#include "core/ckpt/safetensors_writer.h"

#include "core/ckpt/atomic_file.h"
#include "core/ckpt/save_source.h"
#include "core/config/json.h"

namespace lockstep {
namespace {

void writeEntry(JsonWriter& json, const SaveEntry& entry, std::uint64_t begin, std::uint64_t end)
{
    const std::string_view type = dtypeInfo(entry.tensor.dtype).safetensors;
    const std::vector<std::int64_t>& shape = entry.tensor.shape;
    json.Key(entry.name.data(), static_cast<rapidjson::SizeType>(entry.name.size()));
    json.StartObject();
    json.Key("dtype");
    json.String(type.data(), static_cast<rapidjson::SizeType>(type.size()));
    json.Key("shape");
    json.StartArray();
    // float4 is counted in pairs here and in single elements there.
    for (std::size_t i = 0; i < shape.size(); ++i)
        json.Int64(shape[i] * (entry.tensor.dtype == DType::Float4E2M1FNx2 && i + 1 == shape.size() ? 2 : 1));
    json.EndArray();
    json.Key("data_offsets");
    json.StartArray();
    json.Uint64(begin);
    json.Uint64(end);
    json.EndArray();
    json.EndObject();
}

struct Header {
    std::string text;        // padded: the tensors begin at a multiple of 8
    std::uint64_t bytes = 0; // of all tensors
};

Result<Header> headerOf(const std::vector<SaveEntry>& tensors, const std::string& path)
{
    Header header;
    rapidjson::StringBuffer text;
    JsonWriter json(text);
    json.StartObject();
    json.Key("__metadata__");
    json.StartObject();
    json.Key("format");
    json.String("pt");
    json.EndObject();
    for (const SaveEntry& entry : tensors) {
        const DTypeInfo& info = dtypeInfo(entry.tensor.dtype);
        if (info.safetensors.empty())
            return Error{ErrorKind::Usage, path + " cannot be written as safetensors",
                         entry.name + " is of type " + std::string(info.name) +
                             ", which the format does not have",
                         "Write torch's own format instead"};
        std::uint64_t size = info.itemSize;
        for (const std::int64_t n : entry.tensor.shape)
            size *= static_cast<std::uint64_t>(n);
        writeEntry(json, entry, header.bytes, header.bytes + size);
        header.bytes += size;
    }
    json.EndObject();
    header.text.assign(text.GetString(), text.GetSize());
    header.text.append((8 - header.text.size() % 8) % 8, ' ');
    return header;
}

} // namespace

Result<WrittenCheckpoint> writeSafetensors(const std::string& path, const Checkpoint& source,
                                           const std::vector<SaveEntry>& tensors, bool durable)
{
    const Result<Header> header = headerOf(tensors, path);
    if (!header)
        return header.error();
    Result<AtomicFile> file = AtomicFile::create(path, durable);
    if (!file)
        return file.error();
    const std::uint64_t size = header->text.size();
    if (Status written = file->write(std::as_bytes(std::span(&size, 1))); !written)
        return written.error();
    if (Status written = file->write(header->text); !written)
        return written.error();
    const ByteSink sink = [&file](std::span<const std::byte> block) { return file->write(block); };
    for (const SaveEntry& entry : tensors) {
        const bool converted = source.tensors[entry.source].dtype != entry.tensor.dtype;
        const ByteSource bytes =
            elementsOf(source, entry.source, converted ? std::optional(entry.tensor.dtype) : std::nullopt);
        if (Status sent = bytes(sink); !sent)
            return sent.error();
    }
    const std::uint64_t written = file->position();
    if (written != sizeof size + size + header->bytes)
        return Error{ErrorKind::Corrupt, path + " was not written",
                     "a tensor gave fewer bytes than its shape says", "Check the source with ckpt verify"};
    if (Status committed = file->commit(); !committed)
        return committed.error();
    return WrittenCheckpoint{written, "", {}};
}

} // namespace lockstep
