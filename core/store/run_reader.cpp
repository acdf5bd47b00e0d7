#include "core/store/run_reader.h"

#include "core/store/run_lock.h"
#include "core/store/run_rows.h"
#include "core/store/run_schema.h"
#include "core/store/series_buffer.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

namespace lockstep {

using namespace store;

namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxStep = std::int64_t(1) << 62; // beyond it, arithmetic on steps could overflow

// A part of a series as one segment recorded it; values from `limit` on are superseded by a later segment.
struct Part {
    std::int64_t series;
    std::int64_t limit;
};

// A chunk or tail row as stored.
struct Row {
    ChunkSummary summary;
    std::int64_t before = 0;
};

Error damaged(const std::string& label, const std::string& why)
{
    return {ErrorKind::Corrupt, label + " is damaged", why,
            "Restore the file from a copy, or record the run again"};
}

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

struct RunReader::Impl {
    explicit Impl(Database opened) : database(std::move(opened)) {}

    Database database;
    std::map<std::int64_t, std::pair<std::string, bool>> tensorNames;

    Statement dataVersion{database, "PRAGMA data_version"};
    Statement allSegments{database, "SELECT id, first_step, world, reason FROM segment ORDER BY id"};
    Statement allSeries{
        database,
        "SELECT id, segment, rank, quantity, idx FROM series ORDER BY rank, quantity, idx, segment"};
    Statement partsOf{
        database,
        "SELECT id, segment FROM series WHERE rank = ? AND quantity = ? AND idx = ? ORDER BY segment"};
    // Rows that may hold steps in [?2, ?3), of chunks and of tails. Without values where only summaries are asked for:
    // SQLite would fetch the BLOBs of every row.
#define LOCKSTEP_RANGE(columns, table)                                                                       \
    "SELECT first_step, stride, n, before, min, max, nan_count, hash" columns " FROM " table                 \
    " WHERE series = ?1 AND first_step < ?3 AND first_step >= coalesce((SELECT max(first_step) FROM " table  \
    " WHERE series = ?1 AND first_step <= ?2), ?2) ORDER BY first_step"
    Statement range[2] = {{database, LOCKSTEP_RANGE(", data", "chunk")},
                          {database, LOCKSTEP_RANGE(", data", "tail")}};
    Statement summaries[2] = {{database, LOCKSTEP_RANGE("", "chunk")},
                              {database, LOCKSTEP_RANGE("", "tail")}};
#undef LOCKSTEP_RANGE
    static constexpr const char* kFirst[2] = {
        "SELECT first_step, stride, n, before FROM chunk WHERE series = ? ORDER BY first_step LIMIT 1",
        "SELECT first_step, stride, n, before FROM tail WHERE series = ? ORDER BY first_step LIMIT 1"};
    Statement first[2] = {{database, kFirst[0]}, {database, kFirst[1]}};
    static constexpr const char* kLast[2] = {"SELECT first_step, stride, n, before FROM chunk WHERE series = "
                                             "? AND first_step < ? ORDER BY first_step DESC LIMIT 1",
                                             "SELECT first_step, stride, n, before FROM tail WHERE series = "
                                             "? AND first_step < ? ORDER BY first_step DESC LIMIT 1"};
    Statement last[2] = {{database, kLast[0]}, {database, kLast[1]}};
    Statement samplesOf{
        database, "SELECT segment, step, micro, epoch, ids, hashes FROM samples WHERE rank = ? AND step >= ? "
                  "AND step < ? ORDER BY step, micro, segment"};
    Statement allTensorNames{database, "SELECT id, name, buffer FROM tensor_name"};
    Statement tensorsOf{database,
                        "SELECT segment, step, data FROM tensor WHERE rank = ? AND step >= ? AND step < ? "
                        "ORDER BY step, id"};
    Statement allEvents{database, "SELECT rank, step, kind, monotonic_ns, detail FROM event ORDER BY id"};
    Statement allHeartbeats{database, "SELECT rank, step, monotonic_ns FROM heartbeat ORDER BY rank"};
    Statement propertyOf{database, "SELECT value FROM property WHERE key = ?"};

