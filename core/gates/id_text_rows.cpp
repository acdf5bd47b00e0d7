#include "core/gates/id_text_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace lockstep {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

// A printable excerpt of what stands at `p`, for errors.
std::string excerpt(const char* p, const char* end)
{
    std::string text;
    while (p < end && *p != '\n' && *p != ',' && *p != '\t' && *p != ' ' && text.size() < 20) {
        text += *p >= 32 && *p < 127 ? *p : '?';
        ++p;
    }
    return text.empty() ? "nothing" : '"' + text + '"';
}

bool endsField(const char* p, const char* end)
{
    return p == end || *p == ',' || *p == ' ' || *p == '\t' || *p == ';';
}

// Reads a whole number that fits the field; `p` stops behind it.
bool number(IdField field, const char*& p, const char* end, std::uint64_t& value)
{
    const bool wide = field == IdField::Hash || field == IdField::Draw;
    if (wide && end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        const auto [next, result] = std::from_chars(p + 2, end, value, 16);
        p = next;
        return result == std::errc() && endsField(p, end);
    }
    if (field == IdField::Worker && end - p >= 2 && p[0] == '-' && p[1] == '1') {
        value = std::uint64_t(-1);
        p += 2;
        return endsField(p, end);
    }
    const char* const start = p;
    std::uint64_t v = 0;
    while (p < end && isDigit(*p))
        v = v * 10 + std::uint64_t(*p++ - '0');
    if (p == start || !endsField(p, end))
        return false;
    if (p - start > 18) { // may have wrapped
        const auto [next, result] = std::from_chars(start, p, v);
        if (result != std::errc() || (!wide && v > std::uint64_t(INT64_MAX)))
            return false;
    }
    if (field == IdField::Step && v > 0xffffffffu)
        return false;
    value = v;
    return true;
}

} // namespace

bool IdTextRows::header(const char* p, const char* end, std::int64_t line, Error& error)
{
    order_.clear();
    std::uint32_t seen = 0;
    const char* begin = p;
    while (p < end) {
        const char* name = p;
        while (p < end && *p != ',' && *p != ';' && *p != '\t' && *p != ' ')
            ++p;
        std::string word(name, p);
        std::transform(word.begin(), word.end(), word.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        if (!word.empty()) {
            const IdField field = idFieldByName(word);
            if (field != IdField::Count && (seen >> unsigned(field) & 1)) {
                error = builder_.problem(line, name - begin + 1,
                                         fmt::format("the column \"{}\" comes twice", word));
                return false;
            }
            order_.push_back(field);
            if (field != IdField::Count)
                seen |= 1u << unsigned(field);
        }
        if (p < end)
            ++p;
    }
    if ((seen & kRequiredIdFields) != kRequiredIdFields || order_.size() > 64) {
        error =
            builder_.problem(line, 1, "the first line names columns, but not epoch, rank, position and id",
                             "Name the columns epoch,rank,position,id");
        return false;
    }
    plain_ = order_ == std::vector{IdField::Epoch, IdField::Rank, IdField::Position, IdField::Id};
    return true;
}

bool IdTextRows::row(const char* p, const char* end, std::int64_t line, Error& error)
{
    const char* begin = p;
    IdRow row;
    std::size_t column = 0;
    for (; column < order_.size(); ++column) {
        while (p < end && (*p == ' ' || *p == '\t'))
            ++p;
        if (p == end)
            break;
        const IdField field = order_[column];
        const char* const start = p;
        std::uint64_t value = 0;
        if (!number(field, p, end, value)) {
            error = badNumber(field, start, p, begin, end, line);
            return false;
        }
        if (field != IdField::Count) {
            row.values[std::size_t(field)] = std::int64_t(value);
            row.columns[std::size_t(field)] = std::int32_t(start - begin + 1);
            row.has |= 1u << unsigned(field);
        }
        while (p < end && (*p == ' ' || *p == '\t'))
            ++p;
        if (p < end && (*p == ',' || *p == ';'))
            ++p;
    }
    if ((row.has & kRequiredIdFields) != kRequiredIdFields) {
        error = builder_.problem(line, end - begin + 1,
                                 fmt::format("the line ends after {} of {} fields", column, order_.size()));
        return false;
    }
    if (p != end) {
        error =
            builder_.problem(line, p - begin + 1, fmt::format("{} follows the last field", excerpt(p, end)));
        return false;
    }
    if (!builder_.add(row, line)) {
        error = builder_.error();
        return false;
    }
    return true;
}

Error IdTextRows::badNumber(IdField field, const char* start, const char* stop, const char* begin,
                            const char* end, std::int64_t line) const
{
    static constexpr const char* names[] = {"epoch", "rank",   "position", "sample id",     "hash",
                                            "step",  "worker", "draw",     "unnamed column"};
    const char* name = names[std::size_t(field)];
    if (*start == '-' && stop == start)
        return builder_.problem(line, start - begin + 1,
                                fmt::format("the {} {} is negative", name, excerpt(start, end)),
                                "Ids and positions count from 0");
    const bool digits = isDigit(*start) && endsField(stop, end);
    return builder_.problem(line, start - begin + 1,
                            digits
                                ? fmt::format("the {} {} is too large", name, excerpt(start, end))
                                : fmt::format("the {} {} is not a whole number", name, excerpt(start, end)));
}

} // namespace lockstep
