// What the commands share. A command registers its options with CLI11 and, when it is chosen, leaves an
// action here; main runs it after parsing. Actions return the exit code (design: 0 pass, 1 a check failed or
// runs differ, 2 wrong usage, 3 environment or input unusable or nothing to compare, 4 a run failed).
#pragma once

#include "core/base/status.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace lockstep {

struct CliContext {
    int argc = 0;
    char** argv = nullptr; // for commands that need a QCoreApplication
    bool json = false;     // one document on standard output instead of text for people
    std::function<int()> action;

    // Registers a command: `act` is called if the command line names it.
    CLI::App* command(CLI::App& app, const std::string& name, const std::string& description,
                      std::function<int()> act);
};

// The error on standard error as one sentence of what, why and what to do. Returns its exit code.
int fail(const Error& error);
void warn(const std::string& text);

void addInitCommand(CLI::App& app, CliContext& context);
void addRunCommand(CLI::App& app, CliContext& context);
void addProbeCommand(CLI::App& app, CliContext& context);
void addRunsCommand(CLI::App& app, CliContext& context);
void addStopCommand(CLI::App& app, CliContext& context);
void addFaultsCommand(CLI::App& app, CliContext& context);
void addImportCommand(CLI::App& app, CliContext& context);
void addExportCommand(CLI::App& app, CliContext& context);
void addGateCommand(CLI::App& app, CliContext& context);
void addDrillCommand(CLI::App& app, CliContext& context);
void addSwitchCommand(CLI::App& app, CliContext& context);
void addReportCommand(CLI::App& app, CliContext& context);
void addCompareCommand(CLI::App& app, CliContext& context);
void addDiagnoseCommand(CLI::App& app, CliContext& context);
void addLintCommand(CLI::App& app, CliContext& context);
void addCkptCommand(CLI::App& app, CliContext& context);

} // namespace lockstep
