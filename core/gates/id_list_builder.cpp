#include "core/gates/id_list_builder.h"

#include "core/gates/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

constexpr std::uint32_t kMissing = 0xffffffffu; // a position whose row has not come
constexpr std::int64_t kMaxRank = 65535;
constexpr std::int64_t kMaxEpoch = 1'000'000'000;

} // namespace

IdField idFieldByName(const std::string& name)
{
    static const std::unordered_map<std::string, IdField> names = {
        {"epoch", IdField::Epoch},  {"rank", IdField::Rank}, {"position", IdField::Position},
        {"pos", IdField::Position}, {"id", IdField::Id},     {"sample", IdField::Id},
        {"sample_id", IdField::Id}, {"index", IdField::Id},  {"hash", IdField::Hash},
        {"content", IdField::Hash}, {"step", IdField::Step}, {"worker", IdField::Worker},
        {"draw", IdField::Draw},
    };
    const auto it = names.find(name);
    return it == names.end() ? IdField::Count : it->second;
}

void IdListBuilder::beginFile(std::string name)
{
    files_.push_back(std::move(name));
    lastLine_ = 0;
}

Error IdListBuilder::problem(std::int64_t line, std::int64_t column, const std::string& why,
                             const std::string& fix) const
{
    return Error{ErrorKind::Input,
                 fmt::format("{} cannot be imported", files_.empty() ? "The id list" : files_.back()),
                 fmt::format("line {}, column {}: {}", line, column, why),
                 fix.empty() ? "Each line needs epoch, rank, position and sample id (docs/phase1.md)" : fix};
}

bool IdListBuilder::wrong(std::int64_t line, std::int64_t column, const std::string& why,
                          const std::string& fix)
{
    error_ = problem(line, column, why, fix);
    return false;
}

IdListBuilder::Sequence* IdListBuilder::sequenceOf(const IdRow& row, std::int64_t line)
{
    const std::int64_t epoch = row[IdField::Epoch];
    if (lastEpoch_ == SIZE_MAX || epochs_[lastEpoch_].number != epoch) {
        const auto [it, isNew] = epochIndex_.try_emplace(epoch, epochs_.size());
        if (isNew) {
            epochs_.emplace_back();
            epochs_.back().number = epoch;
        }
        lastEpoch_ = it->second;
    }
    std::vector<Sequence>& ranks = epochs_[lastEpoch_].ranks;
    const auto rank = std::size_t(row[IdField::Rank]);
    if (rank >= ranks.size()) {
        const auto more = std::int64_t(rank + 1 - ranks.size());
        if (more > maxRows_ - sequences_)
            return nullptr;
        sequences_ += more;
        ranks.resize(rank + 1);
    }
    Sequence& sequence = ranks[rank];
    if (sequence.line == 0) {
        sequence.line = line;
        sequence.column = row.column(IdField::Rank);
        sequence.file = files_.size() - 1;
    }
    return &sequence;
}

bool IdListBuilder::grow(Sequence& sequence, std::int64_t position)
{
    const auto size = std::int64_t(sequence.size(wide_));
    // Every gap has to be filled by a row of its own, so all arrays together stay below the rows the files can hold.
    if (position >= maxRows_ || allocated_ + position + 1 - size > maxRows_)
        return false;
    allocated_ += position + 1 - size;
    if (wide_)
        sequence.wideIds.resize(std::size_t(position) + 1, -1);
    else
        sequence.ids.resize(std::size_t(position) + 1, kMissing);
    return true;
}

void IdListBuilder::widen()
{
    wide_ = true;
    for (Epoch& epoch : epochs_)
        for (Sequence& sequence : epoch.ranks) {
            sequence.wideIds.reserve(sequence.ids.capacity());
            for (const std::uint32_t id : sequence.ids)
                sequence.wideIds.push_back(id == kMissing ? -1 : std::int64_t(id));
            sequence.ids = {};
        }
}

