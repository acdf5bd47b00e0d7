#include "core/store/series_rows.h"

#include "core/store/run_rows.h"
#include "core/store/run_schema.h"
#include "core/store/series_buffer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace lockstep {

namespace {

constexpr const char* kTableNames[] = {"chunk", "tail"}; // in the order of the statements per table
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxStep = std::int64_t(1) << 62; // beyond it, arithmetic on steps could overflow

std::string nameOf(const SeriesKey& key)
{
    const QuantityInfo* info = quantityInfo(key.quantity);
    return (info ? std::string(info->name) : "quantity " + std::to_string(int(key.quantity))) + " of rank " +
           std::to_string(key.rank);
}

// Number of values of the row with a step below `limit`.
std::int64_t countBelow(const ChunkSummary& row, std::int64_t limit)
{
    if (limit <= row.firstStep)
        return 0;
    if (limit > row.lastStep())
        return row.count;
    return (limit - row.firstStep + row.stride - 1) / row.stride;
}

// first, first + stride, ... The inner loop has a fixed length, so that it becomes a few vector instructions.
void countUp(std::int64_t* steps, std::size_t count, std::int64_t first, std::int64_t stride)
{
    constexpr std::size_t kAtOnce = 8;
    std::int64_t offsets[kAtOnce];
    for (std::size_t k = 0; k < kAtOnce; ++k)
        offsets[k] = std::int64_t(k) * stride;
    std::size_t at = 0;
    for (; at + kAtOnce <= count; at += kAtOnce, first += std::int64_t(kAtOnce) * stride)
        for (std::size_t k = 0; k < kAtOnce; ++k)
            steps[at + k] = first + offsets[k];
    for (; at < count; ++at, first += stride)
        steps[at] = first;
}

ValueType typeOf(const SeriesKey& key)
{
    const QuantityInfo* info = quantityInfo(key.quantity);
    return info ? info->type : ValueType::F64;
}

} // namespace

double SeriesData::value(std::size_t i) const
{
    switch (typeOf(key)) {
    case ValueType::I64:
        return double(std::int64_t(bits[i]));
    case ValueType::U64:
        return double(bits[i]);
    default:
        return doubleOf(bits[i]);
    }
}

