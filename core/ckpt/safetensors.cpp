// safetensors: u64-LE length, JSON header, bytes. Rules: README and tensor.rs of safetensors 0.8.0.
#include "core/ckpt/bytes.h"
#include "core/ckpt/readers.h"
#include "core/ckpt/strides.h"
#include "core/ckpt/utf8.h"
#include "core/config/json.h"

#include <algorithm>
#include <numeric>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <unordered_set>

namespace lockstep {
namespace {

constexpr std::uint64_t kMaxHeader = 100000000;

struct HeaderEntry {
    std::string_view name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::vector<std::uint64_t> range;
    std::uint64_t at = 0; // byte of the header
    bool hasShape = false;
};

// Events of the JSON reader. Returns false, which stops it, as soon as something is not of the form
// {"name": {"dtype": "F32", "shape": [..], "data_offsets": [a, b]}, "__metadata__": {"key": "value"}}.
class HeaderHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, HeaderHandler>
{
public:
    HeaderHandler(Checkpoint& c, const rapidjson::MemoryStream& stream) : c_(c), stream_(stream) {}

    bool StartObject()
    {
        if (depth_ == 0 || (depth_ == 1 && named_)) {
            ++depth_;
            return true;
        }
        return fail("an object where none belongs");
    }
    bool Key(const char* text, rapidjson::SizeType size, bool)
    {
        const std::string_view key(text, size);
        if (depth_ == 1) {
            metadata_ = key == "__metadata__";
            named_ = true;
            if (!metadata_) {
                entries.emplace_back();
                entries.back().name = c_.keep(std::string(key));
                entries.back().at = stream_.Tell();
            }
            return true;
        }
        key_ = key;
        if (metadata_)
            return true;
        if (key == "dtype" || key == "shape" || key == "data_offsets")
            return true;
        return fail("an unknown field \"" + std::string(key.substr(0, 60)) + "\"");
    }
    bool EndObject(rapidjson::SizeType)
    {
        if (depth_ == 2 && !metadata_) {
            const HeaderEntry& e = entries.back();
            if (e.dtype.empty() || !e.hasShape || e.range.size() != 2)
                return fail("dtype, shape or data_offsets is missing");
        }
        --depth_;
        named_ = false;
        return true;
    }
    bool String(const char* text, rapidjson::SizeType size, bool)
    {
        if (depth_ == 2 && metadata_) {
            c_.safetensorsMetadata.emplace_back(key_, std::string(text, size));
            return true;
        }
        if (depth_ == 2 && key_ == "dtype" && entries.back().dtype.empty() && size > 0) {
            entries.back().dtype.assign(text, size);
            return true;
        }
        return fail("a text where none belongs");
    }
    bool StartArray()
    {
        if (depth_ != 2 || metadata_ || array_)
            return fail("a list where none belongs");
        if (key_ == "shape" && !entries.back().hasShape)
            entries.back().hasShape = true;
        else if (key_ != "data_offsets" || !entries.back().range.empty())
            return fail("a list where none belongs");
        array_ = true;
        return true;
    }
    bool EndArray(rapidjson::SizeType)
    {
        array_ = false;
        return true;
    }
    bool Uint(unsigned value) { return Uint64(value); }
    bool Uint64(std::uint64_t value)
    {
        if (!array_)
            return fail("a number where none belongs");
        HeaderEntry& e = entries.back();
        if (key_ == "data_offsets") {
            e.range.push_back(value);
            return e.range.size() <= 2 || fail("more than two offsets");
        }
        if (value > static_cast<std::uint64_t>(INT64_MAX) || e.shape.size() >= 255)
            return fail("a shape beyond every limit");
        e.shape.push_back(static_cast<std::int64_t>(value));
        return true;
    }
    bool Default() { return fail("a value of a kind that does not occur in a header"); }

    std::vector<HeaderEntry> entries;
    std::string why;

private:
    bool fail(std::string text)
    {
        why = std::move(text);
        return false;
    }

    Checkpoint& c_;
    const rapidjson::MemoryStream& stream_;
    std::string key_;
    int depth_ = 0;
    bool named_ = false;
    bool metadata_ = false;
    bool array_ = false;
};

class SafetensorsReader
{
public:
    SafetensorsReader(PickleSession& session, std::uint32_t file)
        : s_(session), c_(session.c), file_(file), bytes_(session.c.files[file]->bytes())
    {
    }

    CkptResult<NodeId> read()
    {
        if (bytes_.size() < 8)
            return problem(CkptFault::SafetensorsHeader, 0,
                           "no room for the length of the header (header too small)");
        const auto length = loadLe<std::uint64_t>(bytes_.data());
        if (length > kMaxHeader)
            return problem(CkptFault::SafetensorsHeader, 0,
                           "a header of " + std::to_string(length) + " bytes (header too large)");
        if (length > bytes_.size() - 8)
            return problem(CkptFault::SafetensorsHeader, 0,
                           "a header of " + std::to_string(length) + " bytes in a file of " +
                               std::to_string(bytes_.size()) + " (invalid header length)");
        data_ = 8 + length;
        s_.builder.allow(length);
        c_.pickleBytes += length;
        const std::string_view json = asText(bytes_.subspan(8, length));
        if (!validUtf8(json))
            return problem(CkptFault::SafetensorsJson, 8, "the header is not UTF-8");
        rapidjson::MemoryStream stream(json.data(), json.size());
        HeaderHandler handler(c_, stream);
        rapidjson::Reader reader;
        constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                                   rapidjson::kParseFullPrecisionFlag;
        const auto result = reader.Parse<flags>(stream, handler);
        if (result.IsError())
            return problem(CkptFault::SafetensorsJson, 8 + result.Offset(),
                           handler.why.empty() ? "the header is not valid JSON" : handler.why);
        if (json.find_first_not_of(" \t\r\n") == std::string_view::npos ||
            json[json.find_first_not_of(" \t\r\n")] != '{')
            return problem(CkptFault::SafetensorsJson, 8, "the header is not an object");
        return build(handler.entries);
    }

private:
    CkptProblem problem(CkptFault fault, std::uint64_t offset, std::string why,
                        std::string_view record = {}) const
    {
        CkptProblem p;
        p.fault = fault;
        p.offset = offset;
        p.file = c_.files[file_]->name();
        p.record = std::string(record.substr(0, 200));
        p.why = std::move(why);
        p.fatal = true;
        return p;
    }

