// The orders a recorded run really used: sample ids, content hashes, steps and the ranks' generator streams.
#pragma once

#include "core/base/status.h"
#include "core/gates/data_source.h"
#include "core/store/run_reader.h"

#include <memory>
#include <string>

namespace lockstep {

// `plan`: the run's configuration as a plan; its datasetSize -1 means unknown, the largest recorded id decides then.
// Epochs that the ranks did not finish are left out. A run that was resumed inside an epoch gets the ids before the resume
// from the plan, because another run recorded them. Errors: Input if there is no sample or no whole epoch; what the reader
// reports.
Result<std::unique_ptr<DataSource>> recordedOrders(RunReader& run, const std::string& name,
                                                   const DataPlan& plan);

} // namespace lockstep