void IdListBuilder::addExtras(Sequence& sequence, const IdRow& row)
{
    const auto position = std::size_t(row[IdField::Position]);
    if (row.given(IdField::Hash)) {
        sequence.contents.resize(std::max(sequence.contents.size(), position + 1));
        sequence.contents[position] = std::uint64_t(row[IdField::Hash]);
    }
    if (row.given(IdField::Step)) {
        sequence.steps.resize(std::max(sequence.steps.size(), position + 1));
        sequence.steps[position] = std::uint32_t(row[IdField::Step]);
    }
    if (row.given(IdField::Draw)) {
        const std::int32_t worker = row.given(IdField::Worker) ? std::int32_t(row[IdField::Worker]) : -1;
        draws_.try_emplace({std::int32_t(row[IdField::Rank]), worker}, std::uint64_t(row[IdField::Draw]));
    }
}

bool IdListBuilder::add(const IdRow& row, std::int64_t line)
{
    const std::int64_t position = row[IdField::Position];
    const std::int64_t id = row[IdField::Id];
    if (row[IdField::Rank] > kMaxRank)
        return wrong(line, row.column(IdField::Rank),
                     fmt::format("rank {} is above {}", row[IdField::Rank], kMaxRank));
    if (row[IdField::Epoch] > kMaxEpoch)
        return wrong(line, row.column(IdField::Epoch),
                     fmt::format("epoch {} is above {}", row[IdField::Epoch], kMaxEpoch));
    Sequence* sequence = sequenceOf(row, line);
    if (!sequence)
        return wrong(line, row.column(IdField::Rank),
                     fmt::format("rank {} is beyond the number of rows in the file", row[IdField::Rank]),
                     "Count ranks from 0, and write the rows of every rank for each epoch");
    if (id >= std::int64_t(kMissing) && !wide_)
        widen();
    const auto size = std::int64_t(sequence->size(wide_));
    if (position == size) {
        ++allocated_;
        if (wide_)
            sequence->wideIds.push_back(id);
        else
            sequence->ids.push_back(std::uint32_t(id));
    } else {
        if (position > size && !grow(*sequence, position))
            return wrong(line, row.column(IdField::Position),
                         fmt::format("position {} is beyond the number of rows in the file", position),
                         "Count positions from 0 for each epoch and rank");
        const bool taken = wide_ ? sequence->wideIds[std::size_t(position)] >= 0
                                 : sequence->ids[std::size_t(position)] != kMissing;
        if (taken)
            return wrong(line, row.column(IdField::Position),
                         fmt::format("position {} of epoch {}, rank {} was given before", position,
                                     row[IdField::Epoch], row[IdField::Rank]),
                         "Write each position once; start a new epoch number for each pass");
        if (wide_)
            sequence->wideIds[std::size_t(position)] = id;
        else
            sequence->ids[std::size_t(position)] = std::uint32_t(id);
    }
    largestId_ = std::max(largestId_, id);
    ++sequence->filled;
    ++rows_;
    if (row.has >> unsigned(IdField::Hash))
        addExtras(*sequence, row);
    return true;
}

