// Reads one run's run.db. One RunReader per thread; any number beside the single writer (SQLite WAL). Nothing
// here writes: a project on read-only media works.
#pragma once

#include "core/base/records.h"
#include "core/base/status.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct SeriesInfo {
    SeriesKey key;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    std::int64_t points = 0;
};

// Values of a series in step order. Steps without a value are absent, never filled.
struct SeriesData {
    SeriesKey key;
    std::vector<std::int64_t> steps;
    std::vector<std::uint64_t> bits; // see quantityInfo(key.quantity)->type

    std::size_t size() const { return steps.size(); }
    // The value as a double for drawing; exact for F64, rounded for large integers.
    double value(std::size_t i) const;
};

// A stored chunk without its values: at most 4096 evenly spaced steps, firstStep + k * stride. Every gap in
// the steps starts a new chunk; so does every multiple of 4096 strides, which puts the chunks of two runs at
// the same steps.
struct ChunkSummary {
    std::int64_t firstStep = 0;
    std::int64_t stride = 1;
    std::int32_t count = 0;
    double min = 0; // of the finite values; min > max: none
    double max = 0;
    std::int32_t nanCount = 0; // NaN and infinities
    // XXH3-64 of the little-endian values; equal chunks of two runs need not be read
    std::uint64_t contentHash = 0;

    std::int64_t lastStep() const { return firstStep + (count - 1) * stride; }
};

struct SegmentInfo { // a stretch of a run with one world size and one set of processes
    std::int64_t firstStep = 0;
    int world = 1;
    std::string reason; // "start", "resume", "degrade", ...
};

struct HeartbeatInfo { // the last sign of life of a rank
    int rank = 0;
    std::int64_t step = 0;
    std::int64_t monotonicNs = 0;
};

// A segment that begins before the end of the one before it (a resume from an older checkpoint) supersedes
// the steps from its first step on: the calls below return the newest value of each step, the older ones stay
// in the file.
class RunReader
{
public:
    // `folder` is runs/<id>. Errors: NotFound, Corrupt, NewerSchema.
    static Result<RunReader> open(const std::string& folder);
    RunReader(RunReader&&) noexcept;
    RunReader& operator=(RunReader&&) noexcept;
    ~RunReader();

    // Changes whenever the writer has committed; cheap enough to poll ten times a second.
    std::int64_t dataVersion();

    Result<std::vector<SeriesInfo>> series();
    // Values with from <= step < to.
    Result<SeriesData> read(const SeriesKey& key, std::int64_t from = INT64_MIN, std::int64_t to = INT64_MAX);
    // The same into `data`, whose memory is used again: for going through a long series window by window. After an error
    // its content has no meaning.
    Status read(const SeriesKey& key, std::int64_t from, std::int64_t to, SeriesData& data);
    // Folded chunks and open tail rows in step order.
    Result<std::vector<ChunkSummary>> chunks(const SeriesKey& key);
    Result<std::vector<SamplesRecord>> samples(int rank, std::int64_t from, std::int64_t to);
    Result<std::vector<TensorRecord>> tensors(int rank, std::int64_t from, std::int64_t to);
    Result<std::vector<EventRecord>> events();
    Result<std::vector<SegmentInfo>> segments();
    Result<std::vector<HeartbeatInfo>> heartbeats();
    // What RunWriter::setProperty stored; empty where there is none.
    Result<std::string> property(const std::string& key);

private:
    struct Impl;
    explicit RunReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace lockstep
