#include "core/store/series_writer.h"

#include "core/store/run_rows.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace lockstep::store {

namespace {

std::uint64_t packed(const SeriesKey& key)
{
    return std::uint64_t(std::uint32_t(key.rank)) << 32 | std::uint64_t(key.quantity) << 16 | key.index;
}

} // namespace

SeriesWriter::SeriesWriter(Database& database)
    : insertSeries_(database, "INSERT INTO series VALUES(?, ?, ?, ?, ?)"),
      insertTail_(database, "INSERT INTO tail VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      insertChunk_(database, "INSERT INTO chunk VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      selectTail_(database, "SELECT before, data FROM tail WHERE series = ? AND first_step BETWEEN ? AND ? "
                            "ORDER BY first_step"),
      deleteTail_(database, "DELETE FROM tail WHERE series = ? AND first_step BETWEEN ? AND ?")
{
}

SeriesWriter::Slot& SeriesWriter::slotFor(const SeriesKey& key, std::int64_t segment)
{
    const auto [it, added] = slotOf_.try_emplace(packed(key), slots_.size());
    if (added) {
        Slot& slot = slots_.emplace_back();
        slot.key = key;
        const QuantityInfo* info = quantityInfo(key.quantity);
        slot.type = info ? info->type : ValueType::F64;
        slot.id = std::int64_t(slots_.size());
        slot.segment = segment;
    }
    return slots_[it->second];
}

bool SeriesWriter::append(const StepRecord& record, std::int64_t segment)
{
    ++serial_;
    std::vector<std::size_t> targets;
    targets.reserve(record.values.size());
    for (const StepValue& value : record.values) {
        Slot& slot = slotFor({record.rank, value.quantity, value.index}, segment);
        if (!slot.buffer.accepts(record.step) || std::exchange(slot.seenIn, serial_) == serial_)
            return false;
        targets.push_back(std::size_t(&slot - slots_.data()));
    }
    for (std::size_t i = 0; i < targets.size(); ++i)
        slots_[targets[i]].buffer.append(record.step, record.values[i].bits);
    return true;
}

void SeriesWriter::beginSegment()
{
    close();
    slotOf_.clear();
}

void SeriesWriter::close()
{
    for (Slot& slot : slots_)
        slot.buffer.close();
}

bool SeriesWriter::anythingToWrite() const
{
    return !folds_.empty() || std::any_of(slots_.begin(), slots_.end(),
                                          [](const Slot& slot) { return !slot.buffer.pieces().empty(); });
}

Status SeriesWriter::writeChunk(const Slot& slot, std::int64_t number, std::int64_t first,
                                std::int64_t stride, std::int64_t before,
                                const std::vector<std::uint64_t>& bits)
{
    const ValueSummary summary = summarise(bits.data(), bits.size(), slot.type);
    return insertChunk_.run(slot.id << 32 | number, slot.id, first, stride, std::int64_t(bits.size()), before,
                            orNull(summary.min), orNull(summary.max), summary.nanCount,
                            std::int64_t(summary.hash), bytesOf(bits));
}

// All chunks of a series precede all its tail rows, so a full chunk in memory has to queue behind chunks that
// wait for folding.
Status SeriesWriter::writeSeries(std::size_t index)
{
    Slot& slot = slots_[index];
    slot.staged = slot.committed;
    Progress& progress = slot.staged;
    if (!slot.buffer.pieces().empty() && !std::exchange(progress.entered, true)) {
        if (Status entered = insertSeries_.run(slot.id, slot.segment, slot.key.rank, int(slot.key.quantity),
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
            if (Status done = insertTail_.run(slot.id, piece.first, piece.stride, count, progress.written,
                                              orNull(summary.min), orNull(summary.max), summary.nanCount,
                                              std::int64_t(summary.hash), bytesOf(piece.bits));
                !done.ok())
                return done;
            progress.written += count;
        }
        if (piece.closed) {
            const std::int64_t last = piece.first + (count - 1) * piece.stride;
            newFolds_.push_back({index, progress.chunks++, piece.chunkFirst, last, piece.stride});
            ++progress.waitingFolds;
        }
    }
    return {};
}

Status SeriesWriter::fold(const Fold& job)
{
    Slot& slot = slots_[job.slot];
    if (Status bound = selectTail_.bind(slot.id, job.first, job.last); !bound.ok())
        return bound;
    std::vector<std::uint64_t> bits;
    std::int64_t before = -1;
    for (;;) {
        const Result<bool> row = selectTail_.step();
        if (!row.ok())
            return row.error();
        if (!*row)
            break;
        if (before < 0)
            before = selectTail_.integer(0);
        appendWords(bits, selectTail_.blob(1));
    }
    assert(std::int64_t(bits.size()) == (job.last - job.first) / job.stride + 1);
    if (Status done = writeChunk(slot, job.number, job.first, job.stride, before, bits); !done.ok())
        return done;
    --slot.staged.waitingFolds;
    return deleteTail_.run(slot.id, job.first, job.last);
}

Status SeriesWriter::write(std::size_t maxFolds)
{
    newFolds_.clear();
    for (std::size_t i = 0; i < slots_.size(); ++i)
        if (Status done = writeSeries(i); !done.ok())
            return done;
    folded_ = std::min(maxFolds, folds_.size() + newFolds_.size());
    for (std::size_t i = 0; i < folded_; ++i)
        if (Status done = fold(i < folds_.size() ? folds_[i] : newFolds_[i - folds_.size()]); !done.ok())
            return done;
    return {};
}

void SeriesWriter::forgetWritten()
{
    folds_.insert(folds_.end(), newFolds_.begin(), newFolds_.end());
    folds_.erase(folds_.begin(), folds_.begin() + std::ptrdiff_t(folded_));
    newFolds_.clear();
    folded_ = 0;
    for (Slot& slot : slots_) {
        slot.committed = slot.staged;
        slot.buffer.clear();
    }
}

} // namespace lockstep::store
