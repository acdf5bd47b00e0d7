#include "tests/core/logs/log_bytes.h"

#include "core/base/crc32c.h"

#include <libdeflate.h>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace lockstep::test {

namespace {

template<typename T>
std::string bytes(T value)
{
    std::string text(sizeof value, '\0');
    std::memcpy(text.data(), &value, sizeof value);
    return text;
}

std::uint32_t masked(const std::string& text)
{
    return std::rotr(crc32c(text), 15) + 0xa282ead8u;
}

// `fill` writes one Summary.Value.
template<typename Fill>
std::string event(std::int64_t step, Fill&& fill)
{
    std::string value, summary, text;
    protozero::pbf_writer valueWriter(value);
    fill(valueWriter);
    protozero::pbf_writer(summary).add_message(1, value);
    protozero::pbf_writer writer(text);
    writer.add_double(1, 1000.5);
    if (step != 0)
        writer.add_int64(2, step);
    writer.add_message(5, summary);
    return tfRecord(text);
}

std::string metadata(const std::string& plugin)
{
    std::string data, text;
    protozero::pbf_writer(data).add_string(1, plugin);
    protozero::pbf_writer(text).add_message(1, data);
    return text;
}

} // namespace

std::string tfRecord(const std::string& event)
{
    return tfHead(event.size()) + event + bytes(masked(event));
}

std::string tfHead(std::uint64_t length)
{
    const std::string text = bytes(length);
    return text + bytes(masked(text));
}

std::string tfVersion(double wallTime)
{
    std::string text;
    protozero::pbf_writer writer(text);
    writer.add_double(1, wallTime);
    writer.add_string(3, "brain.Event:2");
    return tfRecord(text);
}

std::string tfScalar(std::int64_t step, const std::string& tag, float value)
{
    return event(step, [&](protozero::pbf_writer& writer) {
        writer.add_string(1, tag);
        writer.add_float(2, value);
    });
}

std::string tfStart(std::int64_t step)
{
    std::string session, text;
    protozero::pbf_writer(session).add_enum(1, 1);
    protozero::pbf_writer writer(text);
    writer.add_double(1, 1001);
    writer.add_int64(2, step);
    writer.add_message(7, session);
    return tfRecord(text);
}

std::string tfDouble(std::int64_t step, const std::string& tag, double value, const std::string& plugin,
                     bool shaped)
{
    std::string tensor;
    protozero::pbf_writer writer(tensor);
    writer.add_enum(1, 2);
    if (shaped) {
        std::string dim, shape;
        protozero::pbf_writer(dim).add_int64(1, 1);
        protozero::pbf_writer(shape).add_message(2, dim);
        writer.add_message(2, shape);
    }
    writer.add_packed_double(6, &value, &value + 1);
    return event(step, [&](protozero::pbf_writer& out) {
        out.add_string(1, tag);
        out.add_message(8, tensor);
        if (!plugin.empty())
            out.add_message(9, metadata(plugin));
    });
}

std::string tfText(std::int64_t step, const std::string& tag, const std::string& text)
{
    std::string tensor;
    protozero::pbf_writer writer(tensor);
    writer.add_enum(1, 7);
    writer.add_string(8, text);
    return event(step, [&](protozero::pbf_writer& out) {
        out.add_string(1, tag);
        out.add_message(8, tensor);
        out.add_message(9, metadata("text"));
    });
}

std::string wandbRun(const std::string& id, const std::string& group, std::optional<int> rank,
                     std::int64_t started)
{
    std::string config, time, run, record;
    if (rank) {
        std::string item;
        protozero::pbf_writer writer(item);
        writer.add_string(1, "rank");
        writer.add_string(16, std::to_string(*rank));
        protozero::pbf_writer(config).add_message(1, item);
    }
    protozero::pbf_writer(time).add_int64(1, started);
    protozero::pbf_writer writer(run);
    writer.add_string(1, id);
    writer.add_message(4, config);
    writer.add_string(6, group);
    writer.add_string(8, "name of " + id);
    writer.add_message(17, time);
    protozero::pbf_writer(record).add_message(17, run);
    return record;
}

std::string wandbHistory(std::int64_t step, const std::vector<WandbItem>& items)
{
    std::string history, record, number;
    protozero::pbf_writer writer(history);
    for (const WandbItem& item : items) {
        std::string text;
        protozero::pbf_writer itemWriter(text);
        for (const std::string& part : item.key)
            itemWriter.add_string(2, part);
        itemWriter.add_string(16, item.json);
        writer.add_message(1, text);
    }
    if (step != 0)
        protozero::pbf_writer(number).add_int64(1, step);
    writer.add_message(2, number);
    protozero::pbf_writer(record).add_message(2, history);
    return record;
}

std::string wandbFile(const std::vector<std::string>& records)
{
    constexpr std::size_t kBlock = 32768;
    std::string file = ":W&B";
    file += std::string("\xe1\xbe\0", 3);
    for (const std::string& record : records) {
        std::size_t at = 0;
        do {
            std::size_t room = kBlock - file.size() % kBlock;
            if (room < 7) {
                file.append(room, '\0');
                room = kBlock;
            }
            const std::size_t n = std::min(record.size() - at, room - 7);
            const bool first = at == 0, last = at + n == record.size();
            const std::string body = std::string(1, char(first && last ? 1
                                                         : first       ? 2
                                                         : last        ? 4
                                                                       : 3)) +
                                     record.substr(at, n);
            file += bytes(libdeflate_crc32(0, body.data(), body.size())) + bytes(std::uint16_t(n)) + body;
            at += n;
        } while (at < record.size());
    }
    return file;
}

} // namespace lockstep::test