Status IdListBuilder::checkComplete() const
{
    if (rows_ == 0)
        return problem(std::max<std::int64_t>(lastLine_, 1), 1, "there are no rows");
    std::size_t world = 0;
    for (const Epoch& epoch : epochs_)
        world = std::max(world, epoch.ranks.size());
    const Epoch* before = nullptr;
    for (const Epoch& epoch : epochs_) {
        const auto present = std::find_if(epoch.ranks.begin(), epoch.ranks.end(),
                                          [](const Sequence& s) { return s.filled > 0; });
        if (before && epoch.number != before->number + 1)
            return problem(present->line, 1,
                           fmt::format("epoch {} follows epoch {}, the epochs between are missing",
                                       epoch.number, before->number),
                           "Write every epoch of the passage that is to be judged");
        before = &epoch;
        for (std::size_t r = 0; r < world; ++r) {
            if (r >= epoch.ranks.size() || epoch.ranks[r].filled == 0)
                return problem(
                    present->line, present->column,
                    fmt::format(
                        "epoch {} has rows of rank {}, but none of rank {} (ranks 0 to {} are expected)",
                        epoch.number, present - epoch.ranks.begin(), r, world - 1),
                    "Write the rows of every rank, or give the files of all ranks");
            const Sequence& sequence = epoch.ranks[r];
            const auto size = std::int64_t(sequence.size(wide_));
            if (sequence.filled < size) {
                std::int64_t gap = 0;
                while (wide_ ? sequence.wideIds[std::size_t(gap)] >= 0
                             : sequence.ids[std::size_t(gap)] != kMissing)
                    ++gap;
                return problem(
                    sequence.line, sequence.column,
                    fmt::format("epoch {}, rank {}: position {} is missing, although position {} is there",
                                epoch.number, r, gap, size - 1),
                    "Write every position from 0 on");
            }
            for (const auto& [extra, name] :
                 {std::pair(sequence.contents.size(), "hash"), std::pair(sequence.steps.size(), "step")})
                if (extra != 0 && extra != std::size_t(size))
                    return problem(
                        sequence.line, sequence.column,
                        fmt::format("epoch {}, rank {}: only some rows have a {}", epoch.number, r, name),
                        "Give it for every row or for none");
        }
    }
    return {};
}

// Ids far apart (hashes, database keys) are numbered through, so that bitmaps stay small.
void IdListBuilder::makeDense(DataFacts& facts, const IdListOptions& options)
{
    if (!wide_ && (options.datasetSize >= 0 || largestId_ < 4 * rows_ + 1000)) {
        facts.datasetSize = options.datasetSize >= 0 ? options.datasetSize : largestId_ + 1;
        return;
    }
    if (!wide_)
        widen();
    std::vector<std::int64_t>& known = facts.originalIds;
    for (const Epoch& epoch : epochs_)
        for (const Sequence& sequence : epoch.ranks)
            known.insert(known.end(), sequence.wideIds.begin(), sequence.wideIds.end());
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    for (Epoch& epoch : epochs_)
        for (Sequence& sequence : epoch.ranks) {
            sequence.ids.reserve(sequence.wideIds.size());
            for (const std::int64_t id : sequence.wideIds)
                sequence.ids.push_back(
                    std::uint32_t(std::lower_bound(known.begin(), known.end(), id) - known.begin()));
            sequence.wideIds = {};
        }
    wide_ = false;
    facts.datasetSize = std::int64_t(known.size());
    facts.sizeKnown = false;
}

Result<std::unique_ptr<DataSource>> IdListBuilder::finish(const IdListOptions& options)
{
    std::sort(epochs_.begin(), epochs_.end(),
              [](const Epoch& a, const Epoch& b) { return a.number < b.number; });
    if (Status status = checkComplete(); !status)
        return status.error();
    DataFacts facts;
    facts.name = files_.size() == 1 ? files_.front() : fmt::format("{} id lists", files_.size());
    facts.world = int(epochs_.front().ranks.size());
    facts.sizeKnown = options.datasetSize >= 0;
    facts.hasLength = options.hasLength;
    makeDense(facts, options);
    for (const auto& [key, draw] : draws_)
        facts.draws.push_back({key.first, key.second, draw});

    const auto owner = std::make_shared<std::vector<Epoch>>(std::move(epochs_));
    std::vector<EpochOrder> orders;
    for (const Epoch& epoch : *owner) {
        EpochOrder order;
        order.epoch = epoch.number;
        order.owner = owner;
        for (const Sequence& s : epoch.ranks)
            order.ranks.push_back({s.ids.data(), 1, s.ids.size(),
                                   s.contents.empty() ? nullptr : s.contents.data(),
                                   s.steps.empty() ? nullptr : s.steps.data()});
        orders.push_back(std::move(order));
    }
    return std::unique_ptr<DataSource>(std::make_unique<MemorySource>(std::move(facts), std::move(orders)));
}

} // namespace lockstep
