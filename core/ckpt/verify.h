// Everything that can be said about one checkpoint: structure, checksums, catalogue findings, resume checklist, and for cut
// files what can still be saved.
#pragma once

#include "core/ckpt/salvage.h"
#include "core/ckpt/verdict.h"

#include <string>

namespace lockstep {

struct VerifyOptions {
    bool checkBytes = true; // CRC of every record; reads the whole file
    int threads = 0;
};

struct VerifyReport {
    std::string path;
    Container container = Container::Other;
    std::string result; // "ok", "refused", "damaged"
    std::vector<Verdict> verdicts;
    std::vector<ResumeItem> resume;
    std::optional<SalvagePlan> salvage; // for files that are damaged and partly whole
    std::uint64_t bytesChecked = 0;
    std::uint64_t recordsChecked = 0;
    std::uint64_t recordsWithoutCrc = 0;

    // No failure among the verdicts.
    bool passed() const;
};

// `target` may be null. A folder of per-rank files (rank0.pt, rank1.pt ...) is verified file by file. Fails only if the
// path cannot be opened.
Result<VerifyReport> verifyCheckpoint(const std::string& path, const Target* target,
                                      const VerifyOptions& options = {});

} // namespace lockstep