    // Runs `perRow` for every row. Stops at the first error.
    template<typename PerRow, typename... Args>
    Status forEach(Statement& statement, PerRow&& perRow, const Args&... args);
    // `perRow` inside one snapshot of the file: a chunk folded between two queries would otherwise be seen
    // twice or never.
    template<typename Query>
    Status inSnapshot(Query&& query);

    Result<Row> rowOf(const Statement& statement, const char* table) const;
    Result<std::map<std::int64_t, std::int64_t>> limits(); // segment -> first superseded step
    Result<std::vector<Part>> parts(const SeriesKey& key);
    Status extend(SeriesInfo& info, const Part& part);
    Status reserve(const Part& part, std::int64_t from, std::int64_t to, SeriesData& data);
    Status readPart(const Part& part, std::int64_t from, std::int64_t to, SeriesData& data);
    Status summarisePart(const Part& part, const SeriesKey& key, std::vector<ChunkSummary>& out);
};

template<typename PerRow, typename... Args>
Status RunReader::Impl::forEach(Statement& statement, PerRow&& perRow, const Args&... args)
{
    if (Status bound = statement.bind(args...); !bound.ok())
        return bound;
    for (;;) {
        const Result<bool> row = statement.step();
        if (!row.ok())
            return row.error();
        if (!*row)
            return {};
        if (Status status = perRow(statement); !status.ok()) {
            statement.reset();
            return status;
        }
    }
}

template<typename Query>
Status RunReader::Impl::inSnapshot(Query&& query)
{
    Result<Transaction> transaction = Transaction::begin(database, Transaction::Kind::Read);
    if (!transaction.ok())
        return transaction.error();
    if (Status status = query(); !status.ok())
        return status;
    return transaction->commit();
}

// Everything a row claims is checked before it is used: the file may be damaged or made up.
Result<Row> RunReader::Impl::rowOf(const Statement& statement, const char* table) const
{
    Row row;
    row.summary.firstStep = statement.integer(0);
    row.summary.stride = statement.integer(1);
    const std::int64_t count = statement.integer(2);
    row.before = statement.integer(3);
    if (row.summary.firstStep < 0 || row.summary.firstStep > kMaxStep || row.summary.stride < 1 ||
        row.summary.stride > (1 << 20) || count < 1 || count > kChunkSize || row.before < 0)
        return damaged(database.label(), std::string("a row of the table ") + table + " at step " +
                                             std::to_string(row.summary.firstStep) +
                                             " holds impossible numbers");
    row.summary.count = std::int32_t(count);
    return row;
}

Result<std::map<std::int64_t, std::int64_t>> RunReader::Impl::limits()
{
    std::vector<std::pair<std::int64_t, std::int64_t>> segments; // id, first step
    Status read = forEach(allSegments, [&segments](const Statement& s) {
        segments.emplace_back(s.integer(0), s.integer(1));
        return Status();
    });
    if (!read.ok())
        return read.error();
    std::map<std::int64_t, std::int64_t> limits;
    std::int64_t limit = kNoLimit;
    for (auto it = segments.rbegin(); it != segments.rend(); ++it) {
        limits[it->first] = limit;
        limit = std::min(limit, it->second);
    }
    limits.try_emplace(0, limit); // a run whose first segment was never announced
    return limits;
}

Result<std::vector<Part>> RunReader::Impl::parts(const SeriesKey& key)
{
    const auto limit = limits();
    if (!limit.ok())
        return limit.error();
    std::vector<Part> parts;
    Status read = forEach(
        partsOf,
        [&](const Statement& s) {
            const auto it = limit->find(s.integer(1));
            parts.push_back({s.integer(0), it == limit->end() ? kNoLimit : it->second});
            return Status();
        },
        key.rank, int(key.quantity), int(key.index));
    if (!read.ok())
        return read.error();
    return parts;
}

Status RunReader::Impl::extend(SeriesInfo& info, const Part& part)
{
    // The last row below the limit tells the length, the first row the begin; rows in between are not
    // touched.
    std::optional<Row> head, end;
    for (const int table : {0, 1}) {
        const char* name = table == 0 ? "chunk" : "tail";
        const auto take = [&](std::optional<Row>& into, const Statement& s) -> Status {
            const Result<Row> row = rowOf(s, name);
            if (!row.ok())
                return row.error();
            into = *row;
            return {};
        };
        if (!head) {
            Status read = forEach(
                first[table], [&](const Statement& s) { return take(head, s); }, part.series);
            if (!read.ok())
                return read;
        }
        Status read = forEach(
            last[table], [&](const Statement& s) { return take(end, s); }, part.series, part.limit);
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
Status RunReader::Impl::reserve(const Part& part, std::int64_t from, std::int64_t to, SeriesData& data)
{
    std::size_t points = data.size();
    for (const int table : {0, 1}) {
        Status read = forEach(
            summaries[table],
            [&](const Statement& s) -> Status {
                const Result<Row> row = rowOf(s, table == 0 ? "chunk" : "tail");
                if (!row.ok())
                    return row.error();
                points += std::size_t(row->summary.count);
                return {};
            },
            part.series, from, to);
        if (!read.ok())
            return read;
    }
    data.steps.reserve(points);
    data.bits.reserve(points);
    return {};
}

Status RunReader::Impl::readPart(const Part& part, std::int64_t from, std::int64_t to, SeriesData& data)
{
    const std::int64_t end = std::min(to, part.limit);
    if (Status reserved = reserve(part, from, end, data); !reserved.ok())
        return reserved;
    std::int64_t expected = from <= 0 ? 0 : -1; // values before the next row, once known
    for (const int table : {0, 1}) {
        Status read = forEach(
            range[table],
            [&](const Statement& s) -> Status {
                const Result<Row> row = rowOf(s, table == 0 ? "chunk" : "tail");
                if (!row.ok())
                    return row.error();
                const ChunkSummary& chunk = row->summary;
                const std::string_view bytes = s.blob(8);
                const auto at = [&] {
                    return nameOf(data.key) + ", the chunk at step " + std::to_string(chunk.firstStep);
                };
                if (bytes.size() != std::size_t(chunk.count) * 8)
                    return damaged(database.label(), at() + ", has " + std::to_string(bytes.size()) +
                                                         " bytes instead of " +
                                                         std::to_string(chunk.count * 8));
                if (contentHash(bytes.data(), bytes.size()) != std::uint64_t(s.integer(7)))
                    return damaged(database.label(), at() + ", does not match its content hash");
                if (!data.steps.empty() && chunk.firstStep <= data.steps.back())
                    return damaged(database.label(), at() + ", overlaps the one before");
                if (chunk.lastStep() < from)
                    return {};
                if (expected >= 0 && row->before != expected)
                    return damaged(database.label(), at() + ", follows on a gap: values are missing");
                expected = row->before + chunk.count;
                const std::int64_t skip = countBelow(chunk, from);
                const std::int64_t stop = countBelow(chunk, end);
                if (stop <= skip)
                    return {};
                appendWords(data.bits, bytes.substr(std::size_t(skip) * 8, std::size_t(stop - skip) * 8));
                const std::size_t old = data.steps.size();
                data.steps.resize(old + std::size_t(stop - skip));
                for (std::int64_t k = skip; k < stop; ++k)
                    data.steps[old + std::size_t(k - skip)] = chunk.firstStep + k * chunk.stride;
                return {};
            },
            part.series, from, end);
        if (!read.ok())
            return read;
    }
    return {};
}

Status RunReader::Impl::summarisePart(const Part& part, const SeriesKey& key, std::vector<ChunkSummary>& out)
{
    for (const int table : {0, 1}) {
        Status read = forEach(
            summaries[table],
            [&](const Statement& s) -> Status {
                Result<Row> row = rowOf(s, table == 0 ? "chunk" : "tail");
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
    if (Status read = readPart(part, cut.firstStep, part.limit, rest); !read.ok())
        return read;
    const ValueSummary summary = summarise(rest.bits.data(), rest.size(), typeOf(key));
    cut.count = std::int32_t(rest.size());
    cut.min = summary.min;
    cut.max = summary.max;
    cut.nanCount = std::int32_t(summary.nanCount);
    cut.contentHash = summary.hash;
    return {};
}

Result<RunReader> RunReader::open(const std::string& folder)
{
    const std::string path = folder + kRunFile;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return Error{ErrorKind::NotFound, "There is no run in " + folder, "it holds no run.db",
                     "Check the path, or wait until the run has begun"};
    // The writer takes its lock before run.db appears and never comes back: a free lock means that the file
    // is final.
    const bool quiet = RunLock::holder(folder) != RunLock::Holder::Writer;
    Result<Database> database = openForReading(path, kRunSchema, quiet);
    if (!database.ok())
        return database.error();
    return RunReader(std::make_unique<Impl>(std::move(*database)));
}

RunReader::RunReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl))
{
}
RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&&) noexcept = default;
RunReader::~RunReader() = default;

std::int64_t RunReader::dataVersion()
{
    std::int64_t version = 0;
    (void)impl_->forEach(impl_->dataVersion, [&version](const Statement& s) {
        version = s.integer(0);
        return Status();
    });
    return version;
}

Result<std::vector<SeriesInfo>> RunReader::series()
{
    std::vector<SeriesInfo> infos;
    Status read = impl_->inSnapshot([&]() -> Status {
        const auto limits = impl_->limits();
        if (!limits.ok())
            return limits.error();
        std::vector<std::pair<SeriesKey, Part>> rows;
        Status listed = impl_->forEach(impl_->allSeries, [&](const Statement& s) {
            const auto limit = limits->find(s.integer(1));
            rows.push_back({{std::int32_t(s.integer(2)), Quantity(s.integer(3)), std::uint16_t(s.integer(4))},
                            {s.integer(0), limit == limits->end() ? kNoLimit : limit->second}});
            return Status();
        });
        for (auto it = rows.begin(); listed.ok() && it != rows.end(); ++it) {
            if (infos.empty() || infos.back().key != it->first)
                infos.push_back({it->first, 0, 0, 0});
            listed = impl_->extend(infos.back(), it->second);
        }
        return listed;
    });
    if (!read.ok())
        return read.error();
    std::erase_if(infos, [](const SeriesInfo& info) { return info.points == 0; });
    return infos;
}

Result<SeriesData> RunReader::read(const SeriesKey& key, std::int64_t from, std::int64_t to)
{
    SeriesData data;
    data.key = key;
    Status read = impl_->inSnapshot([&]() -> Status {
        const Result<std::vector<Part>> parts = impl_->parts(key);
        if (!parts.ok())
            return parts.error();
        for (const Part& part : *parts) {
            if (Status status = impl_->readPart(part, from, to, data); !status.ok())
                return status;
        }
        return {};
    });
    if (!read.ok())
        return read.error();
    return data;
}

Result<std::vector<ChunkSummary>> RunReader::chunks(const SeriesKey& key)
{
    std::vector<ChunkSummary> summaries;
    Status read = impl_->inSnapshot([&]() -> Status {
        const Result<std::vector<Part>> parts = impl_->parts(key);
        if (!parts.ok())
            return parts.error();
        for (const Part& part : *parts) {
            if (Status status = impl_->summarisePart(part, key, summaries); !status.ok())
                return status;
        }
        return {};
    });
    if (!read.ok())
        return read.error();
    return summaries;
}

Result<std::vector<SamplesRecord>> RunReader::samples(int rank, std::int64_t from, std::int64_t to)
{
    std::vector<SamplesRecord> records;
    Status read = impl_->inSnapshot([&]() -> Status {
        const auto limits = impl_->limits();
        if (!limits.ok())
            return limits.error();
        return impl_->forEach(
            impl_->samplesOf,
            [&](const Statement& s) -> Status {
                const auto limit = limits->find(s.integer(0));
                if (limit != limits->end() && s.integer(1) >= limit->second)
                    return {};
                if (s.blob(4).size() % 8 != 0 || s.blob(5).size() % 8 != 0)
                    return damaged(impl_->database.label(), "the sample ids of rank " + std::to_string(rank) +
                                                                ", step " + std::to_string(s.integer(1)) +
                                                                ", end inside a number");
                SamplesRecord& record = records.emplace_back();
                record.rank = rank;
                record.step = s.integer(1);
                record.micro = std::int32_t(s.integer(2));
                record.epoch = s.integer(3);
                appendWords(record.ids, s.blob(4));
                appendWords(record.hashes, s.blob(5));
                return {};
            },
            rank, from, to);
    });
    if (!read.ok())
        return read.error();
    return records;
}

Result<std::vector<TensorRecord>> RunReader::tensors(int rank, std::int64_t from, std::int64_t to)
{
    std::vector<TensorRecord> records;
    const auto addEntry = [&](std::int64_t step, const TensorEntry& e) -> Status {
        const auto name = impl_->tensorNames.find(e.name);
        if (name == impl_->tensorNames.end())
            return damaged(impl_->database.label(), "the tensors of rank " + std::to_string(rank) +
                                                        ", step " + std::to_string(step) +
                                                        ", name a tensor that is not listed");
        records.push_back({rank, step, name->second.first, name->second.second, e.has, e.localNorm,
                           e.localFingerprint, e.reducedNorm, e.reducedFingerprint, e.updateNorm, e.stateNorm,
                           e.stateFingerprint});
        return {};
    };
    Status read = impl_->inSnapshot([&]() -> Status {
        const auto limits = impl_->limits();
        if (!limits.ok())
            return limits.error();
        Status named = impl_->forEach(impl_->allTensorNames, [this](const Statement& s) {
            impl_->tensorNames[s.integer(0)] = {s.text(1), s.integer(2) != 0};
            return Status();
        });
        if (!named.ok())
            return named;
        return impl_->forEach(
            impl_->tensorsOf,
            [&](const Statement& s) -> Status {
                const auto limit = limits->find(s.integer(0));
                if (limit != limits->end() && s.integer(1) >= limit->second)
                    return {};
                const std::string_view bytes = s.blob(2);
                if (bytes.size() % sizeof(TensorEntry) != 0)
                    return damaged(impl_->database.label(), "the tensors of rank " + std::to_string(rank) +
                                                                ", step " + std::to_string(s.integer(1)) +
                                                                ", end inside an entry");
                for (std::size_t at = 0; at < bytes.size(); at += sizeof(TensorEntry)) {
                    TensorEntry entry;
                    std::memcpy(&entry, bytes.data() + at, sizeof entry);
                    if (Status added = addEntry(s.integer(1), entry); !added.ok())
                        return added;
                }
                return {};
            },
            rank, from, to);
    });
    if (!read.ok())
        return read.error();
    return records;
}

Result<std::vector<EventRecord>> RunReader::events()
{
    std::vector<EventRecord> records;
    Status read = impl_->forEach(impl_->allEvents, [&](const Statement& s) {
        records.push_back({std::int32_t(s.integer(0)), s.integer(1), s.text(2), s.integer(3), s.text(4)});
        return Status();
    });
    if (!read.ok())
        return read.error();
    return records;
}

Result<std::vector<SegmentInfo>> RunReader::segments()
{
    std::vector<SegmentInfo> segments;
    Status read = impl_->forEach(impl_->allSegments, [&](const Statement& s) {
        segments.push_back({s.integer(1), int(s.integer(2)), s.text(3)});
        return Status();
    });
    if (!read.ok())
        return read.error();
    return segments;
}

Result<std::vector<HeartbeatInfo>> RunReader::heartbeats()
{
    std::vector<HeartbeatInfo> infos;
    Status read = impl_->forEach(impl_->allHeartbeats, [&](const Statement& s) {
        infos.push_back({int(s.integer(0)), s.integer(1), s.integer(2)});
        return Status();
    });
    if (!read.ok())
        return read.error();
    return infos;
}

Result<std::string> RunReader::property(const std::string& key)
{
    std::string value;
    Status read = impl_->forEach(
        impl_->propertyOf,
        [&](const Statement& s) {
            value = s.text(0);
            return Status();
        },
        key);
    if (!read.ok())
        return read.error();
    return value;
}

} // namespace lockstep
