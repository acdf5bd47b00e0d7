// The values of one quantity of a run as the comparison sees them: a stored series, or several ranks joined
// into one value per step. Loaded window by window, so that long runs need little memory.
#pragma once

#include "core/align/pair.h"
#include "core/base/records.h"
#include "core/config/imported_series.h"
#include "core/store/run_reader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace lockstep::align {

struct Track {
    std::vector<std::int64_t> steps; // ascending
    std::vector<std::uint64_t> bits;
};

class Source
{
public:
    virtual ~Source() = default;
    // Values with from <= step < to, into `track`, whose memory is used again.
    virtual Status load(std::int64_t from, std::int64_t to, Track& track) = 0;
    Result<Track> load(std::int64_t from, std::int64_t to);
    // The chunks behind the values, for skipping equal ones; empty where the values are computed.
    virtual Result<std::vector<ChunkSummary>> chunks() { return std::vector<ChunkSummary>(); }
    // Steps per load that keep memory small.
    virtual std::int64_t window() const { return 1 << 16; }
    // Two sources of different readers may load at the same time.
    virtual const RunReader* reader() const = 0;
};

// What a run recorded: its series, by rank and index. The reader must outlive it.
struct RunView {
    RunReader* reader = nullptr;
    std::vector<SeriesInfo> series;
    std::vector<int> ranks;
    std::int64_t firstStep = -1; // every rank covers firstStep..lastStep
    std::int64_t lastStep = -1;
    std::optional<ImportedRun> imported; // of a run that was made from a log

    bool has(const SeriesKey& key) const;
    bool has(Quantity quantity) const;
    std::vector<std::uint16_t> indices(int rank, Quantity quantity) const;
    // The row of an imported series; nullptr: it is none.
    const ImportedSeries* row(Quantity quantity, std::uint16_t index) const
    {
        return imported ? imported->find(quantity, index) : nullptr;
    }
};
Result<RunView> viewRun(RunReader& reader);

std::unique_ptr<Source> storedSeries(const RunView& run, const SeriesKey& key);
// Mean over all ranks weighted by `weight` (samples or tokens) of that rank and step; with an index only by
// that micro-batch. A run of one rank gives its values unchanged. Ranks without weights count alike.
std::unique_ptr<Source> meanOverRanks(const RunView& run, Quantity quantity, std::uint16_t index,
                                      Quantity weight);
std::unique_ptr<Source> sumOverRanks(const RunView& run, Quantity quantity, std::uint16_t index);
// Fingerprint per step of the sample ids (or content hashes), micro-batch by micro-batch, ranks in order; with `anyOrder` it is
// the same for the same samples in whatever order within the step.
std::unique_ptr<Source> joinedSamples(const RunView& run, bool contents, bool anyOrder);

} // namespace lockstep::align
