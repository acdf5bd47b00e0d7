// Rows of a CSV or plain text id list (docs/phase1.md). Errors name line and column. Internal to core/gates.
#pragma once

#include "core/gates/id_list_builder.h"

#include <cstdint>
#include <vector>

namespace lockstep {

// Rows of one file. Fields are separated by one comma, semicolon or tab with any blanks around it, or by blanks alone.
class IdTextRows
{
public:
    explicit IdTextRows(IdListBuilder& builder) : builder_(builder) {}

    // The first line that is neither empty nor a comment may name the columns.
    bool header(const char* p, const char* end, std::int64_t line, Error& error);

    // A line "epoch,rank,position,id\n" in this order, as nearly all are; returns what follows it, or nullptr if it is
    // anything else (row() then reads it or tells what is wrong). A line feed must follow somewhere behind `p`.
    const char* plainRow(const char* p)
    {
        if (!plain_)
            return nullptr;
        std::uint64_t values[4];
        for (int column = 0; column < 4; ++column) {
            const char* const start = p;
            std::uint64_t v = 0;
            while (*p >= '0' && *p <= '9')
                v = v * 10 + std::uint64_t(*p++ - '0');
            if (p == start || p - start > 18 || *p != (column == 3 ? '\n' : ','))
                return nullptr;
            ++p;
            values[column] = v;
        }
        return builder_.append(values[0], values[1], values[2], values[3]) ? p : nullptr;
    }

    // One line without its line end.
    bool row(const char* p, const char* end, std::int64_t line, Error& error);

private:
    Error badNumber(IdField field, const char* start, const char* stop, const char* begin, const char* end,
                    std::int64_t line) const;

    IdListBuilder& builder_;
    std::vector<IdField> order_{IdField::Epoch, IdField::Rank, IdField::Position, IdField::Id, IdField::Hash};
    bool plain_ = true; // the first four columns are the four that every row needs, in this order
};

} // namespace lockstep
