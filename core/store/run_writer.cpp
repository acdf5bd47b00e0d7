#include "core/store/run_writer.h"

#include "core/store/run_lock.h"
#include "core/store/run_rows.h"
#include "core/store/run_schema.h"
#include "core/store/series_buffer.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lockstep {

using namespace store;

namespace {

// Folding is spread over commits: at 64 ranks some 1,300 chunks fill at the same step, 42 MB at once.
constexpr std::size_t kMinFoldsPerCommit = 64;
constexpr std::size_t kFoldsPerTransactionAtEnd = 1024;

// What the file says about a series. Kept twice, so that a commit that fails leaves no trace.
struct Progress {
    bool entered = false;     // has a row in `series`
    std::int64_t written = 0; // values
    std::int64_t chunks = 0;  // closed chunks, folded or waiting
    int waitingFolds = 0;
};

struct Slot {
    SeriesKey key;
    ValueType type = ValueType::F64;
    std::int64_t id = 0;
    std::int64_t segment = 0;
    SeriesBuffer buffer;
    Progress committed;
    Progress staged;
    std::uint64_t seenIn = 0; // serial of the last record that named this series
};

// A complete chunk whose values still lie in tail rows.
struct Fold {
    std::size_t slot;
    std::int64_t number; // of the chunk in its series
    std::int64_t first;
    std::int64_t last;
    std::int64_t stride;
};

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

std::uint64_t packed(const SeriesKey& key)
{
    return std::uint64_t(std::uint32_t(key.rank)) << 32 | std::uint64_t(key.quantity) << 16 | key.index;
}

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
    std::vector<Slot> slots;                               // of this run so far, all segments
    std::unordered_map<std::uint64_t, std::size_t> slotOf; // of the current segment
    std::deque<Fold> folds;
    std::uint64_t serial = 0;
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
    Statement insertSeries{database, "INSERT INTO series VALUES(?, ?, ?, ?, ?)"};
    Statement insertTail{database, "INSERT INTO tail VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    Statement insertChunk{database, "INSERT INTO chunk VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    Statement selectTail{database,
                         "SELECT before, data FROM tail WHERE series = ? AND first_step BETWEEN ? AND ? "
                         "ORDER BY first_step"};
    Statement deleteTail{database, "DELETE FROM tail WHERE series = ? AND first_step BETWEEN ? AND ?"};
    Statement insertSamples{database, "INSERT INTO samples VALUES(?, ?, ?, ?, ?, ?, ?)"};
    Statement insertTensorName{database, "INSERT INTO tensor_name VALUES(?, ?, ?)"};
    Statement insertTensor{database,
                           "INSERT INTO tensor(segment, rank, step, n, data) VALUES(?, ?, ?, ?, ?)"};
    Statement insertEvent{database, "INSERT INTO event(segment, rank, step, kind, monotonic_ns, detail) "
                                    "VALUES(?, ?, ?, ?, ?, ?)"};
    Statement upsertHeartbeat{database, "INSERT OR REPLACE INTO heartbeat VALUES(?, ?, ?)"};
    Statement upsertProperty{database, "INSERT OR REPLACE INTO property VALUES(?, ?)"};

    std::int64_t currentSegment() { return segment = std::max<std::int64_t>(segment, 0); }
    std::size_t slotFor(const SeriesKey& key);
    bool anythingToWrite() const;
    Status writeAll(std::vector<Fold>& newFolds);
    Status writeSeries(std::size_t index, std::vector<Fold>& newFolds);
    Status writeChunk(const Slot& slot, std::int64_t number, std::int64_t first, std::int64_t stride,
                      std::int64_t before, const std::vector<std::uint64_t>& bits);
    Status fold(const Fold& job);
    Status writeTensors();
    Status commit(std::size_t maxFolds);
    void forgetWritten();
};

std::size_t RunWriter::Impl::slotFor(const SeriesKey& key)
{
    const auto [it, added] = slotOf.try_emplace(packed(key), slots.size());
    if (added) {
        Slot& slot = slots.emplace_back();
        slot.key = key;
        const QuantityInfo* info = quantityInfo(key.quantity);
        slot.type = info ? info->type : ValueType::F64;
        slot.id = std::int64_t(slots.size());
        slot.segment = segment;
    }
    return it->second;
}

bool RunWriter::Impl::anythingToWrite() const
{
    return !segments.empty() || !samples.empty() || !tensors.empty() || !events.empty() ||
           !heartbeats.empty() || !properties.empty() || !folds.empty() ||
           std::any_of(slots.begin(), slots.end(),
                       [](const Slot& slot) { return !slot.buffer.pieces().empty(); });
}

Status RunWriter::Impl::writeChunk(const Slot& slot, std::int64_t number, std::int64_t first,
                                   std::int64_t stride, std::int64_t before,
                                   const std::vector<std::uint64_t>& bits)
{
    const ValueSummary summary = summarise(bits.data(), bits.size(), slot.type);
    return insertChunk.run(slot.id << 32 | number, slot.id, first, stride, std::int64_t(bits.size()), before,
                           orNull(summary.min), orNull(summary.max), summary.nanCount,
                           std::int64_t(summary.hash), bytesOf(bits));
}

// All chunks of a series precede all its tail rows, so a full chunk in memory has to queue behind chunks that
// wait for folding.
Status RunWriter::Impl::writeSeries(std::size_t index, std::vector<Fold>& newFolds)
{
    Slot& slot = slots[index];
    slot.staged = slot.committed;
    Progress& progress = slot.staged;
    if (!slot.buffer.pieces().empty() && !std::exchange(progress.entered, true)) {
        if (Status entered = insertSeries.run(slot.id, slot.segment, slot.key.rank, int(slot.key.quantity),
                                              int(slot.key.index));
            !entered.ok())
            return entered;
    }
    for (const Piece& piece : slot.buffer.pieces()) {
        const auto count = std::int64_t(piece.bits.size());
        if (piece.closed && piece.chunkFirst == piece.first && progress.waitingFolds == 0) {
            if (Status done = writeChunk(slot, progress.chunks++, piece.first, piece.stride, progress.written,
                                         piece.bits);
                !done.ok())
                return done;
            progress.written += count;
            continue;
        }
        if (count > 0) {
            const ValueSummary summary = summarise(piece.bits.data(), piece.bits.size(), slot.type);
            if (Status done = insertTail.run(slot.id, piece.first, piece.stride, count, progress.written,
                                             orNull(summary.min), orNull(summary.max), summary.nanCount,
                                             std::int64_t(summary.hash), bytesOf(piece.bits));
                !done.ok())
                return done;
            progress.written += count;
        }
        if (piece.closed) {
            const std::int64_t last = piece.first + (count - 1) * piece.stride;
            newFolds.push_back({index, progress.chunks++, piece.chunkFirst, last, piece.stride});
            ++progress.waitingFolds;
        }
    }
    return {};
}

Status RunWriter::Impl::fold(const Fold& job)
{
    Slot& slot = slots[job.slot];
    if (Status bound = selectTail.bind(slot.id, job.first, job.last); !bound.ok())
        return bound;
    std::vector<std::uint64_t> bits;
    std::int64_t before = -1;
    for (;;) {
        const Result<bool> row = selectTail.step();
        if (!row.ok())
            return row.error();
        if (!*row)
            break;
        if (before < 0)
            before = selectTail.integer(0);
        appendWords(bits, selectTail.blob(1));
    }
    assert(std::int64_t(bits.size()) == (job.last - job.first) / job.stride + 1);
    if (Status done = writeChunk(slot, job.number, job.first, job.stride, before, bits); !done.ok())
        return done;
    --slot.staged.waitingFolds;
    return deleteTail.run(slot.id, job.first, job.last);
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

Status RunWriter::Impl::writeAll(std::vector<Fold>& newFolds)
{
    Status status;
    const auto each = [&status](const auto& items, auto&& write) {
        for (auto it = items.begin(); status.ok() && it != items.end(); ++it)
            status = write(*it);
    };
    each(segments,
         [this](const Segment& s) { return insertSegment.run(s.id, s.firstStep, s.world, s.reason); });
    for (std::size_t i = 0; status.ok() && i < slots.size(); ++i)
        status = writeSeries(i, newFolds);
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
    for (Slot& slot : slots) {
        slot.committed = slot.staged;
        slot.buffer.clear();
    }
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
    std::vector<Fold> newFolds;
    if (Status written = writeAll(newFolds); !written.ok())
        return written;
    const std::size_t folding = std::min(maxFolds, folds.size() + newFolds.size());
    for (std::size_t i = 0; i < folding; ++i) {
        if (Status done = fold(i < folds.size() ? folds[i] : newFolds[i - folds.size()]); !done.ok())
            return done;
    }
    if (Status committed = transaction->commit(); !committed.ok())
        return committed;
    folds.insert(folds.end(), newFolds.begin(), newFolds.end());
    folds.erase(folds.begin(), folds.begin() + std::ptrdiff_t(folding));
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
    impl_->currentSegment();
    ++impl_->serial;
    if (record.step < impl_->segmentFirst)
        return goesBack("step", record.rank, record.step);
    std::vector<std::size_t> targets;
    targets.reserve(record.values.size());
    for (const StepValue& value : record.values) {
        const std::size_t index = impl_->slotFor({record.rank, value.quantity, value.index});
        Slot& slot = impl_->slots[index];
        if (!slot.buffer.accepts(record.step) || std::exchange(slot.seenIn, impl_->serial) == impl_->serial)
            return goesBack("step", record.rank, record.step);
        targets.push_back(index);
    }
    for (std::size_t i = 0; i < targets.size(); ++i)
        impl_->slots[targets[i]].buffer.append(record.step, record.values[i].bits);
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
    for (Slot& slot : impl_->slots)
        slot.buffer.close();
    impl_->slotOf.clear();
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
    return impl_->commit(std::max(kMinFoldsPerCommit, impl_->slots.size() / 16));
}

Status RunWriter::finish()
{
    for (Slot& slot : impl_->slots)
        slot.buffer.close();
    do {
        if (Status written = impl_->commit(kFoldsPerTransactionAtEnd); !written.ok())
            return written;
    } while (!impl_->folds.empty());
    impl_->finished = true;
    // A reader in the middle of a query keeps the checkpoint from finishing. The values are safe all the
    // same.
    const Status checkpoint = impl_->database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    return checkpoint.ok() || checkpoint.error().kind == ErrorKind::Busy ? Status() : checkpoint;
}

} // namespace lockstep
