// The rows of run.db that hold series: which segments recorded a series, its folded chunks, its open tail. Private to
// core/store. Belongs to the thread of its Database.
#pragma once

#include "core/store/run_reader.h"
#include "core/store/sqlite.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::store {

// What to say of a file whose content contradicts itself.
Error damaged(const std::string& label, const std::string& why);

// From which step on a segment (by its id) is superseded by a later one.
class SegmentLimits
{
public:
    void add(std::int64_t segment, std::int64_t limit) { limits_.try_emplace(segment, limit); }
    // Of a segment that was never announced: no limit.
    std::int64_t of(std::int64_t segment) const;

private:
    std::map<std::int64_t, std::int64_t> limits_;
};

// Adds values to a SeriesData whose vectors keep the length they had: growing them anew for each read would fill them with
// zeros first, which costs as much as reading. What was in them is overwritten; the destructor cuts them to what was added.
class SeriesAppender
{
public:
    explicit SeriesAppender(SeriesData& data) : data_(data) {}
    SeriesAppender(const SeriesAppender&) = delete;
    SeriesAppender& operator=(const SeriesAppender&) = delete;
    ~SeriesAppender();

    const SeriesKey& key() const { return data_.key; }
    std::size_t size() const { return size_; }
    std::int64_t lastStep() const { return data_.steps[size_ - 1]; } // of a size above 0
    // Room for as many more.
    bool hasRoom(std::uint64_t points) const { return data_.bits.size() - size_ >= points; }
    void reserve(std::size_t points);
    // Values skip <= k < stop of the row; `bytes` are all its values.
    void append(const ChunkSummary& row, std::string_view bytes, std::int64_t skip, std::int64_t stop);

private:
    SeriesData& data_;
    std::size_t size_ = 0;
};

class SeriesRows
{
public:
    // `database` must outlive it.
    explicit SeriesRows(Database& database) : database_(database) {}

    // A part of a series as one segment recorded it; values from `limit` on are superseded by a later segment.
    struct Part {
        std::int64_t series;
        std::int64_t limit;
    };

    Result<SegmentLimits> limits();
    // Every part of every series, the parts of a series one after the other.
    Result<std::vector<std::pair<SeriesKey, Part>>> all();
    Result<std::vector<Part>> parts(const SeriesKey& key);

    // Each adds what the part has to what is there; parts come in the order of their segments.
    Status extend(SeriesInfo& info, const Part& part);
    Status read(const Part& part, std::int64_t from, std::int64_t to, SeriesAppender& data);
    Status summarise(const Part& part, const SeriesKey& key, std::vector<ChunkSummary>& out);

private:
    struct Row { // a chunk or tail row as stored
        ChunkSummary summary;
        std::int64_t before = 0; // values of the part before this row
    };
    // `table`: 0 chunk, 1 tail.
    Result<Row> rowOf(const Statement& statement, int table) const;
    Status reserve(const Part& part, std::int64_t from, std::int64_t to, SeriesAppender& data);

    Database& database_;
    Statement allSegments_{database_, "SELECT id, first_step FROM segment ORDER BY id"};
    Statement allSeries_{
        database_,
        "SELECT id, segment, rank, quantity, idx FROM series ORDER BY rank, quantity, idx, segment"};
    Statement partsOf_{
        database_,
        "SELECT id, segment FROM series WHERE rank = ? AND quantity = ? AND idx = ? ORDER BY segment"};
    // Rows that may hold steps in [?2, ?3), of chunks and of tails. Without values where only summaries are asked for:
    // SQLite would fetch the BLOBs of every row.
#define LOCKSTEP_RANGE(columns, table)                                                                       \
    "SELECT first_step, stride, n, before, min, max, nan_count, hash" columns " FROM " table                 \
    " WHERE series = ?1 AND first_step < ?3 AND first_step >= coalesce((SELECT max(first_step) FROM " table  \
    " WHERE series = ?1 AND first_step <= ?2), ?2) ORDER BY first_step"
    Statement range_[2] = {{database_, LOCKSTEP_RANGE(", data", "chunk")},
                           {database_, LOCKSTEP_RANGE(", data", "tail")}};
    Statement summaries_[2] = {{database_, LOCKSTEP_RANGE("", "chunk")},
                               {database_, LOCKSTEP_RANGE("", "tail")}};
#undef LOCKSTEP_RANGE
    static constexpr const char* kFirst[2] = {
        "SELECT first_step, stride, n, before FROM chunk WHERE series = ? ORDER BY first_step LIMIT 1",
        "SELECT first_step, stride, n, before FROM tail WHERE series = ? ORDER BY first_step LIMIT 1"};
    Statement first_[2] = {{database_, kFirst[0]}, {database_, kFirst[1]}};
    static constexpr const char* kLast[2] = {"SELECT first_step, stride, n, before FROM chunk WHERE series = "
                                             "? AND first_step < ? ORDER BY first_step DESC LIMIT 1",
                                             "SELECT first_step, stride, n, before FROM tail WHERE series = "
                                             "? AND first_step < ? ORDER BY first_step DESC LIMIT 1"};
    Statement last_[2] = {{database_, kLast[0]}, {database_, kLast[1]}};
};

} // namespace lockstep::store
