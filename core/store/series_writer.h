// The values of a run's steps on their way into the file: buffered per series, written as tail rows at a commit, folded
// into chunks when full. Internal to core/store; used by RunWriter inside its transactions.
#pragma once

#include "core/base/records.h"
#include "core/base/status.h"
#include "core/store/series_buffer.h"
#include "core/store/sqlite.h"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace lockstep::store {

class SeriesWriter
{
public:
    // `database` must outlive this.
    explicit SeriesWriter(Database& database);

    // All values of the record, or, where one of them repeats a step or goes back, none of them and false.
    bool append(const StepRecord& record, std::int64_t segment);
    // What follows belongs to new series.
    void beginSegment();
    // The partly filled chunks become chunks at the next write.
    void close();

    std::size_t count() const { return slots_.size(); }
    bool anythingToWrite() const;
    bool foldsWaiting() const { return !folds_.empty(); }
    // Inside a transaction. If that fails, the same is written again by the next call.
    Status write(std::size_t maxFolds);
    // The transaction of the last write() is in the file.
    void forgetWritten();

private:
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

    Slot& slotFor(const SeriesKey& key, std::int64_t segment);
    Status writeSeries(std::size_t index);
    Status writeChunk(const Slot& slot, std::int64_t number, std::int64_t first, std::int64_t stride,
                      std::int64_t before, const std::vector<std::uint64_t>& bits);
    Status fold(const Fold& job);

    std::vector<Slot> slots_;                               // of the run so far, all segments
    std::unordered_map<std::uint64_t, std::size_t> slotOf_; // of the current segment
    std::deque<Fold> folds_;
    std::vector<Fold> newFolds_; // of a write() that is not committed yet
    std::size_t folded_ = 0;     // by it, of folds_ and then newFolds_
    std::uint64_t serial_ = 0;

    Statement insertSeries_;
    Statement insertTail_;
    Statement insertChunk_;
    Statement selectTail_;
    Statement deleteTail_;
};

} // namespace lockstep::store
