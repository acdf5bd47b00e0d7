// The project's measured envelope, DIR/envelope.json: the gradients gate writes it, compare and the window read it. It speaks
// only of runs that train as the gate's runs did.
#pragma once

#include "core/align/envelope.h"
#include "core/config/run_config.h"

#include <optional>
#include <string>

namespace lockstep {

// Replaces the project's envelope in one step; nullptr removes it, so that none of an earlier judgement stays. Errors: Io.
Status keepEnvelope(const std::string& folder, const Envelope* envelope);

// Whether `run` does the arithmetic that was measured with `measured`: model, data, global batch, seeds, optimizer and
// schedule. Number of ranks, threads and buckets may differ, that is what an envelope is about.
bool envelopeSpeaksOf(const RunConfig& measured, const RunConfig& run);

// The kept envelope for a comparison of these runs; empty: none was measured, or it is about other runs. `judged` is
// GateInfo::configJson of the gradients gate (empty: not known, the file is trusted). Errors: the file cannot be used.
Result<std::optional<Envelope>> keptEnvelope(const std::string& folder, const std::string& judged,
                                             const RunConfig& a, const RunConfig& b);

} // namespace lockstep
