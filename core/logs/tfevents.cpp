// TensorBoard event files: TFRecord frames (u64 length, masked CRC-32C of it, data, masked CRC-32C of that, all
// little-endian; tensorflow/core/lib/io/record_writer.h) around Event messages (tensorflow/core/util/event.proto).
#include "core/base/crc32c.h"
#include "core/logs/readers.h"

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

#include <bit>
#include <cstring>
#include <set>

namespace lockstep::logs {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr std::size_t kHead = 12; // length and its checksum
constexpr std::size_t kFoot = 4;
constexpr std::uint64_t kLargestRecord = 32 << 20;     // scalars take some 40 bytes; images may be larger
constexpr std::uint64_t kLargestFirstRecord = 1 << 16; // the version record has some 24 bytes

template<typename T>
T load(std::string_view bytes, std::size_t at)
{
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

std::uint32_t maskedCrc(std::string_view bytes)
{
    return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

bool lengthIsRight(std::string_view head)
{
    return maskedCrc(head.substr(0, 8)) == load<std::uint32_t>(head, 8);
}

constexpr auto kVarint = pbf_wire_type::varint;
constexpr auto kBytes = pbf_wire_type::length_delimited;
constexpr auto kFixed32 = pbf_wire_type::fixed32;
constexpr auto kFixed64 = pbf_wire_type::fixed64;

// The one number of a TensorProto without dimensions (tensorflow/core/framework/tensor.proto).
std::optional<Value> scalarOf(pbf_reader tensor)
{
    enum : std::uint32_t { Float = 1, Double = 2, Int32 = 3, Int64 = 9 };
    std::uint32_t type = 0;
    std::string_view content;
    std::vector<double> values;
    const auto packed = [&](auto range) {
        for (const auto value : range)
            values.push_back(double(value));
    };
    while (tensor.next()) {
        switch (tensor.tag_and_type()) {
        case tag_and_type(1, kVarint):
            type = tensor.get_uint32();
            break;
        case tag_and_type(2, kBytes): { // shape: a dimension makes it no scalar
            pbf_reader shape = tensor.get_message();
            while (shape.next()) {
                if (shape.tag() == 2)
                    return std::nullopt;
                shape.skip();
            }
            break;
        }
        case tag_and_type(4, kBytes): {
            const protozero::data_view view = tensor.get_view();
            content = {view.data(), view.size()};
            break;
        }
        case tag_and_type(5, kBytes):
            packed(tensor.get_packed_float());
            break;
        case tag_and_type(5, kFixed32):
            values.push_back(double(tensor.get_float()));
            break;
        case tag_and_type(6, kBytes):
            packed(tensor.get_packed_double());
            break;
        case tag_and_type(6, kFixed64):
            values.push_back(tensor.get_double());
            break;
        case tag_and_type(7, kBytes):
            packed(tensor.get_packed_int32());
            break;
        case tag_and_type(7, kVarint):
            values.push_back(double(tensor.get_int32()));
            break;
        case tag_and_type(10, kBytes):
            packed(tensor.get_packed_int64());
            break;
        case tag_and_type(10, kVarint):
            values.push_back(double(tensor.get_int64()));
            break;
        default:
            tensor.skip();
        }
        if (values.size() > 1)
            return std::nullopt;
    }
    if (values.empty()) {
        if (type == Float && content.size() == 4)
            values.push_back(double(load<float>(content, 0)));
        else if (type == Double && content.size() == 8)
            values.push_back(load<double>(content, 0));
        else if (type == Int32 && content.size() == 4)
            values.push_back(double(load<std::int32_t>(content, 0)));
        else if (type == Int64 && content.size() == 8)
            values.push_back(double(load<std::int64_t>(content, 0)));
    }
    if (values.empty() || (type != Float && type != Double && type != Int32 && type != Int64))
        return std::nullopt;
    return Value{values.front(), type == Float ? LogStorage::Float32 : LogStorage::Float64, std::nullopt};
}

class EventReader
{
public:
    EventReader(SeriesSet& out, std::optional<int> rank) : out_(out), rank_(rank) {}

    // Throws protozero::exception for bytes that are no Event.
    void read(std::string_view data)
    {
        pbf_reader event(data.data(), data.size());
        std::int64_t step = 0;
        summaries_.clear();
        bool start = false;
        while (event.next()) {
            switch (event.tag_and_type()) {
            case tag_and_type(2, kVarint):
                step = event.get_int64();
                break;
            case tag_and_type(5, kBytes):
                summaries_.push_back(event.get_message());
                break;
            case tag_and_type(7, kBytes):
                start = start || isStart(event.get_message());
                break;
            default:
                event.skip();
            }
        }
        if (start)
            out_.restartAt(step);
        for (pbf_reader& summary : summaries_)
            while (summary.next()) {
                if (summary.tag_and_type() == tag_and_type(1, kBytes))
                    readValue(summary.get_message(), step);
                else
                    summary.skip();
            }
    }

private:
    static bool isStart(pbf_reader session)
    {
        bool start = false;
        while (session.next()) {
            if (session.tag_and_type() == tag_and_type(1, kVarint))
                start = session.get_int32() == 1;
            else
                session.skip();
        }
        return start;
    }

    // Empty: none is named.
    static std::string_view pluginOf(pbf_reader metadata)
    {
        std::string_view name;
        while (metadata.next()) {
            if (metadata.tag_and_type() != tag_and_type(1, kBytes)) {
                metadata.skip();
                continue;
            }
            pbf_reader plugin = metadata.get_message();
            while (plugin.next()) {
                if (plugin.tag_and_type() == tag_and_type(1, kBytes)) {
                    const protozero::data_view view = plugin.get_view();
                    name = {view.data(), view.size()};
                } else {
                    plugin.skip();
                }
            }
        }
        return name;
    }

    void readValue(pbf_reader value, std::int64_t step)
    {
        std::string_view tag, plugin;
        std::optional<Value> found;
        std::optional<pbf_reader> tensor;
        while (value.next()) {
            switch (value.tag_and_type()) {
            case tag_and_type(1, kBytes): {
                const protozero::data_view view = value.get_view();
                tag = {view.data(), view.size()};
                break;
            }
            case tag_and_type(2, kFixed32):
                found = Value{double(value.get_float()), LogStorage::Float32, std::nullopt};
                break;
            case tag_and_type(8, kBytes):
                tensor = value.get_message();
                break;
            case tag_and_type(9, kBytes):
                plugin = pluginOf(value.get_message());
                break;
            default:
                value.skip();
            }
        }
        if (tensor && !found) {
            // Some writers name the plugin with the first value of a tag only.
            if (!plugin.empty() && plugin != "scalars")
                otherPlugins_.emplace(tag);
            if ((plugin.empty() && !otherPlugins_.contains(tag)) || plugin == "scalars")
                found = scalarOf(*tensor);
        }
        if (found)
            out_.add(rank_, tag, step, *found);
    }

    SeriesSet& out_;
    std::optional<int> rank_;
    std::vector<pbf_reader> summaries_;
    std::set<std::string, std::less<>> otherPlugins_; // tags of text, images, histograms, ...
};

} // namespace

bool looksLikeTfEvents(InputFile& file)
{
    const std::string_view head = file.peek(kHead);
    return head.size() == kHead && lengthIsRight(head) && load<std::uint64_t>(head, 0) <= kLargestFirstRecord;
}

double tfEventsBegin(InputFile& file)
{
    const std::string_view head = file.peek(kHead);
    if (head.size() < kHead || !lengthIsRight(head))
        return 0;
    const auto length = load<std::uint64_t>(head, 0);
    if (length > kLargestFirstRecord || file.left() < kHead + length)
        return 0;
    const std::string_view data = file.peek(kHead + std::size_t(length)).substr(kHead);
    try {
        pbf_reader event(data.data(), data.size());
        while (event.next()) {
            if (event.tag_and_type() == tag_and_type(1, kFixed64))
                return event.get_double();
            event.skip();
        }
    } catch (const protozero::exception&) { // reading the file will report it
    }
    return 0;
}

void readTfEvents(InputFile& file, const Origin& origin, Collector& out)
{
    EventReader reader(out.run("tfevents", origin.run), origin.rank);
    while (file.left() > 0) {
        const std::uint64_t at = file.offset();
        const std::string_view head = file.peek(kHead);
        if (head.size() < kHead)
            return out.problem(origin.file, at,
                               "The file ends inside the head of a record, so its writer was stopped. "
                               "Everything before it was read");
        if (!lengthIsRight(head))
            return out.problem(origin.file, at,
                               "The length of a record does not fit its checksum. Nothing after it can be "
                               "found; copy the file "
                               "again if the source is whole");
        const auto length = load<std::uint64_t>(head, 0);
        const std::uint64_t left = file.left() - kHead;
        if (length > left || left - length < kFoot)
            return out.problem(
                origin.file, at,
                fmt::format(
                    "The file ends inside a record of {} bytes, so its writer was stopped. Everything "
                    "before it was read",
                    length));
        const std::size_t size = kHead + std::size_t(length) + kFoot;
        if (length > kLargestRecord) {
            out.problem(origin.file, at,
                        fmt::format("A record has {} bytes, more than {} MiB. It was left out", length,
                                    kLargestRecord >> 20));
            file.skip(size);
            continue;
        }
        const std::string_view record = file.peek(size);
        if (record.size() < size)
            return out.problem(origin.file, at, "The file became shorter while it was read. Read it again");
        const std::string_view data = record.substr(kHead, std::size_t(length));
        if (maskedCrc(data) != load<std::uint32_t>(record, size - kFoot)) {
            out.problem(origin.file, at,
                        "The data of a record do not fit their checksum. The record was left out");
        } else {
            try {
                reader.read(data);
            } catch (const protozero::exception&) {
                out.problem(origin.file, at,
                            "A record is no event although its checksum fits. The record was left out");
            }
        }
        file.skip(size);
    }
}

} // namespace lockstep::logs
