#include "core/align/scan.h"

#include "core/align/prefix_within.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <unordered_map>
#include <utility>

namespace lockstep::align {

namespace {

constexpr std::size_t kPairsPerWindow = 4096;
constexpr std::int64_t kFirstWindow =
    4096; // runs that part do so early in a stretch; the windows grow from here

struct Stretch {
    std::int64_t from; // inclusive
    std::int64_t to;   // inclusive
};

// Adds points to a Scan. Returns false once the answer is known.
class Collector
{
public:
    explicit Collector(const Judge& judge) : judge_(judge) {}

    bool add(const Point& given)
    {
        Point point = given;
        if (!point.missingA && !point.missingB) {
            const std::optional<double> limit = judge_.limit(point.stepA, point.a, point.b);
            if (!limit) {
                ++scan.unjudged;
                return true;
            }
            point.limit = *limit;
            ++scan.points;
            if (judge_.distances && point.a != point.b)
                measure(point);
            if (within(judge_.tolerance.mode, *limit, point.a, point.b, judge_.type) || bothNan(point))
                return true;
        } else {
            ++scan.points;
        }
        if (!scan.first)
            scan.first = point;
        return judge_.distances;
    }

    Scan scan;

private:
    bool bothNan(const Point& point) const
    {
        return judge_.nanEqualsNan && judge_.type == ValueType::F64 && std::isnan(doubleOf(point.a)) &&
               std::isnan(doubleOf(point.b));
    }

    void measure(const Point& point)
    {
        ++scan.distance.unequal;
        const double a = doubleOf(point.a);
        const double b = doubleOf(point.b);
        // NaN distances count as infinite.
        double absolute = std::fabs(a - b);
        if (std::isnan(absolute))
            absolute = std::numeric_limits<double>::infinity();
        const double size = std::max(std::fabs(a), std::fabs(b));
        if (absolute > scan.distance.maxAbsolute || scan.distance.maxStep < 0)
            scan.distance.maxStep = point.stepA;
        scan.distance.maxAbsolute = std::max(scan.distance.maxAbsolute, absolute);
        if (absolute > 0)
            scan.distance.maxRelative =
                std::max(scan.distance.maxRelative, std::isfinite(absolute) ? absolute / size : absolute);
        scan.distance.maxUlp = std::max(scan.distance.maxUlp, ulpDistance(a, b));
    }

    const Judge& judge_;
};

bool equalChunks(const ChunkSummary& a, const ChunkSummary& b, const Judge& judge)
{
    // In every mode but Exact a NaN differs even from itself, so chunks with one have to be looked at.
    const bool countsAsEqual = judge.tolerance.mode == CompareMode::Exact || judge.nanEqualsNan ||
                               judge.type != ValueType::F64 || a.nanCount == 0;
    return a.firstStep == b.firstStep && a.stride == b.stride && a.count == b.count &&
           a.contentHash == b.contentHash && countsAsEqual;
}

// What is left of [from, to] without the chunks that are equal on both sides; their points are counted in
// `equalPoints` together with the step from which they count.
struct Pruned {
    std::vector<Stretch> stretches;
    std::vector<std::pair<std::int64_t, std::int64_t>> equal; // first step, points
};

Pruned prune(const std::vector<ChunkSummary>& a, const std::vector<ChunkSummary>& b, std::int64_t from,
             std::int64_t to, const Judge& judge)
{
    Pruned pruned;
    std::int64_t open = from; // everything before it is decided
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i].firstStep != b[j].firstStep) {
            a[i].firstStep < b[j].firstStep ? ++i : ++j;
            continue;
        }
        const bool whole = a[i].firstStep >= from && a[i].lastStep() <= to;
        if (whole && equalChunks(a[i], b[j], judge)) {
            if (open < a[i].firstStep)
                pruned.stretches.push_back({open, a[i].firstStep - 1});
            pruned.equal.emplace_back(a[i].firstStep, a[i].count);
            open = a[i].lastStep() + 1;
        }
        ++i;
        ++j;
    }
    if (open <= to)
        pruned.stretches.push_back({open, to});
    return pruned;
}

// Points at the front of two tracks that are all within the tolerance: nearly all of long runs are.
std::size_t goodPrefix(const Track& a, const Track& b, const Judge& judge)
{
    Tolerance tolerance = judge.tolerance;
    if (judge.type != ValueType::F64)
        tolerance.mode = CompareMode::Exact;
    // With distances every unequal point has to be measured, and the envelope's limit changes with the step.
    if (a.steps != b.steps || (judge.distances && tolerance.mode != CompareMode::Exact))
        return 0;
    return prefixWithin(tolerance, a.bits, b.bits);
}

// False once the answer is known.
bool compareTracks(const Track& a, const Track& b, const Judge& judge, Collector& collector)
{
    std::size_t i = goodPrefix(a, b, judge);
    std::size_t j = i;
    collector.scan.points += std::int64_t(i);
    while (i < a.steps.size() || j < b.steps.size()) {
        const bool hasA = i < a.steps.size() && (j == b.steps.size() || a.steps[i] <= b.steps[j]);
        const bool hasB = j < b.steps.size() && (i == a.steps.size() || b.steps[j] <= a.steps[i]);
        Point point;
        point.stepA = point.stepB = hasA ? a.steps[i] : b.steps[j];
        point.missingA = !hasA;
        point.missingB = !hasB;
        if (hasA)
            point.a = a.bits[i++];
        if (hasB)
            point.b = b.bits[j++];
        if (!collector.add(point))
            return false;
    }
    return true;
}

