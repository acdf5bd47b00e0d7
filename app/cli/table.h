// Plain text tables: a head row, columns as wide as their widest cell, two blanks between.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

enum class Align { Left, Right };

struct Column {
    std::string title;
    Align align = Align::Left;
    std::size_t most =
        0; // bytes shown of a cell: longer ones lose their middle; 0: all. JSON output has all of it
};

// "AdamW (lr: 0.003, be...amsgrad: False)": at most `most` bytes, no character cut in two.
std::string shortened(const std::string& text, std::size_t most);

class Table
{
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void row(std::vector<std::string> cells);
    std::string text() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace lockstep
