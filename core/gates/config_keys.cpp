#include "core/gates/config_keys.h"

#include "core/config/key_pairs.h"
#include "core/gates/config_diff.h"

#include <algorithm>
#include <array>

namespace lockstep {

namespace {

// Keys that say how a run is made, not what it computes.
constexpr std::array<std::string_view, 17> kNoEffect = {"record",
                                                        "checkpoint_every",
                                                        "collective_timeout_seconds",
                                                        "resume",
                                                        "join_from",
                                                        "bucket_view",
                                                        "bucket_mb",
                                                        "find_unused",
                                                        "static_graph",
                                                        "broadcast_buffers",
                                                        "backend",
                                                        "device",
                                                        "reduction",
                                                        "threads",
                                                        "faults",
                                                        "log_every",
                                                        "eval_every"};
// Keys that differ because one run has one process and the other many; global_batch and order judge them together.
constexpr std::array<std::string_view, 6> kDeclared = {"mode",  "world",      "align_world",
                                                       "batch", "accumulate", "order"};

// Of a script: how it is called and deals its samples. The recorded samples decide over that.
constexpr std::array<std::string_view, 6> kOfScript = {
    "workload_options.script",         "workload_options.sampler",          "workload_options.batch_sampler",
    "workload_options.loader_workers", "workload_options.sampler_replicas", "workload_options.collectives"};

struct JudgedBy {
    std::string_view key, check;
};
constexpr std::array kJudgedBy = {JudgedBy{"world", "preflight.global_batch"},
                                  JudgedBy{"batch", "preflight.global_batch"},
                                  JudgedBy{"accumulate", "preflight.accumulate"},
                                  JudgedBy{"align_world", "preflight.sampler"},
                                  JudgedBy{"order", "preflight.sampler"},
                                  JudgedBy{"lr", "preflight.lr"},
                                  JudgedBy{"amp", "preflight.dtype"},
                                  JudgedBy{"shuffle", "preflight.shuffle"},
                                  JudgedBy{"drop_last", "preflight.drop_last"},
                                  JudgedBy{"seed", "preflight.seed"},
                                  JudgedBy{"sampler_seed", "preflight.sampler_seed"},
                                  JudgedBy{"workload", "preflight.workload"},
                                  JudgedBy{"dropout", "preflight.workload"},
                                  JudgedBy{"optimizer", "preflight.optimizer"},
                                  JudgedBy{"momentum", "preflight.optimizer"},
                                  JudgedBy{"weight_decay", "preflight.optimizer"},
                                  JudgedBy{"scheduler", "preflight.scheduler"},
                                  JudgedBy{"scheduler_period", "preflight.scheduler"},
                                  JudgedBy{"steps", "preflight.scheduler"},
                                  JudgedBy{"epochs", "preflight.scheduler"},
                                  JudgedBy{"clip_norm", "preflight.clipping"},
                                  JudgedBy{"clip_value", "preflight.clipping"},
                                  JudgedBy{"threads", "preflight.threads"},
                                  JudgedBy{"backend", "preflight.backend"},
                                  JudgedBy{"device", "preflight.devices"}};

template<std::size_t N>
bool contains(const std::array<std::string_view, N>& list, const std::string& key)
{
    return std::find(list.begin(), list.end(), key) != list.end();
}

} // namespace

std::string checkOfKey(const std::string& key)
{
    if (key.starts_with(kWorkloadOptions))
        return key.ends_with(".scheduler") || key.ends_with(".schedule") ? "preflight.scheduler"
                                                                         : "preflight.workload";
    const auto it =
        std::find_if(kJudgedBy.begin(), kJudgedBy.end(), [&](const JudgedBy& j) { return j.key == key; });
    return it == kJudgedBy.end() ? std::string() : std::string(it->check);
}

bool isDealingOfScript(const std::string& key)
{
    return contains(kOfScript, key);
}

std::vector<ConfigDiffRow> differingKeys(const RunConfig& single, const RunConfig& ddp)
{
    std::vector<ConfigDiffRow> rows;
    const bool scripts = isScript(single) && isScript(ddp);
    const auto row = [&](const std::string& key, const std::string& a, const std::string& b) {
        const bool named = scripts && (key == "workload" || isDealingOfScript(key));
        rows.push_back({key, a, b,
                        named || contains(kNoEffect, key) ? "no effect"
                        : contains(kDeclared, key)        ? "declared"
                                                          : "changes the maths",
                        checkOfKey(key)});
    };
    for (const KeyPair& pair : keyPairs(single, ddp))
        if (pair.differs())
            row(pair.key, pair.a, pair.b);
    return rows;
}

} // namespace lockstep
