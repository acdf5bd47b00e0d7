// metrics.csv of Lightning's CSVLogger: a header with a column "step", then rows with empty cells where there is no value.
// Quoting as in RFC 4180.
#include "core/logs/number_text.h"
#include "core/logs/readers.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::logs {

namespace {

constexpr std::size_t kLargestRow = 1 << 24;

struct Row {
    std::vector<std::string> cells;
    std::uint64_t offset = 0;
    bool complete = false; // its line end is there
    bool tooLarge = false; // a quote without its end, or no CSV at all
};

// False at the end of the file.
bool nextRow(InputFile& file, Row& row)
{
    row.cells.assign(1, {});
    row.offset = file.offset();
    row.complete = row.tooLarge = false;
    bool quoted = false;
    bool quoteBefore = false; // the character before was a quote inside quotes: the end, or one half of two
    std::size_t size = 0;
    for (;;) {
        const std::string_view window = file.peek(1 << 16);
        if (window.empty())
            return size > 0;
        for (std::size_t i = 0; i < window.size(); ++i) {
            const char c = window[i];
            std::string& cell = row.cells.back();
            if (++size > kLargestRow) {
                row.tooLarge = true;
                return true;
            }
            if (quoted && !quoteBefore) {
                if (c == '"')
                    quoteBefore = true;
                else
                    cell += c;
                continue;
            }
            if (quoteBefore && c == '"') {
                cell += c;
                quoteBefore = false;
                continue;
            }
            quoted = quoteBefore = false;
            if (c == ',') {
                row.cells.emplace_back();
            } else if (c == '\n') {
                file.skip(i + 1);
                if (cell.ends_with('\r'))
                    cell.pop_back();
                row.complete = true;
                return true;
            } else if (c == '"' && cell.empty()) {
                quoted = true;
            } else {
                cell += c;
            }
        }
        file.skip(window.size());
    }
}

std::optional<std::size_t> stepColumn(const std::vector<std::string>& header)
{
    const auto step = std::find(header.begin(), header.end(), "step");
    if (step == header.end() || header.size() < 2)
        return std::nullopt;
    return std::size_t(step - header.begin());
}

} // namespace

bool looksLikeLightningCsv(InputFile& file)
{
    // Cheap first: nearly all files of another kind have no "step" near their beginning.
    if (file.peek(1 << 16).find("step") == std::string_view::npos)
        return false;
    Row header;
    if (!nextRow(file, header) || header.tooLarge || !stepColumn(header.cells))
        return false;
    return std::none_of(header.cells.begin(), header.cells.end(),
                        [](const std::string& cell) { return cell.find('\0') != std::string::npos; });
}

void readLightningCsv(InputFile& file, const Origin& origin, Collector& out)
{
    Row header;
    if (!nextRow(file, header) || !header.complete)
        return out.problem(origin.file, 0, "The header has no line end yet. Nothing was read");
    const std::optional<std::size_t> stepAt = stepColumn(header.cells);
    if (!stepAt)
        return out.problem(origin.file, 0, "The header has no column step. Nothing was read");
    SeriesSet& set = out.run("lightning_csv", origin.run);
    Row row;
    while (nextRow(file, row)) {
        if (row.tooLarge)
            return out.problem(
                origin.file, row.offset,
                fmt::format(
                    "A row is longer than {} MiB; a closing quote may be missing. Reading ended there",
                    kLargestRow >> 20));
        if (!row.complete)
            return out.problem(origin.file, row.offset,
                               "The last row has no line end, so it may be cut. It was left out; import "
                               "again when it is whole");
        if (row.cells.size() == 1 && row.cells.front().empty())
            continue;
        if (row.cells.size() != header.cells.size()) {
            out.problem(origin.file, row.offset,
                        fmt::format("A row has {} cells where the header has {}. The row was left out",
                                    row.cells.size(), header.cells.size()));
            continue;
        }
        const std::optional<double> number = parseNumber(row.cells[*stepAt]);
        std::optional<std::int64_t> step = parseInteger(row.cells[*stepAt]);
        if (!step && number && *number == double(std::int64_t(std::clamp(*number, -9e15, 9e15))))
            step = std::int64_t(*number);
        if (!step) {
            out.problem(origin.file, row.offset,
                        "A row has no whole number in its column step. The row was left out");
            continue;
        }
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            if (i == *stepAt || row.cells[i].empty())
                continue;
            if (const std::optional<double> value = parseNumber(row.cells[i]))
                set.add(origin.rank, header.cells[i], *step, {*value, LogStorage::Float64, std::nullopt});
        }
    }
}

} // namespace lockstep::logs