std::unordered_map<std::int64_t, std::uint64_t> byStep(const Track& track)
{
    std::unordered_map<std::int64_t, std::uint64_t> values;
    values.reserve(track.steps.size());
    for (std::size_t i = 0; i < track.steps.size(); ++i)
        values.emplace(track.steps[i], track.bits[i]);
    return values;
}

} // namespace

std::optional<double> Judge::limit(std::int64_t step, std::uint64_t a, std::uint64_t b) const
{
    if (tolerance.mode != CompareMode::Envelope || type != ValueType::F64)
        return tolerance.limit;
    return band ? band->limit(step, std::max(std::fabs(doubleOf(a)), std::fabs(doubleOf(b)))) : std::nullopt;
}

// One window of both sides, side by side where they read different files and the window is worth a thread.
static Status loadBoth(Source& a, Source& b, std::int64_t from, std::int64_t to, ScanMemory& memory)
{
    const bool aside = a.reader() != b.reader() && to - from > kFirstWindow;
    const auto loadB = [&] { return b.load(from, to, memory.b); };
    std::future<Status> other;
    if (aside)
        other = std::async(std::launch::async, loadB);
    const Status own = a.load(from, to, memory.a);
    const Status theirs = aside ? other.get() : loadB();
    return own.ok() ? theirs : own;
}

Result<Scan> scanSteps(Source& a, Source& b, std::int64_t from, std::int64_t to, const Judge& judge)
{
    ScanMemory memory;
    return scanSteps(a, b, from, to, judge, memory);
}

Result<Scan> scanSteps(Source& a, Source& b, std::int64_t from, std::int64_t to, const Judge& judge,
                       ScanMemory& memory)
{
    const Result<std::vector<ChunkSummary>> chunksA = a.chunks();
    if (!chunksA.ok())
        return chunksA.error();
    const Result<std::vector<ChunkSummary>> chunksB = b.chunks();
    if (!chunksB.ok())
        return chunksB.error();
    const Pruned pruned = prune(*chunksA, *chunksB, from, to, judge);
    const std::int64_t largest = std::min(a.window(), b.window());
    std::int64_t window = std::min(std::max(kFirstWindow, memory.window), largest);
    Collector collector(judge);
    const auto equalUpTo = [&pruned](std::int64_t step) {
        std::int64_t points = 0;
        for (auto it = pruned.equal.begin(); it != pruned.equal.end() && it->first <= step; ++it)
            points += it->second;
        return points;
    };
    for (const Stretch& stretch : pruned.stretches) {
        for (std::int64_t at = stretch.from, end = at; at <= stretch.to; at = end) {
            end = std::min(at + window, stretch.to + 1);
            window = std::min(2 * window, largest);
            if (Status loaded = loadBoth(a, b, at, end, memory); !loaded.ok())
                return loaded.error();
            if (!compareTracks(memory.a, memory.b, judge, collector)) {
                // Where one series parts early, the others do.
                memory.window = collector.scan.first->stepA < stretch.from + kFirstWindow ? 0 : window;
                collector.scan.points += equalUpTo(collector.scan.first->stepA);
                return collector.scan;
            }
        }
    }
    memory.window = window;
    collector.scan.points += equalUpTo(to);
    return collector.scan;
}

Result<Scan> scanPairs(Source& a, Source& b, const std::vector<StepPair>& pairs, const Judge& judge)
{
    Collector collector(judge);
    for (std::size_t at = 0; at < pairs.size(); at += kPairsPerWindow) {
        const auto begin = pairs.begin() + std::ptrdiff_t(at);
        const auto end = pairs.begin() + std::ptrdiff_t(std::min(at + kPairsPerWindow, pairs.size()));
        const auto [lowB, highB] =
            std::minmax_element(begin, end, [](const StepPair& x, const StepPair& y) { return x.b < y.b; });
        const Result<Track> trackA = a.load(begin->a, (end - 1)->a + 1);
        if (!trackA.ok())
            return trackA.error();
        const Result<Track> trackB = b.load(lowB->b, highB->b + 1);
        if (!trackB.ok())
            return trackB.error();
        const auto valuesA = byStep(*trackA);
        const auto valuesB = byStep(*trackB);
        for (auto pair = begin; pair != end; ++pair) {
            const auto valueA = valuesA.find(pair->a);
            const auto valueB = valuesB.find(pair->b);
            if (valueA == valuesA.end() && valueB == valuesB.end())
                continue;
            Point point;
            point.stepA = pair->a;
            point.stepB = pair->b;
            point.missingA = valueA == valuesA.end();
            point.missingB = valueB == valuesB.end();
            point.a = point.missingA ? 0 : valueA->second;
            point.b = point.missingB ? 0 : valueB->second;
            if (!collector.add(point))
                return collector.scan;
        }
    }
    return collector.scan;
}

} // namespace lockstep::align
