// The options of `run` that make a RunConfig.
#pragma once

#include "core/base/status.h"
#include "core/config/run_config.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace lockstep {

class RunConfigOptions
{
public:
    void addTo(CLI::App& command);
    // The configuration the command line asks for. `projectWorkload` is used where --workload is absent; with --resume
    // everything that is absent comes from the run that wrote the checkpoint.
    Result<RunConfig> config(const std::string& projectWorkload) const;

private:
    Result<RunConfig> resumed(RunConfig given) const;

    RunConfig config_;
    const CLI::App* command_ = nullptr;
    CLI::Option* mode_ = nullptr;
    CLI::Option* world_ = nullptr;
    CLI::Option* workload_ = nullptr;
    bool noShuffle_ = false;
    bool noBroadcast_ = false;
    std::vector<std::string> faults_;
    std::vector<std::string> workloadOptions_;
};

} // namespace lockstep