    // Damage that leaves a listing.
    void report(CkptProblem p)
    {
        p.fatal = false;
        c_.report(std::move(p));
    }

    CkptResult<NodeId> build(std::vector<HeaderEntry>& entries)
    {
        std::unordered_set<std::string_view> names;
        names.reserve(entries.size());
        const NodeId root = s_.builder.dict(DictType::Plain);
        std::vector<NodeId> items;
        items.reserve(2 * entries.size());
        for (HeaderEntry& e : entries) {
            if (!names.insert(e.name).second)
                return problem(CkptFault::SafetensorsEntry, 8 + e.at, "two tensors have this name", e.name);
            const auto type = dtypeFromSafetensors(e.dtype);
            const std::uint64_t bits = e.dtype == "F4"              ? 4
                                       : e.dtype.starts_with("F6_") ? 6
                                       : type                       ? 8 * itemSize(*type)
                                                                    : 0;
            if (bits == 0)
                return problem(CkptFault::SafetensorsEntry, 8 + e.at,
                               "element type " + e.dtype.substr(0, 40) + " does not exist", e.name);
            std::uint64_t count = bits;
            bool fits = true;
            for (const std::int64_t n : e.shape)
                fits = fits && mulInto(count, static_cast<std::uint64_t>(n), count);
            if (!fits || count % 8 != 0 || e.range[0] > e.range[1] || e.range[1] - e.range[0] != count / 8)
                return problem(CkptFault::SafetensorsEntry, 8 + e.at,
                               "shape and element type do not give the " +
                                   std::to_string(e.range[1] - e.range[0]) + " bytes of its range",
                               e.name);
            if (!inside(e.range[0], e.range[1] - e.range[0], bytes_.size() - data_))
                report(problem(CkptFault::SafetensorsOffsets, 8 + e.at,
                               "its range ends " + std::to_string(e.range[1]) +
                                   " bytes into a data section of " + std::to_string(bytes_.size() - data_) +
                                   " (incomplete metadata, file not fully covered)",
                               e.name));
            if (!type) { // six-bit floats: legal in the format, unknown to torch
                report(problem(CkptFault::TensorType, 8 + e.at,
                               "element type " + e.dtype + " is not known to torch", e.name));
                continue;
            }
            items.push_back(s_.builder.text(ValueKind::Str, e.name));
            items.push_back(addTensor(e, *type));
        }
        s_.builder.append(root, items);
        if (!s_.builder.withinBudget())
            return problem(CkptFault::PickleTooLarge, 0,
                           "more tensors than a header of this size can justify");
        if (c_.problems.empty())
            if (auto failed = checkCoverage(entries))
                report(*failed);
        return root;
    }

    NodeId addTensor(const HeaderEntry& e, DType type)
    {
        StorageInfo storage;
        storage.key = e.name;
        storage.dtype = type;
        storage.file = file_;
        storage.bytes = e.range[1] - e.range[0];
        storage.offset = data_ + e.range[0];
        storage.elements = static_cast<std::int64_t>(storage.bytes / itemSize(type));
        TensorInfo info;
        info.dtype = type;
        std::vector<std::int64_t> dims = e.shape;
        if (type == DType::Float4E2M1FNx2 && !dims.empty())
            dims.back() /= 2; // torch counts pairs
        info.rank = static_cast<std::uint8_t>(dims.size());
        info.storage = static_cast<std::uint32_t>(c_.storages.size());
        info.dims = s_.builder.addDims(dims);
        s_.builder.addDims(rowMajorStride(dims));
        c_.storages.push_back(storage);
        return s_.builder.tensor(info);
    }

    // Sorted by offset the ranges start at 0, touch, do not overlap and end at the end of the file.
    std::optional<CkptProblem> checkCoverage(const std::vector<HeaderEntry>& entries) const
    {
        std::vector<std::uint32_t> order(entries.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return entries[a].range < entries[b].range; });
        std::uint64_t end = 0;
        for (const std::uint32_t i : order) {
            const HeaderEntry& e = entries[i];
            if (e.range[0] != end)
                return problem(
                    CkptFault::SafetensorsOffsets, 8 + e.at,
                    (e.range[0] < end
                         ? "overlaps the tensor before it (invalid offset for tensor)"
                         : "leaves a hole of bytes that no tensor owns (invalid offset for tensor)"),
                    e.name);
            end = e.range[1];
        }
        if (end != bytes_.size() - data_)
            return problem(CkptFault::SafetensorsOffsets, data_ + end,
                           std::to_string(bytes_.size() - data_ - end) +
                               " bytes behind the last tensor (incomplete metadata, file not fully covered)");
        return std::nullopt;
    }

    PickleSession& s_;
    Checkpoint& c_;
    std::uint32_t file_;
    std::span<const std::byte> bytes_;
    std::uint64_t data_ = 0;
};

} // namespace

CkptResult<NodeId> readSafetensors(PickleSession& session, std::uint32_t file)
{
    return SafetensorsReader(session, file).read();
}

} // namespace lockstep
