// Recorded runs as text, and comparisons back as text, so that a test shows the whole case at one glance.
//
//   mode ddp                            fields of the configuration, one per line, before the values:
//   world 2                             mode, world, align_world, bucket_mb
//   0 loss @1: 2.5 2.25 - nan           rank 0, loss of steps 1, 2 and 4; "-" is no value
//   1 loss_micro[3] @1: 0x1.8p+1 -0     index 3; floats as in C, integers and fingerprints as decimals
//   0 loss @1 x10: 2.5 2.25             steps 1 and 11
//   0 ids 1.0: 3 4 5                    sample ids of step 1, micro-batch 0
//   0 hashes 1.0: 7 7 9                 their content hashes (after the ids)
//   0 tensor 3 fc.weight reduced 1.5 77     has this norm and fingerprint at step 3; also local, update, state,
//   0 tensor 3 bn.mean buffer 0.5 12        and a buffer's state; several in one line are one record
//   0 event 6 checkpoint {"path":"a.pt"}    an event of step 6: its kind and its detail as JSON
//   commit                              everything so far is committed, what follows comes later
// Lines that begin with # are comments.
#pragma once

#include "core/align/compare.h"
#include "core/config/run_config.h"

#include <string>

namespace lockstep::test {

struct TracedRun {
    std::string folder;
    RunConfig config;
};

// Writes the run into `folder`. Mistakes in the text end the program with a message.
TracedRun writeTrace(const std::string& folder, const std::string& text);

// One line for the verdict, then one for each quantity in the order of the comparison, then what was not compared.
std::string print(const Comparison& comparison);

// writeTrace twice, compareRuns, print; errors print as their sentence.
std::string compareTraces(const std::string& folder, const std::string& a, const std::string& b,
                          const CompareOptions& options = {});

} // namespace lockstep::test
