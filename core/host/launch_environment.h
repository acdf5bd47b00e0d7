// What a rank is started with: the program and the environment torchrun would give it, plus ours.
#pragma once

#include "core/base/status.h"

#include <QProcessEnvironment>

#include <cstdint>
#include <string>

namespace lockstep {

struct LaunchFacts {
    std::string runId;
    std::string runFolder;
    int world = 1;
    int threads = 1;
    std::uint16_t masterPort = 0;
    int storeFd = -1;    // listening socket of masterPort, for rank 0
    std::string connect; // address of the ingest server
    std::string token;
};

QProcessEnvironment rankEnvironment(const LaunchFacts& facts, int rank);

// The newest complete checkpoint of a run; empty: none.
std::string newestCheckpoint(const std::string& runFolder);

// Where this very program lies. Needs no application object: commands that only ask whether a worker is there have none.
QString programFolder();

// lockstep-worker: the environment variable LOCKSTEP_WORKER, beside this program, or in ../libexec/lockstep.
Result<std::string> findWorker();

} // namespace lockstep
