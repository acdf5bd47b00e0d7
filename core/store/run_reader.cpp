#include "core/store/run_reader.h"

#include "core/store/run_lock.h"
#include "core/store/run_rows.h"
#include "core/store/run_schema.h"
#include "core/store/series_rows.h"

#include <filesystem>
#include <map>
#include <utility>

namespace lockstep {

using namespace store;

struct RunReader::Impl {
    explicit Impl(Database opened) : database(std::move(opened)) {}

    Database database;
    SeriesRows seriesRows{database};
    std::map<std::int64_t, std::pair<std::string, bool>> tensorNames;

    Statement dataVersion{database, "PRAGMA data_version"};
    Statement allSegments{database, "SELECT id, first_step, world, reason FROM segment ORDER BY id"};
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

    // `query` inside one snapshot of the file: a chunk folded between two queries would otherwise be seen
    // twice or never.
    template<typename Query>
    Status inSnapshot(Query&& query);
};

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
    (void)impl_->dataVersion.forEach([&version](const Statement& s) {
        version = s.integer(0);
        return Status();
    });
    return version;
}

Result<std::vector<SeriesInfo>> RunReader::series()
{
    std::vector<SeriesInfo> infos;
    Status read = impl_->inSnapshot([&]() -> Status {
        const auto parts = impl_->seriesRows.all();
        if (!parts.ok())
            return parts.error();
        for (const auto& [key, part] : *parts) {
            if (infos.empty() || infos.back().key != key)
                infos.push_back({key, 0, 0, 0});
            if (Status extended = impl_->seriesRows.extend(infos.back(), part); !extended.ok())
                return extended;
        }
        return {};
    });
    if (!read.ok())
        return read.error();
    std::erase_if(infos, [](const SeriesInfo& info) { return info.points == 0; });
    return infos;
}

Result<SeriesData> RunReader::read(const SeriesKey& key, std::int64_t from, std::int64_t to)
{
    SeriesData data;
    if (Status done = read(key, from, to, data); !done.ok())
        return done.error();
    return data;
}

Status RunReader::read(const SeriesKey& key, std::int64_t from, std::int64_t to, SeriesData& data)
{
    data.key = key;
    SeriesAppender into(data);
    return impl_->inSnapshot([&]() -> Status {
        const auto parts = impl_->seriesRows.parts(key);
        if (!parts.ok())
            return parts.error();
        for (const SeriesRows::Part& part : *parts) {
            if (Status status = impl_->seriesRows.read(part, from, to, into); !status.ok())
                return status;
        }
        return {};
    });
}

Result<std::vector<ChunkSummary>> RunReader::chunks(const SeriesKey& key)
{
    std::vector<ChunkSummary> summaries;
    Status read = impl_->inSnapshot([&]() -> Status {
        const auto parts = impl_->seriesRows.parts(key);
        if (!parts.ok())
            return parts.error();
        for (const SeriesRows::Part& part : *parts) {
            if (Status status = impl_->seriesRows.summarise(part, key, summaries); !status.ok())
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
        const auto limits = impl_->seriesRows.limits();
        if (!limits.ok())
            return limits.error();
        return impl_->samplesOf.forEach(
            [&](const Statement& s) -> Status {
                if (s.integer(1) >= limits->of(s.integer(0)))
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
        const auto limits = impl_->seriesRows.limits();
        if (!limits.ok())
            return limits.error();
        Status named = impl_->allTensorNames.forEach([this](const Statement& s) {
            impl_->tensorNames[s.integer(0)] = {s.text(1), s.integer(2) != 0};
            return Status();
        });
        if (!named.ok())
            return named;
        return impl_->tensorsOf.forEach(
            [&](const Statement& s) -> Status {
                if (s.integer(1) >= limits->of(s.integer(0)))
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
    Status read = impl_->allEvents.forEach([&](const Statement& s) {
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
    Status read = impl_->allSegments.forEach([&](const Statement& s) {
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
    Status read = impl_->allHeartbeats.forEach([&](const Statement& s) {
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
    Status read = impl_->propertyOf.forEach(
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
