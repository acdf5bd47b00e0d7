#include "core/gates/every_world.h"

#include "core/gates/coverage.h"

namespace lockstep {

WorldSweep coverEveryWorld(const DataPlan& plan)
{
    constexpr std::int64_t rowBudget = 50'000'000; // about half a second
    WorldSweep sweep;
    DataPlan dealt = plan;
    dealt.faults.clear();
    // The permutation does not depend on the world, so plain ids 0..N-1 show the same coverage.
    dealt.shuffle = false;
    std::int64_t rows = 0;
    const bool all = plan.datasetSize * 1024 <= rowBudget;
    for (int world = 1; world <= 1024; all ? ++world : world *= 2) {
        rows += plan.datasetSize;
        if (rows > rowBudget && !all)
            break;
        dealt.world = world;
        const EpochCoverage coverage = coverEpoch(simulateEpoch(dealt, 0), plan.datasetSize, 1);
        const std::int64_t cut = plan.dropLast ? plan.datasetSize % world : 0;
        const std::int64_t omitted = coverage.omitted - cut;
        sweep.overlap += coverage.overlapped + coverage.repeatedInRank;
        sweep.omitted += omitted;
        if (sweep.failing == 0 && (!coverage.partition() || omitted != 0))
            sweep.failing = world;
        ++sweep.worlds;
    }
    return sweep;
}

} // namespace lockstep
