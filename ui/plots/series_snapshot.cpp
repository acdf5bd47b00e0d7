#include "ui/plots/series_snapshot.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numeric>

namespace lockstep {

namespace {

constexpr std::size_t kFan = SeriesSnapshot::kFan;
constexpr std::size_t kBlock = SeriesSnapshot::kBlock;

} // namespace

std::shared_ptr<SeriesSnapshot> SeriesSnapshot::grow(const SeriesSnapshot* base,
                                                     std::span<const std::int64_t> steps,
                                                     std::int64_t firstStep, std::int64_t stride,
                                                     std::span<const double> values)
{
    auto result = std::make_shared<SeriesSnapshot>();
    if (base != nullptr)
        *result = *base;
    const std::size_t oldSize = result->size_;
    const std::size_t firstChanged = oldSize / kBlock;
    std::size_t done = 0;
    for (std::size_t b = firstChanged; done < values.size(); ++b) {
        auto block = std::make_shared<SeriesBlock>();
        std::size_t have = 0;
        if (b < result->blocks_.size()) {
            const SeriesBlock& old = *result->blocks_[b];
            have = old.y.size();
            block->y = old.y;
            if (!steps.empty()) {
                block->x.resize(have);
                for (std::size_t i = 0; i < have; ++i)
                    block->x[i] = old.step(i);
            }
        }
        const std::size_t n = std::min(kBlock - have, values.size() - done);
        block->y.insert(block->y.end(), values.begin() + done, values.begin() + done + n);
        if (steps.empty()) {
            block->first = firstStep + static_cast<std::int64_t>(b * kBlock) * stride;
            block->stride = stride;
        } else {
            block->x.insert(block->x.end(), steps.begin() + done, steps.begin() + done + n);
        }
        block->seal();
        if (b < result->blocks_.size())
            result->blocks_[b] = std::move(block);
        else
            result->blocks_.push_back(std::move(block));
        done += n;
    }
    result->size_ = oldSize + values.size();
    if (result->size_ > 0) {
        // One stride for the whole series lets every look-up be arithmetic.
        result->firstStep_ = result->blocks_.front()->step(0);
        std::int64_t common = result->size_ == 1                      ? 1
                              : result->blocks_.front()->y.size() > 1 ? result->blocks_.front()->stride
                                                                      : 0;
        if (oldSize > 1 && result->stride_ == 0)
            common = 0;
        for (std::size_t b = firstChanged; b < result->blocks_.size() && common > 0; ++b) {
            const SeriesBlock& block = *result->blocks_[b];
            const bool even =
                block.x.empty() && (block.y.size() == 1 || block.stride == common) &&
                block.first == result->firstStep_ + static_cast<std::int64_t>(b * kBlock) * common;
            if (!even)
                common = 0;
        }
        result->stride_ = std::max<std::int64_t>(common, 0);
    }
    result->rebuildLevels(firstChanged);
    return result;
}

void SeriesSnapshot::rebuildLevels(std::size_t fromBlock)
{
    if (blocks_.empty())
        return;
    if (levels_.empty())
        levels_.emplace_back();
    levels_[0].resize(blocks_.size());
    for (std::size_t b = fromBlock; b < blocks_.size(); ++b)
        levels_[0][b] = blocks_[b]->all;
    std::size_t from = fromBlock;
    for (std::size_t l = 1; levels_[l - 1].size() > 1; ++l) {
        if (l == levels_.size()) {
            levels_.emplace_back();
            from = 0;
        } else {
            from /= kFan;
        }
        const auto& below = levels_[l - 1];
        auto& level = levels_[l];
        level.resize((below.size() + kFan - 1) / kFan);
        for (std::size_t i = from; i < level.size(); ++i) {
            level[i] = {};
            for (std::size_t k = i * kFan; k < std::min(below.size(), (i + 1) * kFan); ++k)
                level[i].add(below[k]);
        }
    }
}

SeriesSnapshot::Ptr SeriesSnapshot::fromValues(std::int64_t firstStep, std::int64_t stride,
                                               std::span<const double> values)
{
    assert(stride > 0);
    return grow(nullptr, {}, firstStep, stride, values);
}

SeriesSnapshot::Ptr SeriesSnapshot::fromSteps(std::span<const std::int64_t> steps,
                                              std::span<const double> values)
{
    assert(steps.size() == values.size());
    if (steps.empty())
        return std::make_shared<SeriesSnapshot>();
    if (std::is_sorted(steps.begin(), steps.end()))
        return grow(nullptr, steps, 0, 0, values);
    std::vector<std::size_t> order(steps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return steps[a] < steps[b]; });
    std::vector<std::int64_t> sortedSteps(steps.size());
    std::vector<double> sortedValues(steps.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        sortedSteps[i] = steps[order[i]];
        sortedValues[i] = values[order[i]];
    }
    return grow(nullptr, sortedSteps, 0, 0, sortedValues);
}

