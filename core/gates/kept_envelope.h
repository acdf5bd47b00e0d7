// The project's measured envelopes: the gates that train write them, compare and the window read them. Phase 2's,
// DIR/envelope.json, is of full precision without clipping; phase 3's, DIR/envelope-precision.json, of what that gate switched
// on. Each speaks only of runs that train as the gate's runs did.
#pragma once

#include "core/align/envelope.h"
#include "core/config/run_config.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

enum class KeptBy { Gradients, Precision };

// Replaces the project's envelope in one step; nullptr removes it, so that none of an earlier judgement stays. `trained`: how
// the gate's single run was set up, kept with that of phase 3. Errors: Io.
Status keepEnvelope(const std::string& folder, const Envelope* envelope, KeptBy gate = KeptBy::Gradients,
                    const RunConfig& trained = {});
// Measures the repeats and keeps what they give. None is kept where nothing could be measured, or where the model has batch
// statistics: then repeats of one process say nothing about DDP. The judgement has said so already. Errors: reading, Io.
Status keepMeasuredEnvelope(const std::string& folder, const std::vector<RunReader*>& repeats, KeptBy gate,
                            const RunConfig& trained);

// Whether `run` does the arithmetic that the gate gradients measured with `measured`: model, data, global batch, seeds,
// optimizer and schedule. Number of ranks, threads and buckets may differ, that is what an envelope is about.
bool envelopeSpeaksOf(const RunConfig& measured, const RunConfig& run);

// The kept envelope for a comparison of these runs; empty: none was measured, or it is about other runs. `judged` is
// GateInfo::configJson of the gradients gate (empty: not known, the file is trusted). Errors: the file cannot be used.
Result<std::optional<Envelope>> keptEnvelope(const std::string& folder, const std::string& judged,
                                             const RunConfig& a, const RunConfig& b);

} // namespace lockstep
