// What the local headers of a damaged zip say beside its directory: whether the file was cut, or holds two saves.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/zip_scan.h"

#include <vector>

namespace lockstep {

struct ZipEvidence {
    bool read = false;           // false: no file was there to look at
    bool repeatedNames = false;  // two records of one name at two places: two saves in one file
    std::size_t otherWriter = 0; // records that fit their own descriptor and not the directory
    bool brokenInside = false;   // a record ends nowhere and whole ones follow: something was written over it
    std::uint64_t size = 0;
    ZipScan scan;
};

// Walks the first file of `checkpoint` if `problems` say that its directory is not to be trusted; that reads the whole file.
ZipEvidence readZipEvidence(const Checkpoint& checkpoint, const std::vector<const CkptProblem*>& problems);

} // namespace lockstep
