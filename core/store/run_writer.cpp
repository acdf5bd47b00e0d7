#include "core/store/run_writer.h"

#include "core/store/run_lock.h"
#include "core/store/run_rows.h"
#include "core/store/run_schema.h"
#include "core/store/series_writer.h"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

namespace lockstep {

using namespace store;

namespace {

// Folding is spread over commits: at 64 ranks some 1,300 chunks fill at the same step, 42 MB at once.
constexpr std::size_t kMinFoldsPerCommit = 64;
constexpr std::size_t kFoldsPerTransactionAtEnd = 1024;

template<typename T>
struct InSegment {
    std::int64_t segment;
    T record;
};

struct Segment {
    std::int64_t id;
    std::int64_t firstStep;
    int world;
    std::string reason;
};

Error goesBack(const std::string& record, int rank, std::int64_t step)
{
    return {ErrorKind::Input, "A " + record + " record of rank " + std::to_string(rank) + " cannot be stored",
            "step " + std::to_string(step) +
                " repeats a step, goes back, or lies before the segment's first step",
            "Begin a new segment where training goes back"};
}

} // namespace

struct RunWriter::Impl {
    Impl(RunLock lockTaken, Database opened) : lock(std::move(lockTaken)), database(std::move(opened)) {}

    RunLock lock;
    Database database;
    SeriesWriter series{database};
    std::int64_t segment = -1;     // -1: none begun
    std::int64_t segmentFirst = 0; // lowest step the current segment may hold
    bool finished = false;

    std::vector<Segment> segments;
    std::vector<InSegment<SamplesRecord>> samples;
    std::map<int, std::pair<std::int64_t, std::int32_t>> lastSamples; // rank -> step, micro
    std::vector<InSegment<TensorRecord>> tensors;
    std::map<std::pair<std::string, bool>, std::uint32_t> tensorIds;
    std::vector<std::pair<std::string, bool>> tensorNames; // by id
    std::size_t enteredTensorNames = 0;
    std::vector<InSegment<EventRecord>> events;
    std::map<int, std::pair<std::int64_t, std::int64_t>> heartbeats;
    std::map<std::string, std::string> properties;

    Statement insertSegment{database, "INSERT INTO segment VALUES(?, ?, ?, ?)"};
    Statement insertSamples{database, "INSERT INTO samples VALUES(?, ?, ?, ?, ?, ?, ?)"};
    Statement insertTensorName{database, "INSERT INTO tensor_name VALUES(?, ?, ?)"};
    Statement insertTensor{database,
                           "INSERT INTO tensor(segment, rank, step, n, data) VALUES(?, ?, ?, ?, ?)"};
    Statement insertEvent{database, "INSERT INTO event(segment, rank, step, kind, monotonic_ns, detail) "
                                    "VALUES(?, ?, ?, ?, ?, ?)"};
    Statement upsertHeartbeat{database, "INSERT OR REPLACE INTO heartbeat VALUES(?, ?, ?)"};
    Statement upsertProperty{database, "INSERT OR REPLACE INTO property VALUES(?, ?)"};

    std::int64_t currentSegment() { return segment = std::max<std::int64_t>(segment, 0); }
    bool anythingToWrite() const;
    Status writeAll(std::size_t maxFolds);
    Status writeTensors();
    Status commit(std::size_t maxFolds);
    void forgetWritten();
};

bool RunWriter::Impl::anythingToWrite() const
{
    return series.anythingToWrite() || !segments.empty() || !samples.empty() || !tensors.empty() ||
           !events.empty() || !heartbeats.empty() || !properties.empty();
}

Status RunWriter::Impl::writeTensors()
{
    for (std::size_t id = enteredTensorNames; id < tensorNames.size(); ++id) {
        const auto& [name, buffer] = tensorNames[id];
        if (Status done = insertTensorName.run(std::int64_t(id), name, int(buffer)); !done.ok())
            return done;
    }
    // One row for the tensors of one rank and step; ranks arrive interleaved.
    std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
        return std::tie(a.segment, a.record.rank, a.record.step) <
               std::tie(b.segment, b.record.rank, b.record.step);
    });
    for (auto at = tensors.begin(); at != tensors.end();) {
        const auto& first = *at;
        std::vector<TensorEntry> entries;
        for (; at != tensors.end() && at->segment == first.segment && at->record.rank == first.record.rank &&
               at->record.step == first.record.step;
             ++at)
            entries.push_back(entryOf(at->record, tensorIds.at({at->record.name, at->record.buffer})));
        if (Status done = insertTensor.run(first.segment, first.record.rank, first.record.step,
                                           std::int64_t(entries.size()), bytesOf(entries));
            !done.ok())
            return done;
    }
    return {};
}

