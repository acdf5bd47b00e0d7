// The ways in which checkpoints fail, as data: what happened, what to do, and the very text people see. The
// row numbers are those of the published catalogue and serve as ids of the findings; rules_*.cpp decide which
// row applies.
#pragma once

#include <span>
#include <string_view>

namespace lockstep {

struct CatalogueRow {
    std::string_view row; // "1" to "48", "N1" to "N4"
    std::string_view name;
    std::string_view cause;
    std::string_view fix;
    std::string_view errorText; // of torch or the framework; empty: it fails without a word
};

std::span<const CatalogueRow> catalogue();
// nullptr if there is no such row.
const CatalogueRow* catalogueRow(std::string_view row);

} // namespace lockstep
