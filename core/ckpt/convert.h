// Writes a checkpoint anew: plain types only, so that weights_only=True loads it; shards become one file; names, element
// types and devices changed on request.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/save_value.h"
#include "core/ckpt/torch_zip_writer.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

enum class OutputFormat : std::uint8_t { Torch, Safetensors };

struct ConvertOptions {
    OutputFormat format = OutputFormat::Torch;
    std::vector<std::string> strip; // prefixes taken off, in this order, where a name begins with them
    std::string addPrefix;
    bool dropWrappers = false;  // wrapper segments anywhere in a name (prefix.h)
    bool modelOnly = false;     // only the state dict of the model
    bool compact = false;       // tensors get storages of their own; ties of equal views are kept
    bool cpu = false;           // device tags become "cpu"
    std::optional<DType> dtype; // floats are converted to it
    bool durable = true;
    // Leaves tensors out, for salvage: returns false for a tensor that must not be written.
    std::function<bool(const TensorInfo&)> keep;
};

struct ConvertReport {
    std::vector<std::pair<std::string, std::string>> renamed; // old name, new name
    std::vector<std::string> notes; // what was changed or left out, one sentence each
    std::vector<std::string> keys;  // tensors written
    std::uint64_t bytes = 0;        // of the new file
    std::string needsTorch;
};

// What would be written, without writing. Errors: Usage (names collide, no model part), Corrupt (bytes cannot be read).
Result<ConvertReport> previewConvert(const Checkpoint& checkpoint, const ConvertOptions& options);
// The same, written to `output` atomically. Memory: the largest tensor that is put together from pieces, plus a few MB.
Result<ConvertReport> convertCheckpoint(const Checkpoint& checkpoint, const std::string& output,
                                        const ConvertOptions& options);

} // namespace lockstep
