#include "app/cli/series_choice.h"

#include "app/cli/value_text.h"

#include <algorithm>

namespace lockstep {

Result<std::optional<ImportedRun>> importedTable(RunReader& run)
{
    const Result<std::string> table = run.property(kImportedProperty);
    if (!table)
        return table.error();
    return importedRunFromJson(*table);
}

Result<ChosenSeries> chooseSeries(const std::vector<std::string>& names,
                                  const std::vector<std::optional<ImportedRun>>& tables)
{
    ChosenSeries chosen;
    for (const std::string& name : names) {
        if (std::any_of(tables.begin(), tables.end(),
                        [&name](const auto& table) { return table && table->byTag(name); })) {
            chosen.tags.push_back(name);
            continue;
        }
        const Result<std::vector<Quantity>> quantity = quantitiesByName({name});
        if (!quantity)
            return quantity.error();
        chosen.quantities.push_back(quantity->front());
    }
    return chosen;
}

std::string seriesLabel(Quantity quantity, const std::string& tag)
{
    return quantity == Quantity::Metric && !tag.empty() ? tag : quantityName(quantity);
}

} // namespace lockstep
