// What --series names: quantities of ours, and of imported runs their tags.
#pragma once

#include "core/base/quantity.h"
#include "core/base/status.h"
#include "core/config/imported_series.h"
#include "core/store/run_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct ChosenSeries {
    std::vector<Quantity> quantities;
    std::vector<std::string> tags;
};

// Nothing for a run that was not imported.
Result<std::optional<ImportedRun>> importedTable(RunReader& run);
// A name that is a tag in one of the tables means the tag. Errors: Usage, with the names there are.
Result<ChosenSeries> chooseSeries(const std::vector<std::string>& names,
                                  const std::vector<std::optional<ImportedRun>>& tables);

// As people name a series: its tag where tags alone tell series apart, else its quantity.
std::string seriesLabel(Quantity quantity, const std::string& tag);

} // namespace lockstep
