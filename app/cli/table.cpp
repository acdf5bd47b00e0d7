#include "app/cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace lockstep {

std::string Table::text() const
{
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t width = columns_[c].title.size();
        for (const auto& row : rows_) {
            assert(row.size() == columns_.size());
            width = std::max(width, row[c].size());
        }
        widths.push_back(width);
    }
    std::string out;
    const auto line = [&](auto&& cell) {
        std::string text;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            if (c > 0)
                text += "  ";
            text += columns_[c].align == Align::Right ? fmt::format("{:>{}}", cell(c), widths[c])
                                                      : fmt::format("{:<{}}", cell(c), widths[c]);
        }
        out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    };
    line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
    for (const auto& row : rows_)
        line([&](std::size_t c) -> const std::string& { return row[c]; });
    return out;
}

} // namespace lockstep
