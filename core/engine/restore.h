// Puts the tensors of a checkpoint back into a replica. Reads with core/ckpt: nothing of the file is executed.
#pragma once

#include "core/base/status.h"
#include "core/engine/bucket_layout.h"
#include "core/engine/replica.h"
#include "core/engine/resume_plan.h"

#include <memory>
#include <string>

namespace lockstep {

class ResumePoint
{
public:
    // Opens the file, checks the checksum of every record, and plans how `wanted` goes on from it.
    static Result<ResumePoint> open(const RunConfig& wanted, std::int64_t datasetSize);

    const RunConfig& config() const { return plan_.config; } // with what the checkpoint decides
    std::int64_t step() const { return saved_.step; }

    // What all ranks have in common: model, optimizer, schedule, counters, place in the data. Errors: a key that is
    // missing or has another shape.
    Status restore(Replica& replica) const;
    // What is this rank's own: buffers, where as many ranks wrote it, and random streams. After the ranks' initial
    // broadcast. A rank of the data that the checkpoint does not know gets a new stream.
    Status restoreRank(Replica& replica) const;
    // The layout of the flat gradients that the saved run had reached; empty if this run lays them out by other rules.
    // The order of Gloo's additions depends on it.
    Buckets buckets(const Replica& replica) const;
    // Of the "resume" event, as JSON. `state`: fingerprints and counters of what was put back.
    std::string detail(const StepRecord& state) const;

private:
    ResumePoint(Checkpoint checkpoint, SavedRun saved, ResumePlan plan);

    std::unique_ptr<const Checkpoint> checkpoint_; // values point into it
    SavedRun saved_;
    ResumePlan plan_;
};

} // namespace lockstep
