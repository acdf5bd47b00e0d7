// What recording costs the writer: 64 ranks at 200 steps a second with 20 quantities each, one commit every 100 ms.
// A reader polls beside it as the dashboard does and measures how old the newest value is when it sees it.
#include "core/store/run_reader.h"
#include "core/store/run_writer.h"
#include "figures.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <time.h>

using namespace lockstep;
using namespace lockstep::bench;

namespace {

constexpr int kRanks = 64;
constexpr int kQuantities = 20;
constexpr int kStepsPerCommit = 20; // 200 a second
constexpr double kSeconds = 30;

[[noreturn]] void fail(const Error& error)
{
    fmt::print(stderr, "{}\n", error.sentence());
    std::exit(3);
}

void check(const Status& status)
{
    if (!status.ok())
        fail(status.error());
}

double nowSeconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// CPU time of this thread: what the writer costs, whatever else the machine does.
double cpuMilliseconds()
{
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
}

void appendStep(RunWriter& writer, std::int64_t step)
{
    const std::uint64_t now = bitsOf(nowSeconds());
    for (int rank = 0; rank < kRanks; ++rank) {
        StepRecord record{rank, step, {}};
        for (std::uint16_t q = 0; q < kQuantities; ++q)
            record.values.push_back({Quantity::GradProj, q, now}); // the value is the time it was made
        check(writer.append(record));
    }
}

// Reads what is new of one series per rank each time the file has changed.
void watch(const std::string& folder, const std::atomic<bool>& stop, std::vector<double>& lags)
{
    Result<RunReader> reader = RunReader::open(folder);
    if (!reader.ok())
        fail(reader.error());
    std::vector<std::int64_t> seen(kRanks, 0);
    std::int64_t version = -1;
    while (!stop) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const std::int64_t now = reader->dataVersion();
        if (now == version)
            continue;
        version = now;
        for (int rank = 0; rank < kRanks; ++rank) {
            const Result<SeriesData> fresh =
                reader->read({rank, Quantity::GradProj, 0}, seen[std::size_t(rank)] + 1);
            if (!fresh.ok())
                fail(fresh.error());
            for (std::size_t i = 0; i < fresh->size(); ++i)
                lags.push_back((nowSeconds() - fresh->value(i)) * 1000);
            if (fresh->size() > 0)
                seen[std::size_t(rank)] = fresh->steps.back();
        }
    }
}

void live(Figures& figures, const std::string& folder)
{
    Result<RunWriter> writer = RunWriter::create(folder);
    if (!writer.ok())
        fail(writer.error());
    std::atomic<bool> stop = false;
    std::vector<double> commits, lags;
    std::thread reader(watch, folder, std::cref(stop), std::ref(lags));
    const auto begin = std::chrono::steady_clock::now();
    std::int64_t step = 0;
    const double cpuBefore = cpuMilliseconds();
    for (int commit = 1; commit <= int(kSeconds * 10); ++commit) {
        for (int k = 0; k < kStepsPerCommit; ++k) {
            std::this_thread::sleep_until(begin + std::chrono::milliseconds(5) * step);
            appendStep(*writer, ++step);
        }
        commits.push_back(milliseconds([&] { check(writer->commit()); }));
    }
    const double elapsed =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
    reader.join();
    const double finish = milliseconds([&] { check(writer->finish()); });
    Result<RunReader> result = RunReader::open(folder);
    if (!result.ok())
        fail(result.error());
    const Result<std::vector<SeriesInfo>> series = result->series();
    if (!series.ok())
        fail(series.error());
    std::int64_t points = 0;
    for (const SeriesInfo& info : *series)
        points += info.points;
    figures.add("live_lost", "64 ranks x 200 steps/s x 20 quantities for 30 s: values lost",
                double(step * kRanks * kQuantities - points), "");
    figures.add("live_commit_p50", "commit, median", quantile(commits, 0.5), "ms");
    figures.add("live_commit_p95", "commit, p95", quantile(commits, 0.95), "ms");
    figures.add("live_commit_max", "commit, worst", quantile(commits, 1), "ms");
    figures.add("live_writer_busy", "share of one core the writer needs",
                (cpuMilliseconds() - cpuBefore) / elapsed, "");
    figures.add("live_lag_p95",
                "age of a value when a reader sees it, p95 (half of it is the commit interval)",
                quantile(lags, 0.95), "ms", 200);
    figures.add("live_seen", "share of values the reader saw of the series it watches",
                double(lags.size()) / double(step * kRanks), "");
    figures.add("live_finish", "folding and checkpoint at the end", finish, "ms");
}

void bulk(Figures& figures, const std::string& folder)
{
    constexpr std::int64_t kSteps = 10'000'000;
    const double write = milliseconds([&] {
        Result<RunWriter> writer = RunWriter::create(folder);
        if (!writer.ok())
            fail(writer.error());
        StepRecord record{0, 0, {{Quantity::Loss, 0, 0}}};
        for (record.step = 1; record.step <= kSteps; ++record.step) {
            record.values[0].bits = bitsOf(1.0 / double(record.step));
            check(writer->append(record));
            if (record.step % 100'000 == 0)
                check(writer->commit());
        }
        check(writer->finish());
    });
    figures.add("bulk_write_10m", "10M values of one series written", write, "ms");
    Result<RunReader> reader = RunReader::open(folder);
    if (!reader.ok())
        fail(reader.error());
    std::vector<double> whole, overview;
    for (int round = 0; round < 5; ++round) {
        whole.push_back(milliseconds([&] {
            const Result<SeriesData> data = reader->read({0, Quantity::Loss, 0});
            if (!data.ok() || data->size() != std::size_t(kSteps))
                std::exit(1);
        }));
        overview.push_back(milliseconds([&] {
            if (!reader->chunks({0, Quantity::Loss, 0}).ok())
                std::exit(1);
        }));
    }
    figures.add("read_10m", "10M values read with steps and hash check", quantile(whole, 0.5), "ms");
    figures.add("overview_10m", "overview of 10M values (chunk rows)", quantile(overview, 0.5), "ms", 10);
}

} // namespace

int main(int argc, char** argv)
{
    Figures figures(argc, argv);
    ScratchFolder folder;
    live(figures, folder / "live");
    bulk(figures, folder / "bulk");
    return figures.print();
}
