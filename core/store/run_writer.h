// The single writer of one run.db. Lives in one thread of lockstep-cli. Appended records become visible and
// durable with commit(); after SIGKILL at any moment every committed step is there and the file opens clean.
#pragma once

#include "core/base/records.h"
#include "core/base/status.h"
#include "core/store/run_info.h"

#include <memory>
#include <string>

namespace lockstep {

class RunWriter
{
public:
    // Creates `folder`/run.db and takes the writer lock (`folder`/writer.lock, released by the kernel when
    // the process ends, however it ends). Errors: Io (unwritable, full disk), Busy.
    static Result<RunWriter> create(const std::string& folder);
    RunWriter(RunWriter&&) noexcept;
    RunWriter& operator=(RunWriter&&) noexcept;
    ~RunWriter();

    // Steps of one series must grow within a segment; a record that goes back is an Input error and nothing
    // of it is stored. Steps are 0 or more.
    Status append(const StepRecord& record);
    Status append(const SamplesRecord& record);
    Status append(const TensorRecord& record);
    Status append(const EventRecord& record);
    // A new segment may go back, for instance to the step after a checkpoint; its values supersede the
    // earlier ones.
    Status beginSegment(std::int64_t firstStep, int world, const std::string& reason);
    Status heartbeat(int rank, std::int64_t step, std::int64_t monotonicNs);
    // What makes the run folder readable by itself: "config" and "environment" (JSON), "name", "mode", ...
    Status setProperty(const std::string& key, const std::string& value);

    // On an error (disk full) nothing committed before is lost; the records since are kept and tried again
    // next time.
    Status commit();
    // Folds all tails, commits, checkpoints the WAL. The file is immutable afterwards.
    Status finish();

private:
    struct Impl;
    explicit RunWriter(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace lockstep
