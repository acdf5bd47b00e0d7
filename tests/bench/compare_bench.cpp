// First divergent step of two long runs. Every figure is the median of 5 warm comparisons, readers opened each time.
#include "core/align/compare.h"
#include "core/store/run_reader.h"
#include "core/store/run_writer.h"
#include "figures.h"

#include <cmath>
#include <cstdlib>

using namespace lockstep;
using namespace lockstep::bench;

namespace {

constexpr std::int64_t kLong = 10'000'000;
constexpr std::int64_t kWide = 1'000'000;
constexpr int kRanks = 64;

[[noreturn]] void fail(const Error& error)
{
    fmt::print(stderr, "{}\n", error.sentence());
    std::exit(3);
}

// A falling curve; every value from `noiseFrom` on differs in its last bits, the value at `faultAt` visibly.
struct Curve {
    std::int64_t noiseFrom = INT64_MAX;
    std::int64_t faultAt = INT64_MAX;

    double at(int rank, std::int64_t step) const
    {
        double value = 2 + 8.0 / (1 + double(step) * 1e-4) + rank;
        if (step >= noiseFrom)
            value = std::nextafter(value, 100);
        return step == faultAt ? value + 1 : value;
    }
};

void write(const std::string& folder, int ranks, std::int64_t steps, const Curve& curve)
{
    Result<RunWriter> writer = RunWriter::create(folder);
    if (!writer.ok())
        fail(writer.error());
    StepRecord record{0, 0, {{Quantity::Loss, 0, 0}}};
    for (std::int64_t begin = 1; begin <= steps; begin += 100'000) {
        for (record.rank = 0; record.rank < ranks; ++record.rank) {
            for (record.step = begin; record.step < std::min(begin + 100'000, steps + 1); ++record.step) {
                record.values[0].bits = bitsOf(curve.at(record.rank, record.step));
                if (Status appended = writer->append(record); !appended.ok())
                    fail(appended.error());
            }
        }
        if (Status committed = writer->commit(); !committed.ok())
            fail(committed.error());
    }
    if (Status finished = writer->finish(); !finished.ok())
        fail(finished.error());
}

// Milliseconds until the first divergent step is known; it has to be `expected`.
double compare(const std::string& a, const std::string& b, int ranks, const char* mode, std::int64_t expected)
{
    std::vector<double> times;
    for (int round = 0; round < 6; ++round) {
        const double time = milliseconds([&] {
            Result<RunReader> readerA = RunReader::open(a);
            Result<RunReader> readerB = RunReader::open(b);
            if (!readerA.ok() || !readerB.ok())
                fail(readerA.ok() ? readerB.error() : readerA.error());
            RunConfig config;
            config.mode = ranks > 1 ? "ddp" : "single";
            config.world = ranks;
            CompareOptions options;
            options.tolerance = *parseTolerance(mode);
            const Result<Comparison> comparison = compareRuns(*readerA, config, *readerB, config, options);
            if (!comparison.ok())
                fail(comparison.error());
            const FirstDifference* origin = comparison->origin();
            if ((origin ? origin->step : -1) != expected) {
                fmt::print(stderr, "wrong answer: step {} instead of {}\n", origin ? origin->step : -1,
                           expected);
                std::exit(1);
            }
        });
        if (round > 0) // the first one warms the cache
            times.push_back(time);
    }
    return quantile(times, 0.5);
}

} // namespace

int main(int argc, char** argv)
{
    Figures figures(argc, argv);
    ScratchFolder folder;
    write(folder / "a", 1, kLong, {});
    write(folder / "late", 1, kLong, {INT64_MAX, kLong - 1});
    write(folder / "noise", 1, kLong, {1, kLong - 1});
    const std::string a = folder / "a";
    figures.add("first_step_10m", "10M steps, one value differs near the end, exact",
                compare(a, folder / "late", 1, "exact", kLong - 1), "ms", 100);
    figures.add("first_step_10m_early", "10M steps, every value differs, exact",
                compare(a, folder / "noise", 1, "exact", 1), "ms", 100);
    figures.add("first_step_10m_abs", "10M steps, all chunks differ within abs:1e-6, one value beyond",
                compare(a, folder / "noise", 1, "abs:1e-6", kLong - 1), "ms", 100);
    figures.add("first_step_10m_rel", "the same with rel:1e-6",
                compare(a, folder / "noise", 1, "rel:1e-6", kLong - 1), "ms", 100);
    figures.add("first_step_10m_ulp", "the same with ulp:4",
                compare(a, folder / "noise", 1, "ulp:4", kLong - 1), "ms", 100);
    for (const char* name : {"a", "late", "noise"})
        std::filesystem::remove_all(folder / name);
    write(folder / "wide-a", kRanks, kWide, {});
    write(folder / "wide-late", kRanks, kWide, {INT64_MAX, kWide - 1});
    figures.add("first_step_64x1m", "64 ranks x 1M steps, one value per rank differs near the end, exact",
                compare(folder / "wide-a", folder / "wide-late", kRanks, "exact", kWide - 1), "ms", 500);
    std::filesystem::remove_all(folder / "wide-late");
    write(folder / "wide-noise", kRanks, kWide, {1, kWide - 1});
    figures.add("first_step_64x1m_abs",
                "64 ranks x 1M steps, all chunks differ within abs:1e-6, one value beyond",
                compare(folder / "wide-a", folder / "wide-noise", kRanks, "abs:1e-6", kWide - 1), "ms", 500);
    return figures.print();
}
