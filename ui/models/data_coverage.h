// The picture of phase 1 as data: who uses which sample when, aggregated to the columns of a view. Everything here may run
// in a pool thread; nothing knows widgets.
#pragma once

#include "core/gates/data_judge.h"
#include "core/store/project_store.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// What was judged, loaded once per verdict: the orders themselves and what the judge counted. Immutable.
struct CoverageData {
    DataPlan plan;
    std::int64_t datasetSize = 0;
    int world = 1;
    std::vector<EpochOrder> orders; // the first kShownEpochs
    std::vector<EpochRow> epochs;   // all
    // Per shown epoch: ids that padding repeats, ids on several ranks, ids nobody uses (examples).
    std::vector<std::vector<std::uint32_t>> padding, overlaps, omissions;
    // Per shown epoch: place in the first epoch against place here, both 0..1, for up to 300 ids; empty for the first.
    std::vector<std::vector<std::pair<float, float>>> againstFirst;
    QString error; // why there is nothing to show

    static constexpr std::size_t kShownEpochs = 3;
};
using CoverageDataPtr = std::shared_ptr<const CoverageData>;

// Simulates, reads or imports what the gate's configuration names. `folder`: the project.
CoverageDataPtr loadCoverage(const std::string& folder, const std::string& configJson);

// A part of the sample axis, in ids, cut into columns.
struct CoverageRange {
    double first = 0;
    double last = 1; // exclusive
    int columns = 1;

    bool operator==(const CoverageRange&) const = default;
    int columnOf(double id) const { return int((id - first) * columns / (last - first)); }
    bool single() const { return last - first <= columns; } // a column shows one id at most
};

struct CoverageCell {
    static constexpr std::uint32_t kNone = 0xffffffffu;
    std::uint32_t id = kNone;   // the smallest of the column on this row
    std::uint32_t position = 0; // of that id, on its rank
    std::uint16_t rank = 0;
};

struct CoverageEpoch {
    int rows = 0; // as many as ranks, or groups of ranks where there are more than kMaxRows
    int ranksPerRow = 1;
    std::uint32_t longest = 1;       // samples of the longest rank: the scale of CoverageCell::position
    std::vector<CoverageCell> cells; // rows x columns
    std::vector<std::uint8_t> seen;  // per column: 0 no id of it, 1 some, 2 all that are there

    static constexpr int kMaxRows = 64;
};

struct CoverageImage {
    CoverageRange range;
    std::vector<CoverageEpoch> epochs;
};

// One sweep over the shown epochs: 10 million samples take some ten milliseconds.
CoverageImage aggregateCoverage(const CoverageData& data, const CoverageRange& range);

// "What if": what a sampler would do, without dealing anything.
struct WhatIf {
    std::int64_t steps = 0;
    std::int64_t globalBatch = 0;
    std::int64_t padding = 0;
    std::int64_t omitted = 0;
    std::int64_t lastBatch = 0; // samples per rank in the last step
};
WhatIf whatIf(const DataPlan& plan);

} // namespace lockstep