SeriesSnapshot::Ptr SeriesSnapshot::appended(std::span<const std::int64_t> steps,
                                             std::span<const double> values) const
{
    assert(steps.size() == values.size());
    if (empty())
        return fromSteps(steps, values);
    const bool inOrder =
        std::is_sorted(steps.begin(), steps.end()) && (steps.empty() || steps.front() >= lastStep());
    if (inOrder)
        return grow(this, steps, 0, 0, values);
    std::vector<std::int64_t> allSteps(size_);
    std::vector<double> allValues(size_);
    for (std::size_t i = 0; i < size_; ++i) {
        allSteps[i] = step(i);
        allValues[i] = value(i);
    }
    allSteps.insert(allSteps.end(), steps.begin(), steps.end());
    allValues.insert(allValues.end(), values.begin(), values.end());
    return fromSteps(allSteps, allValues);
}

std::size_t SeriesSnapshot::lowerBound(double x, std::size_t hint) const
{
    const auto before = [&](std::size_t i) { return static_cast<double>(step(i)) < x; };
    if (hint >= size_ || !before(hint))
        return std::min(hint, size_);
    if (!before(size_ - 1) && stride_ != 0) {
        const double guess = std::ceil((x - static_cast<double>(firstStep_)) / static_cast<double>(stride_));
        auto i = static_cast<std::size_t>(
            std::clamp(guess, static_cast<double>(hint), static_cast<double>(size_)));
        while (i > hint && !before(i - 1))
            --i;
        while (i < size_ && before(i))
            ++i;
        return i;
    }
    // Doubling steps from the hint, then bisection: a walk over columns costs a few looks per column.
    std::size_t low = hint, high = size_;
    for (std::size_t stride = 1; low + stride < size_; stride *= 2) {
        if (!before(low + stride)) {
            high = low + stride;
            break;
        }
        low += stride;
    }
    while (low + 1 < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (before(middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

std::size_t SeriesSnapshot::nearest(double x) const
{
    const std::size_t i = lowerBound(x);
    if (i == 0)
        return 0;
    if (i == size_)
        return size_ - 1;
    return x - static_cast<double>(step(i - 1)) <= static_cast<double>(step(i)) - x ? i - 1 : i;
}

std::size_t SeriesSnapshot::indexOf(std::int64_t wanted) const
{
    std::size_t i = lowerBound(static_cast<double>(wanted));
    // Steps beyond 2^53 share doubles with their neighbours.
    while (i < size_ && step(i) < wanted)
        ++i;
    return i < size_ && step(i) == wanted ? i : size_;
}

SeriesNode SeriesSnapshot::query(std::size_t begin, std::size_t end) const
{
    SeriesNode out;
    if (begin >= end)
        return out;
    std::size_t first = begin / kBlock, last = (end - 1) / kBlock;
    if (first == last) {
        blocks_[first]->query(begin % kBlock, end - first * kBlock, out);
        return out;
    }
    // A piece of a block at either end, whole blocks between them.
    if (begin % kBlock != 0)
        blocks_[first++]->query(begin % kBlock, kBlock, out);
    if (end % kBlock != 0)
        blocks_[last]->query(0, end % kBlock, out);
    else
        ++last;
    const auto add = [&out](const std::vector<SeriesNode>& nodes, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
            out.add(nodes[i]);
    };
    for (std::size_t level = 0; first < last; ++level) {
        const std::size_t innerFirst = (first + kFan - 1) / kFan * kFan, innerLast = last / kFan * kFan;
        if (innerFirst >= innerLast || level + 1 == levels_.size()) {
            add(levels_[level], first, last);
            break;
        }
        add(levels_[level], first, innerFirst);
        add(levels_[level], innerLast, last);
        first = innerFirst / kFan;
        last = innerLast / kFan;
    }
    return out;
}

SeriesNode SeriesSnapshot::nodeAt(std::size_t level, std::size_t i) const
{
    if (level == 1)
        return blocks_[i / (kFan * kFan)]->level1.node(i % (kFan * kFan));
    if (level == 2)
        return blocks_[i / kFan]->level2.node(i % kFan);
    return levels_[level - 3][i];
}

void SeriesSnapshot::descendPositive(std::size_t level, std::size_t i, std::size_t begin, std::size_t end,
                                     double& best) const
{
    std::size_t width = 1;
    for (std::size_t l = 0; l < level; ++l)
        width *= kFan;
    const std::size_t from = std::max(begin, i * width), to = std::min({end, (i + 1) * width, size_});
    if (from >= to)
        return;
    if (level == 0) {
        if (value(i) > 0 && value(i) < best)
            best = value(i);
        return;
    }
    const SeriesNode node = nodeAt(level, i);
    if (!(node.hi > 0) || node.lo >= best)
        return; // nothing positive, or nothing smaller
    if (node.lo > 0 && to - from == width) {
        best = node.lo;
        return;
    }
    for (std::size_t child = i * kFan; child < (i + 1) * kFan; ++child)
        descendPositive(level - 1, child, begin, end, best);
}

double SeriesSnapshot::smallestPositive(std::size_t begin, std::size_t end) const
{
    double best = std::numeric_limits<double>::infinity();
    if (begin < end && !levels_.empty())
        descendPositive(2 + levels_.size(), 0, begin, end, best);
    return best;
}

// Whole blocks inside the limits are skipped, so this costs little for a series that mostly holds them.
std::size_t SeriesSnapshot::countOutside(double lo, double hi) const
{
    std::size_t count = 0;
    for (const auto& block : blocks_) {
        if (block->all.empty() || (block->all.lo >= lo && block->all.hi <= hi))
            continue;
        for (const double value : block->y)
            count += std::isfinite(value) && (value < lo || value > hi) ? 1 : 0;
    }
    return count;
}

std::size_t SeriesSnapshot::firstOutside(double lo, double hi) const
{
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const SeriesBlock& block = *blocks_[b];
        if (block.all.empty() || (block.all.lo >= lo && block.all.hi <= hi))
            continue;
        for (std::size_t i = 0; i < block.y.size(); ++i)
            if (std::isfinite(block.y[i]) && (block.y[i] < lo || block.y[i] > hi))
                return b * kBlock + i;
    }
    return size_;
}

std::size_t SeriesSnapshot::byteSize() const
{
    std::size_t bytes = sizeof(*this) + blocks_.capacity() * sizeof(blocks_[0]);
    for (const auto& block : blocks_) {
        bytes += sizeof(SeriesBlock) + block->x.capacity() * sizeof(std::int64_t) +
                 block->y.capacity() * sizeof(double);
        for (const SeriesBlock::Level* level : {&block->level1, &block->level2})
            bytes += (level->lo.capacity() + level->hi.capacity()) * sizeof(double) +
                     level->bad.capacity() * sizeof(std::uint16_t);
    }
    for (const auto& level : levels_)
        bytes += level.capacity() * sizeof(SeriesNode);
    return bytes;
}

std::size_t SeriesSnapshot::blocksSharedWith(const SeriesSnapshot& other) const
{
    std::size_t shared = 0;
    for (std::size_t b = 0; b < std::min(blocks_.size(), other.blocks_.size()); ++b)
        shared += blocks_[b] == other.blocks_[b] ? 1 : 0;
    return shared;
}

bool SeriesSnapshot::sameAs(const SeriesSnapshot& other) const
{
    if (size_ != other.size_ || stride_ != other.stride_ || levels_ != other.levels_)
        return false;
    for (std::size_t i = 0; i < size_; ++i)
        if (step(i) != other.step(i))
            return false;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const SeriesBlock &mine = *blocks_[b], &theirs = *other.blocks_[b];
        if (std::memcmp(mine.y.data(), theirs.y.data(), mine.y.size() * sizeof(double)) != 0 ||
            mine.level1 != theirs.level1 || mine.level2 != theirs.level2)
            return false;
    }
    return true;
}

} // namespace lockstep
