#include "app/cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace lockstep {

namespace {

bool continues(char c) // a later byte of a UTF-8 character
{
    return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

} // namespace

std::string shortened(const std::string& text, std::size_t most)
{
    constexpr std::size_t kDots = 3;
    if (most <= kDots || text.size() <= most)
        return text;
    std::size_t begin = (most - kDots + 1) / 2;
    std::size_t end = text.size() - (most - kDots - begin);
    while (begin > 0 && continues(text[begin]))
        --begin;
    while (end < text.size() && continues(text[end]))
        ++end;
    return text.substr(0, begin) + "..." + text.substr(end);
}

void Table::row(std::vector<std::string> cells)
{
    assert(cells.size() == columns_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c)
        if (columns_[c].most > 0)
            cells[c] = shortened(cells[c], columns_[c].most);
    rows_.push_back(std::move(cells));
}

std::string Table::text() const
{
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t width = columns_[c].title.size();
        for (const auto& row : rows_)
            width = std::max(width, row[c].size());
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
