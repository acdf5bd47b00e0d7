// What stands in the property "imported" of a run that was made from a log of another tool: which tag each series had there
// and how exactly it was kept. Runs that were trained here have no such property.
#pragma once

#include "core/base/printed_digits.h"
#include "core/base/quantity.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

inline constexpr const char* kImportedProperty = "imported";
// RunConfig::mode of such a run: whether one process trained or several is not known, nor anything else of its configuration. No
// gate, diagnosis or report takes it for the training of the project.
inline constexpr const char* kImportedMode = "imported";

// One tag, of all ranks.
struct ImportedSeries {
    Quantity quantity = Quantity::Metric;
    std::uint16_t index = 0; // as in the store; tells apart what shares Quantity::Metric
    std::string tag;         // as the log has it
    std::string storage;     // "float32", "float64", "decimal"
    std::optional<PrintedDigits> printed;
    std::int64_t superseded = 0; // points that a restart replaced; in segments of their own
    bool machine = false;        // a time, a rate or a use of memory: no two runs share it

    bool operator==(const ImportedSeries&) const = default;
};

struct ImportedRun {
    std::string format; // "tfevents", "wandb", ... (core/logs/log_data.h)
    std::string source; // absolute path of what was imported
    std::string run;    // its run there; may be empty
    std::vector<ImportedSeries> series;
    std::vector<std::int64_t> hiddenNanSteps;

    // nullptr: the run has no such series.
    const ImportedSeries* find(Quantity quantity, std::uint16_t index) const;
    const ImportedSeries* byTag(const std::string& tag) const;

    bool operator==(const ImportedRun&) const = default;
};

std::string toJson(const ImportedRun& run);
// Nothing for an empty text and for what is no such document.
std::optional<ImportedRun> importedRunFromJson(const std::string& text);

// The coarser of what two logs print of one series; nothing where neither is text.
std::optional<PrintedDigits> coarser(const ImportedSeries* a, const ImportedSeries* b);

} // namespace lockstep
