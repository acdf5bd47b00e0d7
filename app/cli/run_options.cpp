#include "app/cli/run_options.h"

#include "app/cli/resume_options.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <type_traits>

namespace lockstep {

namespace {
constexpr int kDefaultWorld = 2; // ddp, fsdp and twin mean nothing without a second rank

// CLI11 clamps what does not fit into 64 bits; such a number is refused instead.
template<typename T>
std::string fitsInto64Bits(const std::string& text)
{
    errno = 0;
    if constexpr (std::is_unsigned_v<T>)
        std::strtoull(text.c_str(), nullptr, 0);
    else
        std::strtoll(text.c_str(), nullptr, 0);
    if (errno != ERANGE)
        return {};
    return fmt::format("{} does not fit into 64 bits; the largest is {}", text,
                       std::numeric_limits<T>::max());
}
} // namespace

void RunConfigOptions::addTo(CLI::App& command)
{
    RunConfig& c = config_;
    // An empty value is a shell variable that was never set, not the wish for the default.
    const auto given = [](const std::string& value) {
        return value.empty() ? std::string("the value is empty") : std::string();
    };
    const auto word = [&](const char* name, std::string& field, const char* description, const char* form) {
        return command.add_option(name, field, description)->option_text(form)->check(given);
    };
    const auto number = [&](const char* name, auto& field, const char* description, const char* form = "N") {
        using Field = std::remove_reference_t<decltype(field)>;
        CLI::Option* option = command.add_option(name, field, description)->option_text(form);
        if constexpr (std::is_integral_v<Field>)
            option->check(
                fitsInto64Bits<std::conditional_t<std::is_signed_v<Field>, std::int64_t, std::uint64_t>>);
        return option;
    };
    const auto flag = [&](const char* name, bool& field, const char* description) {
        command.add_flag(name, field, description);
    };

    command_ = &command;
    mode_ = word("--mode", c.mode, "how to train (default single)", "single|ddp|fsdp|twin");
    workload_ = word("--workload", c.workload, "what to train (default: the project's)", "NAME");
    word("--name", c.name, "name of the run (default: made from mode and world)", "NAME");
    world_ = number("--world", c.world, "ranks (default 2 for ddp, fsdp and twin)");
    number("--batch", c.batch, "samples per rank and micro-batch (default 32)");
    number("--steps", c.steps, "optimizer steps");
    number("--epochs", c.epochs, "epochs, where --steps is absent");
    number("--align-world", c.alignWorld, "single: train on the global batches of a DDP run of this world",
           "W");
    number("--data-world", c.dataWorld,
           "deal the samples as to this many ranks; each process works through several", "W");
    number("--join-from", c.joinFrom,
           "aligned: the rank whose micro-batches come first (another order of sums)", "R");
    word("--order", c.order, "order of the samples (default aligned)", "aligned|python");
    flag("--no-shuffle", noShuffle_, "samples in their own order");
    flag("--drop-last", c.dropLast, "the sampler drops the tail that does not divide");
    number("--seed", c.seed, "seed of weights and dropout (default 42)", "S");
    number("--sampler-seed", c.samplerSeed, "seed of the sample order (default 0)", "S");
    word("--optimizer", c.optimizer, "default adam", "sgd|adam|adamw");
    number("--lr", c.lr, "learning rate (default 0.001)", "X");
    number("--momentum", c.momentum, "of sgd (default 0.9)", "X");
    number("--weight-decay", c.weightDecay, "default 0", "X");
    word("--scheduler", c.scheduler, "default none", "none|step|cosine|warmup");
    number("--scheduler-period", c.schedulerPeriod,
           "optimizer steps of the schedule (default: from the run's length)");
    number("--clip-norm", c.clipNorm, "clip gradients by norm", "X");
    number("--clip-value", c.clipValue, "clip gradients by value", "X");
    number("--accumulate", c.accumulate, "micro-batches per optimizer step (default 1)", "K");
    number("--dropout", c.dropout, "probability (default: the workload's)", "X");
    word("--amp", c.amp, "mixed precision (default off)", "off|bf16|fp16");
    number("--scaler-scale", c.scalerScale, "fp16: loss scale at the start (default 65536)", "X");
    number("--scaler-growth-interval", c.scalerGrowthInterval,
           "fp16: steps without inf after which the scale doubles (default 2000)");
    word("--backend", c.backend, "default gloo", "gloo|nccl");
    word("--device", c.device, "default cpu", "cpu|cuda");
    word("--reduction", c.reduction, "order of gradient sums (default native)", "native|ordered");
    flag("--find-unused", c.findUnused, "DDP: find_unused_parameters");
    flag("--static-graph", c.staticGraph, "DDP: static_graph");
    flag("--bucket-view", c.bucketView, "DDP: gradient_as_bucket_view");
    number("--bucket-mb", c.bucketMb, "DDP: bucket_cap_mb (default: 1 MiB, then 25 MiB)", "X");
    flag("--no-broadcast-buffers", noBroadcast_, "DDP: broadcast_buffers off");
    number("--threads", c.threads, "threads per rank (default 1; part of the bits)");
    word("--record", c.record, "what is recorded (default step)", "off|step|tensor|full");
    word("--keep-steps", c.keepSteps, "record full: steps whose tensors are kept (default 1)",
         "1,10,200-205");
    number("--checkpoint-every", c.checkpointEvery,
           "optimizer steps between checkpoints (default: only at the end)");
    number("--collective-timeout", c.collectiveTimeoutSeconds,
           "seconds a rank waits for the others (default 60)", "S");
    number("--log-every", c.logEvery,
           "optimizer steps between losses rank 0 shows as the run's (default: none)");
    number("--eval-every", c.evalEvery, "optimizer steps between evaluations (default: none)");
    word("--freeze", c.freeze, "start of the names of parameters that train later", "NAME");
    number("--freeze-until", c.freezeUntil, "the first optimizer step that trains them");
    word("--resume", c.resume, "checkpoint to go on from", "FILE");
    command.add_option("--fault", faults_, "a deviation of the engine on purpose; may be repeated")
        ->option_text("ID[,k=v]")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command.add_option("--workload-option", workloadOptions_, "an option of the workload; may be repeated")
        ->option_text("K=V")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Result<RunConfig> RunConfigOptions::resumed(RunConfig given) const
{
    std::error_code ignored;
    if (!std::filesystem::exists(given.resume, ignored))
        return Error{ErrorKind::NotFound, fmt::format("The run cannot go on from {}", given.resume),
                     "there is no such file",
                     "Name a checkpoint; lockstep-cli runs shows the folders of the runs"};
    given.resume = std::filesystem::absolute(given.resume); // the ranks have another working folder in mind
    Result<RunConfig> config = configFromCheckpoint(*command_, given);
    if (!config)
        return config;
    if (mode_->count() > 0 && world_->count() == 0) {
        if (config->mode == "single")
            config->world = 1;
        else if (config->world == 1)
            config->world = kDefaultWorld;
    }
    return config;
}

Result<RunConfig> RunConfigOptions::config(const std::string& projectWorkload) const
{
    RunConfig config = config_;
    if (workload_->count() == 0 && !projectWorkload.empty())
        config.workload = projectWorkload;
    if (world_->count() == 0 && config.mode != "single")
        config.world = kDefaultWorld;
    if (config.dropout < 0 && command_->count("--dropout") > 0)
        return Error{ErrorKind::Usage, fmt::format("--dropout {} is not possible", config.dropout),
                     "allowed: 0 to 1", "Leave --dropout out for the workload's own"};
    config.shuffle = !noShuffle_;
    config.broadcastBuffers = !noBroadcast_;
    for (const std::string& text : faults_) {
        Result<FaultSpec> fault = parseFault(text);
        if (!fault)
            return fault.error();
        config.faults.push_back(std::move(fault).value());
    }
    for (const std::string& text : workloadOptions_) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            return Error{ErrorKind::Usage, fmt::format("--workload-option {} cannot be read", text),
                         "the form is NAME=VALUE", "Write for example --workload-option ragged=1"};
        config.workloadOptions[text.substr(0, equals)] = text.substr(equals + 1);
    }
    if (!config.resume.empty()) {
        Result<RunConfig> whole = resumed(std::move(config));
        if (!whole)
            return whole.error();
        config = std::move(whole).value();
    }
    if (Status valid = validate(config); !valid)
        return valid.error();
    return config;
}

} // namespace lockstep
