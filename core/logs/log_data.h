// What the logs of other tools hold, as plain values: every stored point in the order of the file, what a restart
// replaced marked but kept, and what is wrong with the file.
#pragma once

#include "core/base/printed_digits.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// What the tool keeps of a value. Two series can be compared no finer than the coarser of the two.
enum class LogStorage { Float32, Float64, Decimal };

struct LogSeries {
    std::string run; // README of the format: folder below what was imported, run id or run name; may be empty
    std::optional<int> rank; // unknown where neither folder, prefix nor configuration says it
    std::string tag;         // as stored; nested keys are joined with a point
    LogStorage storage = LogStorage::Float64;
    std::optional<PrintedDigits> printed; // of text logs
    std::vector<std::int64_t> steps;
    std::vector<double> values; // NaN and infinities included
    // Stretches [first, last] of indices, ascending, whose points a later restart replaced.
    std::vector<std::pair<std::size_t, std::size_t>> superseded;
};

// Damage, or a part that could not be used. Everything before it is in the series, and what comes after it where the
// format lets a reader find its way again.
struct LogProblem {
    std::string file;
    std::optional<std::uint64_t> offset; // of the first record that is not whole; none: the file as a whole
    std::string text;                    // what, why and what to do
};

// What is known of a run beside its series.
struct LogRun {
    std::string run;    // as LogSeries::run
    std::string format; // "tfevents", "wandb", "trackio", "hf", "lightning_csv", "megatron", "torchtitan"
    std::string name;   // for people; empty: none was stored
    std::string group; // runs with one group are ranks of one training where their ranks differ; may be empty
};

struct LogData {
    std::vector<LogRun> runs;
    std::vector<LogSeries> series; // in order of appearance
    std::vector<LogProblem> problems;
    // Steps whose loss reads 0 although the step was not finite: the loss was NaN and the tool hid it.
    std::vector<std::int64_t> hiddenNanSteps;
};

} // namespace lockstep
