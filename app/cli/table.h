// Plain text tables: a head row, columns as wide as their widest cell, two blanks between.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

enum class Align { Left, Right };

struct Column {
    std::string title;
    Align align = Align::Left;
};

class Table
{
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    std::string text() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace lockstep