Status RunWriter::Impl::writeAll(std::size_t maxFolds)
{
    Status status;
    const auto each = [&status](const auto& items, auto&& write) {
        for (auto it = items.begin(); status.ok() && it != items.end(); ++it)
            status = write(*it);
    };
    each(segments,
         [this](const Segment& s) { return insertSegment.run(s.id, s.firstStep, s.world, s.reason); });
    if (status.ok())
        status = series.write(maxFolds);
    each(samples, [this](const InSegment<SamplesRecord>& s) {
        const SamplesRecord& r = s.record;
        return insertSamples.run(s.segment, r.rank, r.step, r.micro, r.epoch, bytesOf(r.ids),
                                 bytesOf(r.hashes));
    });
    if (status.ok())
        status = writeTensors();
    each(events, [this](const InSegment<EventRecord>& e) {
        const EventRecord& r = e.record;
        return insertEvent.run(e.segment, r.rank, r.step, r.kind, r.monotonicNs, r.detail);
    });
    each(heartbeats,
         [this](const auto& h) { return upsertHeartbeat.run(h.first, h.second.first, h.second.second); });
    each(properties, [this](const auto& p) { return upsertProperty.run(p.first, p.second); });
    return status;
}

void RunWriter::Impl::forgetWritten()
{
    series.forgetWritten();
    enteredTensorNames = tensorNames.size();
    segments.clear();
    samples.clear();
    tensors.clear();
    events.clear();
    heartbeats.clear();
    properties.clear();
}

Status RunWriter::Impl::commit(std::size_t maxFolds)
{
    if (!anythingToWrite())
        return {};
    Result<Transaction> transaction = Transaction::begin(database, Transaction::Kind::Write);
    if (!transaction.ok())
        return transaction.error();
    if (Status written = writeAll(maxFolds); !written.ok())
        return written;
    if (Status committed = transaction->commit(); !committed.ok())
        return committed;
    forgetWritten();
    return {};
}

Result<RunWriter> RunWriter::create(const std::string& folder)
{
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return Error{ErrorKind::Io, "Cannot create " + folder, error.message(),
                     "Check the folder and its permissions"};
    Result<RunLock> lock = RunLock::take(folder);
    if (!lock.ok())
        return lock.error();
    const std::string path = folder + kRunFile;
    if (Status created = createFile(path, kRunSchema); !created.ok())
        return created.error();
    Result<Database> database = openForWriting(path, kRunSchema);
    if (!database.ok())
        return database.error();
    return RunWriter(std::make_unique<Impl>(std::move(*lock), std::move(*database)));
}

RunWriter::RunWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl))
{
}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() = default;

Status RunWriter::append(const StepRecord& record)
{
    assert(!impl_->finished);
    const std::int64_t segment = impl_->currentSegment();
    if (record.step < impl_->segmentFirst || !impl_->series.append(record, segment))
        return goesBack("step", record.rank, record.step);
    return {};
}

Status RunWriter::append(const SamplesRecord& record)
{
    assert(!impl_->finished);
    const auto place = std::pair(record.step, record.micro);
    const auto [last, first] = impl_->lastSamples.try_emplace(record.rank, place);
    if (record.step < impl_->segmentFirst || (!first && place <= last->second))
        return goesBack("samples", record.rank, record.step);
    last->second = place;
    impl_->samples.push_back({impl_->currentSegment(), record});
    return {};
}

Status RunWriter::append(const TensorRecord& record)
{
    assert(!impl_->finished);
    if (record.step < impl_->segmentFirst)
        return goesBack("tensor", record.rank, record.step);
    const auto [id, added] =
        impl_->tensorIds.try_emplace({record.name, record.buffer}, std::uint32_t(impl_->tensorNames.size()));
    if (added)
        impl_->tensorNames.push_back(id->first);
    impl_->tensors.push_back({impl_->currentSegment(), record});
    return {};
}

Status RunWriter::append(const EventRecord& record)
{
    assert(!impl_->finished);
    impl_->events.push_back({impl_->currentSegment(), record});
    return {};
}

Status RunWriter::beginSegment(std::int64_t firstStep, int world, const std::string& reason)
{
    assert(!impl_->finished);
    impl_->series.beginSegment();
    impl_->lastSamples.clear();
    // The first segment may record the state it starts from, one step before its first. Later ones begin
    // where they supersede their predecessor.
    impl_->segmentFirst = impl_->segment < 0 ? 0 : firstStep;
    impl_->segments.push_back({++impl_->segment, firstStep, world, reason});
    return {};
}

Status RunWriter::heartbeat(int rank, std::int64_t step, std::int64_t monotonicNs)
{
    impl_->heartbeats[rank] = {step, monotonicNs};
    return {};
}

Status RunWriter::setProperty(const std::string& key, const std::string& value)
{
    impl_->properties[key] = value;
    return {};
}

Status RunWriter::commit()
{
    return impl_->commit(std::max(kMinFoldsPerCommit, impl_->series.count() / 16));
}

Status RunWriter::finish()
{
    impl_->series.close();
    do {
        if (Status written = impl_->commit(kFoldsPerTransactionAtEnd); !written.ok())
            return written;
    } while (impl_->series.foldsWaiting());
    impl_->finished = true;
    // A reader in the middle of a query keeps the checkpoint from finishing. The values are safe all the
    // same.
    const Status checkpoint = impl_->database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    return checkpoint.ok() || checkpoint.error().kind == ErrorKind::Busy ? Status() : checkpoint;
}

} // namespace lockstep
