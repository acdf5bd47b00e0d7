// Collects the rows of id lists into one array per epoch and rank. Internal to core/gates.
#pragma once

#include "core/base/status.h"
#include "core/gates/data_source.h"
#include "core/gates/id_list.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockstep {

enum class IdField { Epoch, Rank, Position, Id, Hash, Step, Worker, Draw, Count };
inline constexpr std::size_t kIdFields = std::size_t(IdField::Count);
inline constexpr std::uint32_t kRequiredIdFields = 0b1111; // epoch, rank, position, id

// The field that a column or key of this name holds; Count: unknown.
IdField idFieldByName(const std::string& name);

// One row; `has` tells which optional fields were given. Columns are 1-based byte columns, for errors.
struct IdRow {
    std::array<std::int64_t, kIdFields> values{};
    std::array<std::int32_t, kIdFields> columns{};
    std::uint32_t has = 0;

    std::int64_t operator[](IdField f) const { return values[std::size_t(f)]; }
    std::int32_t column(IdField f) const { return columns[std::size_t(f)]; }
    bool given(IdField f) const { return has >> unsigned(f) & 1; }
};

class IdListBuilder
{
public:
    // `maxRows`: no file can hold more, so a position beyond it is wrong and nothing is allocated for it.
    explicit IdListBuilder(std::int64_t maxRows) : maxRows_(maxRows) {}

    void beginFile(std::string name);
    // False: the row is wrong, error() says how.
    bool add(const IdRow& row, std::int64_t line);
    // The next row of a sequence that has begun, without extras; false: not such a row, nothing happened, use add().
    bool append(std::uint64_t epoch, std::uint64_t rank, std::uint64_t position, std::uint64_t id)
    {
        if (wide_ || lastEpoch_ == SIZE_MAX || std::uint64_t(epochs_[lastEpoch_].number) != epoch ||
            rank >= epochs_[lastEpoch_].ranks.size() || id >= 0xffffffffu)
            return false;
        Sequence& sequence = epochs_[lastEpoch_].ranks[rank];
        if (sequence.line == 0 || sequence.ids.size() != position)
            return false;
        sequence.ids.push_back(std::uint32_t(id));
        ++sequence.filled;
        ++rows_;
        ++allocated_;
        largestId_ = std::max(largestId_, std::int64_t(id));
        return true;
    }
    const Error& error() const { return error_; }
    // The file ends before line `lines` + 1.
    void endFile(std::int64_t lines) { lastLine_ = lines; }

    Result<std::unique_ptr<DataSource>> finish(const IdListOptions& options);

    Error problem(std::int64_t line, std::int64_t column, const std::string& why,
                  const std::string& fix = {}) const;

private:
    struct Sequence {
        std::vector<std::uint32_t> ids;
        std::vector<std::int64_t> wideIds; // instead of ids, once an id does not fit
        std::vector<std::uint64_t> contents;
        std::vector<std::uint32_t> steps;
        std::int64_t filled = 0;
        std::int64_t line = 0; // of its first row
        std::int32_t column = 0;
        std::size_t file = 0;

        std::size_t size(bool wide) const { return wide ? wideIds.size() : ids.size(); }
    };
    struct Epoch {
        std::int64_t number = 0;
        std::vector<Sequence> ranks;
    };

    bool wrong(std::int64_t line, std::int64_t column, const std::string& why, const std::string& fix = {});
    // nullptr: the row's rank asks for more sequences than the files have rows.
    Sequence* sequenceOf(const IdRow& row, std::int64_t line);
    bool grow(Sequence& sequence, std::int64_t position);
    void addExtras(Sequence& sequence, const IdRow& row);
    void widen();
    Status checkComplete() const;
    void makeDense(DataFacts& facts, const IdListOptions& options);

    std::int64_t maxRows_;
    std::vector<std::string> files_;
    std::int64_t lastLine_ = 0;
    std::vector<Epoch> epochs_;
    std::unordered_map<std::int64_t, std::size_t> epochIndex_;
    std::size_t lastEpoch_ = SIZE_MAX;
    std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> draws_; // (rank, worker) -> first draw
    std::int64_t rows_ = 0;
    std::int64_t allocated_ = 0; // rows and gaps
    std::int64_t sequences_ = 0; // of all epochs and ranks; each has to be filled by a row of its own
    std::int64_t largestId_ = -1;
    bool wide_ = false;
    Error error_;
};

} // namespace lockstep