namespace store {

Error damaged(const std::string& label, const std::string& why)
{
    return {ErrorKind::Corrupt, label + " is damaged", why,
            "Restore the file from a copy, or record the run again"};
}

SeriesAppender::~SeriesAppender()
{
    data_.steps.resize(size_);
    data_.bits.resize(size_);
}

void SeriesAppender::reserve(std::size_t points)
{
    if (hasRoom(points))
        return;
    data_.steps.resize(size_ + points);
    data_.bits.resize(size_ + points);
}

void SeriesAppender::append(const ChunkSummary& row, std::string_view bytes, std::int64_t skip,
                            std::int64_t stop)
{
    const auto count = std::size_t(stop - skip);
    if (!hasRoom(count))
        reserve(std::max(count, size_)); // at least twice as long
    std::memcpy(data_.bits.data() + size_, bytes.data() + skip * 8, count * 8);
    countUp(data_.steps.data() + size_, count, row.firstStep + skip * row.stride, row.stride);
    size_ += count;
}

// Everything a row claims is checked before it is used: the file may be damaged or made up.
Result<SeriesRows::Row> SeriesRows::rowOf(const Statement& statement, int table) const
{
    Row row;
    row.summary.firstStep = statement.integer(0);
    row.summary.stride = statement.integer(1);
    const std::int64_t count = statement.integer(2);
    row.before = statement.integer(3);
    if (row.summary.firstStep < 0 || row.summary.firstStep > kMaxStep || row.summary.stride < 1 ||
        row.summary.stride > store::kMaxStride || count < 1 || count > kChunkSize || row.before < 0)
        return damaged(database_.label(), std::string("a row of the table ") + kTableNames[table] +
                                              " at step " + std::to_string(row.summary.firstStep) +
                                              " holds impossible numbers");
    row.summary.count = std::int32_t(count);
    return row;
}

std::int64_t SegmentLimits::of(std::int64_t segment) const
{
    const auto found = limits_.find(segment);
    return found == limits_.end() ? kNoLimit : found->second;
}

Result<SegmentLimits> SeriesRows::limits()
{
    std::vector<std::pair<std::int64_t, std::int64_t>> segments; // id, first step
    Status read = allSegments_.forEach([&segments](const Statement& s) {
        segments.emplace_back(s.integer(0), s.integer(1));
        return Status();
    });
    if (!read.ok())
        return read.error();
    SegmentLimits limits;
    std::int64_t limit = kNoLimit;
    for (auto it = segments.rbegin(); it != segments.rend(); ++it) {
        limits.add(it->first, limit);
        limit = std::min(limit, it->second);
    }
    limits.add(0, limit); // a run whose first segment was never announced
    return limits;
}

Result<std::vector<std::pair<SeriesKey, SeriesRows::Part>>> SeriesRows::all()
{
    const Result<SegmentLimits> limits = this->limits();
    if (!limits.ok())
        return limits.error();
    std::vector<std::pair<SeriesKey, Part>> rows;
    Status listed = allSeries_.forEach([&](const Statement& s) {
        rows.push_back({{std::int32_t(s.integer(2)), Quantity(s.integer(3)), std::uint16_t(s.integer(4))},
                        {s.integer(0), limits->of(s.integer(1))}});
        return Status();
    });
    if (!listed.ok())
        return listed.error();
    return rows;
}

Result<std::vector<SeriesRows::Part>> SeriesRows::parts(const SeriesKey& key)
{
    const Result<SegmentLimits> limits = this->limits();
    if (!limits.ok())
        return limits.error();
    std::vector<Part> parts;
    Status read = partsOf_.forEach(
        [&](const Statement& s) {
            parts.push_back({s.integer(0), limits->of(s.integer(1))});
            return Status();
        },
        key.rank, int(key.quantity), int(key.index));
    if (!read.ok())
        return read.error();
    return parts;
}

Status SeriesRows::extend(SeriesInfo& info, const Part& part)
{
    // The last row below the limit tells the length, the first row the begin; rows in between are not
    // touched.
    std::optional<Row> head, end;
    for (const int table : {0, 1}) {
        const auto take = [&](std::optional<Row>& into, const Statement& s) -> Status {
            const Result<Row> row = rowOf(s, table);
            if (!row.ok())
                return row.error();
            into = *row;
            return {};
        };
        if (!head) {
            Status read =
                first_[table].forEach([&](const Statement& s) { return take(head, s); }, part.series);
            if (!read.ok())
                return read;
        }
        Status read =
            last_[table].forEach([&](const Statement& s) { return take(end, s); }, part.series, part.limit);
        if (!read.ok())
            return read;
    }
    if (!head || !end || head->summary.firstStep >= part.limit)
        return {};
    const std::int64_t below = countBelow(end->summary, part.limit);
    if (info.points == 0)
        info.firstStep = head->summary.firstStep;
    info.lastStep = end->summary.firstStep + (below - 1) * end->summary.stride;
    info.points += end->before + below;
    return {};
}

// Growing the vectors of a long series by and by would cost several times what reading it costs.
Status SeriesRows::reserve(const Part& part, std::int64_t from, std::int64_t to, SeriesAppender& data)
{
    if (to <= from || data.hasRoom(std::uint64_t(to) - std::uint64_t(from)))
        return {};
    std::size_t points = 0;
    for (const int table : {0, 1}) {
        Status read = summaries_[table].forEach(
            [&](const Statement& s) -> Status {
                const Result<Row> row = rowOf(s, table);
                if (!row.ok())
                    return row.error();
                points += std::size_t(row->summary.count);
                return {};
            },
            part.series, from, to);
        if (!read.ok())
            return read;
    }
    data.reserve(points);
    return {};
}

Status SeriesRows::read(const Part& part, std::int64_t from, std::int64_t to, SeriesAppender& data)
{
    const std::int64_t end = std::min(to, part.limit);
    if (Status reserved = reserve(part, from, end, data); !reserved.ok())
        return reserved;
    std::int64_t expected = from <= 0 ? 0 : -1; // values before the next row, once known
    for (const int table : {0, 1}) {
        Status read = range_[table].forEach(
            [&](const Statement& s) -> Status {
                const Result<Row> row = rowOf(s, table);
                if (!row.ok())
                    return row.error();
                const ChunkSummary& chunk = row->summary;
                const std::string_view bytes = s.blob(8);
                const auto at = [&] {
                    return nameOf(data.key()) + ", the chunk at step " + std::to_string(chunk.firstStep);
                };
                if (bytes.size() != std::size_t(chunk.count) * 8)
                    return damaged(database_.label(), at() + ", has " + std::to_string(bytes.size()) +
                                                          " bytes instead of " +
                                                          std::to_string(chunk.count * 8));
                if (contentHash(bytes.data(), bytes.size()) != std::uint64_t(s.integer(7)))
                    return damaged(database_.label(), at() + ", does not match its content hash");
                if (data.size() > 0 && chunk.firstStep <= data.lastStep())
                    return damaged(database_.label(), at() + ", overlaps the one before");
                if (chunk.lastStep() < from)
                    return {};
                if (expected >= 0 && row->before != expected)
                    return damaged(database_.label(), at() + ", follows on a gap: values are missing");
                expected = row->before + chunk.count;
                const std::int64_t skip = countBelow(chunk, from);
                const std::int64_t stop = countBelow(chunk, end);
                if (stop > skip)
                    data.append(chunk, bytes, skip, stop);
                return {};
            },
            part.series, from, end);
        if (!read.ok())
            return read;
    }
    return {};
}

Status SeriesRows::summarise(const Part& part, const SeriesKey& key, std::vector<ChunkSummary>& out)
{
    for (const int table : {0, 1}) {
        Status read = summaries_[table].forEach(
            [&](const Statement& s) -> Status {
                Result<Row> row = rowOf(s, table);
                if (!row.ok())
                    return row.error();
                ChunkSummary& chunk = row->summary;
                chunk.min = s.real(4, std::numeric_limits<double>::infinity());
                chunk.max = s.real(5, -std::numeric_limits<double>::infinity());
                chunk.nanCount = std::int32_t(s.integer(6));
                chunk.contentHash = std::uint64_t(s.integer(7));
                out.push_back(chunk);
                return {};
            },
            part.series, std::int64_t(0), part.limit);
        if (!read.ok())
            return read;
    }
    if (out.empty() || out.back().lastStep() < part.limit)
        return {};
    // A later segment supersedes the end of this chunk: summarise what is left of it.
    ChunkSummary& cut = out.back();
    SeriesData rest;
    rest.key = key;
    {
        SeriesAppender into(rest);
        if (Status status = read(part, cut.firstStep, part.limit, into); !status.ok())
            return status;
    }
    const ValueSummary summary = store::summarise(rest.bits.data(), rest.size(), typeOf(key));
    cut.count = std::int32_t(rest.size());
    cut.min = summary.min;
    cut.max = summary.max;
    cut.nanCount = std::int32_t(summary.nanCount);
    cut.contentHash = summary.hash;
    return {};
}

} // namespace store
} // namespace lockstep
