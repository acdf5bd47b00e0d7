// The lines that Megatron-LM prints (training_log and evaluate_and_print_results in megatron/training/training.py):
//   [date] iteration N/ M | name: value | ... |
//   validation loss at iteration N [on validation|test set] | KEY value: x | KEY PPL: x |
#include "core/logs/number_text.h"
#include "core/logs/readers.h"

#include <algorithm>

namespace lockstep::logs {

namespace {

// Takes a whole number and the blanks before it off the front.
std::optional<std::int64_t> takeInteger(std::string_view& text)
{
    text = trimmed(text);
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::optional<std::int64_t> number = parseInteger(text.substr(0, end));
    text.remove_prefix(end);
    return number;
}

// Calls `use(name, value text)` for each field between bars. The last bar may be missing: the line is whole.
template<typename Use>
void eachField(std::string_view fields, Use&& use)
{
    while (!fields.empty()) {
        const std::size_t bar = std::min(fields.find('|'), fields.size());
        const std::string_view field = fields.substr(0, bar);
        if (const std::size_t colon = field.rfind(':'); colon != std::string_view::npos)
            use(trimmed(field.substr(0, colon)), trimmed(field.substr(colon + 1)));
        fields.remove_prefix(std::min(bar + 1, fields.size()));
    }
}

bool readTraining(std::string_view line, std::optional<int> rank, SeriesSet& out)
{
    const std::optional<std::int64_t> step = takeInteger(line);
    if (!step || !line.starts_with('/'))
        return false;
    line.remove_prefix(1);
    if (!takeInteger(line))
        return false;
    line = trimmed(line);
    if (!line.starts_with('|'))
        return false;
    bool any = false;
    eachField(line.substr(1), [&](std::string_view name, std::string_view text) {
        const std::optional<Value> value = parsePrinted(text);
        if (!value || name.empty())
            return;
        out.add(rank, name, *step, *value);
        any = true;
    });
    return any;
}

bool readValidation(std::string_view line, std::optional<int> rank, SeriesSet& out)
{
    const std::optional<std::int64_t> step = takeInteger(line);
    const std::size_t bar = line.find('|');
    if (!step || bar == std::string_view::npos)
        return false;
    const bool test = line.substr(0, bar).find("test set") != std::string_view::npos;
    bool any = false;
    eachField(line.substr(bar + 1), [&](std::string_view name, std::string_view text) {
        const std::optional<Value> value = parsePrinted(text);
        std::string tag(name);
        const std::string set = test ? " test" : " validation";
        if (name.ends_with(" value"))
            tag = std::string(name.substr(0, name.size() - 6)) + set;
        else if (name.ends_with(" PPL"))
            tag = std::string(name.substr(0, name.size() - 4)) + set + " ppl";
        else
            return;
        if (!value)
            return;
        out.add(rank, tag, *step, *value);
        any = true;
    });
    return any;
}

} // namespace

bool readMegatronLine(std::string_view line, std::optional<int> rank, SeriesSet& out)
{
    constexpr std::string_view kTraining = "iteration";
    constexpr std::string_view kValidation = "validation loss at iteration";
    constexpr std::string_view kDate = "0123456789-:.,/TZ+[] \t"; // versions and forks differ in it
    line.remove_prefix(std::min(line.find_first_not_of(kDate), line.size()));
    if (line.starts_with(kTraining))
        return readTraining(line.substr(kTraining.size()), rank, out);
    if (line.starts_with(kValidation))
        return readValidation(line.substr(kValidation.size()), rank, out);
    return false;
}

} // namespace lockstep::logs
