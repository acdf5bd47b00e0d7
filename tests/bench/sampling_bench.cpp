// Phase 1 at scale: the full check of one epoch of 100 million samples at world 1,024 (limit 2 s and 1 GiB), and the
// import of an id list (limit 20 million rows per second).
#include "core/gates/data_judge.h"
#include "core/gates/id_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

using namespace lockstep;

namespace {

double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double peakMiB()
{
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_maxrss) / 1024;
}

// Best of `rounds`: simulation of the sampler, coverage and all checks.
double judgeSeconds(int rounds)
{
    DataPlan plan;
    plan.datasetSize = 100'000'000;
    plan.world = 1024;
    plan.epochs = 1;
    double best = 1e9;
    for (int i = 0; i < rounds; ++i) {
        PlanSource source(plan);
        const double begin = seconds();
        const Result<DataVerdict> verdict = judgeData(source, plan);
        best = std::min(best, seconds() - begin);
        if (!verdict || verdict->epochs.front().seen != plan.datasetSize ||
            verdict->epochs.front().overlap != 0)
            return -1;
    }
    return best;
}

double importRowsPerSecond(std::int64_t rows, int rounds)
{
    const std::string path =
        fmt::format("{}/sampling_bench_{}.csv", std::filesystem::temp_directory_path().string(), getpid());
    DataPlan plan;
    plan.datasetSize = rows / 2;
    plan.world = 4;
    {
        std::ofstream file(path, std::ios::binary);
        for (std::int64_t e = 0; e < 2; ++e) {
            const EpochOrder order = simulateEpoch(plan, e);
            std::string text;
            for (std::size_t p = 0; p < order.ranks.front().count; ++p)
                for (std::size_t r = 0; r < order.ranks.size(); ++r)
                    fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", e, r, p, order.ranks[r][p]);
            file << text;
        }
    }
    double best = 1e9;
    bool right = true;
    for (int i = 0; i < rounds; ++i) {
        const double begin = seconds();
        auto source = importIdLists({path});
        best = std::min(best, seconds() - begin);
        right = right && source && (*source)->load(1)->rows() == std::size_t(rows / 2);
    }
    std::filesystem::remove(path);
    return right ? double(rows) / best : -1;
}

} // namespace

int main(int argc, char** argv)
{
    const bool json = argc > 1 && std::string(argv[1]) == "--json";
    const double judge = judgeSeconds(3);
    const double memory = peakMiB();
    const double rows = importRowsPerSecond(10'000'000, 3);
    if (json) {
        std::printf("{\"check_seconds\":%.3f,\"check_mib\":%.0f,\"import_rows_per_second\":%.0f}\n", judge,
                    memory, rows);
    } else {
        std::printf(
            "100,000,000 samples at world 1,024, one epoch: %.2f s (limit 2), %.0f MiB (limit 1,024)\n",
            judge, memory);
        std::printf("id list: %.1f million rows per second (limit 20)\n", rows / 1e6);
    }
    return judge < 0 || rows < 0 ? 1 : 0;
}
