// The lines that torchtitan prints (torchtitan/components/metrics.py):
//   [titan] date - root - INFO - step:  1  loss:  7.98866  memory:  3.30GiB(3.47%)  tps: 12,026  mfu: 2.31%
//   ... validate step:  20  loss:  7.1234  memory: ...
#include "core/logs/number_text.h"
#include "core/logs/readers.h"

#include <algorithm>

namespace lockstep::logs {

namespace {

// The next word, taken off the front; empty at the end.
std::string_view takeWord(std::string_view& text)
{
    text = trimmed(text);
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    return word;
}

// "12,026" -> name; "2.31%" -> name(%); "3.30GiB(3.47%)" -> name(GiB) and name(%). Other words ("N/A") are no values.
bool addValues(const std::string& name, std::string_view word, std::int64_t step, std::optional<int> rank,
               SeriesSet& out)
{
    bool any = false;
    const auto add = [&](std::string_view text) {
        const std::size_t end = std::min(text.find_last_of("0123456789"), text.size() - 1) + 1;
        std::optional<Value> value = parsePrinted(text);
        std::string tag = name;
        if (!value && end < text.size()) { // a unit behind the number
            value = parsePrinted(text.substr(0, end));
            tag += "(" + std::string(text.substr(end)) + ")";
        }
        if (!value)
            return;
        out.add(rank, tag, step, *value);
        any = true;
    };
    if (const std::size_t open = word.find('(');
        open != std::string_view::npos && open > 0 && word.ends_with(')')) {
        add(word.substr(0, open));
        if (const std::string_view inner = word.substr(open + 1, word.size() - open - 2); !inner.empty())
            add(inner);
    } else if (!word.empty()) {
        add(word);
    }
    return any;
}

} // namespace

bool readTorchtitanLine(std::string_view line, std::optional<int> rank, SeriesSet& out)
{
    constexpr std::string_view kLevel = " - INFO - ";
    constexpr std::string_view kValidate = "validate ";
    constexpr std::string_view kStep = "step:";
    if (const std::size_t level = line.find(kLevel); level != std::string_view::npos)
        line.remove_prefix(level + kLevel.size());
    line = trimmed(line);
    const bool validate = line.starts_with(kValidate);
    if (validate)
        line = trimmed(line.substr(kValidate.size()));
    if (!line.starts_with(kStep))
        return false;
    line.remove_prefix(kStep.size());
    const std::optional<std::int64_t> step = parseInteger(takeWord(line));
    if (!step)
        return false;
    bool any = false;
    for (std::string_view name = takeWord(line); !name.empty(); name = takeWord(line)) {
        if (!name.ends_with(':'))
            continue;
        name.remove_suffix(1);
        any |= addValues((validate ? std::string(kValidate) : std::string()) + std::string(name),
                         takeWord(line), *step, rank, out);
    }
    return any;
}

} // namespace lockstep::logs
