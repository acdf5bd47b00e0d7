// The whole configuration of a run: one JSON document, written by the launcher, read by the worker, stored
// with the run. Field names of the JSON equal the member names in snake_case; unknown fields are kept out of
// the struct but are not an error, so that an older worker can run a newer project.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// One `--fault ID[,k=v]`: a named deviation of the engine, used by tests, demos and proof by replay.
struct FaultSpec {
    std::string id; // catalogue id, e.g. "B6"
    std::map<std::string, std::string> parameters;

    bool operator==(const FaultSpec&) const = default;
};

struct RunConfig {
    std::string name;
    std::string mode = "single"; // single | ddp | fsdp | twin
    std::string workload = "toy-mlp";
    int world = 1; // ranks of ddp and fsdp; ranks replayed by twin; 1 for single
    // One process with order "aligned": trains on the global batches of a DDP run of this world.
    int alignWorld = 1;
    // The ranks' micro-batches are joined starting with this rank: the same global batch summed in another order,
    // for measuring an envelope.
    int joinFrom = 0;
    // The ranks to which samples and random streams are dealt; each process works through those of dataWorld / world
    // of them, one after the other. 0: as many as there are processes. Not with alignWorld.
    int dataWorld = 0;
    std::int64_t batch = 32;       // samples per rank and micro-batch
    std::int64_t steps = 0;        // optimizer steps; 0: as many as `epochs` give
    std::int64_t epochs = 0;       // 0 with steps 0: the workload's default
    std::string order = "aligned"; // aligned: DistributedSampler order; python: DataLoader(shuffle=True)
    bool shuffle = true;
    bool dropLast = false; // of the sampler
    std::uint64_t seed = 42;
    std::uint64_t samplerSeed = 0;
    std::string optimizer = "adam"; // sgd | adam | adamw
    double lr = 1e-3;
    double momentum = 0.9; // sgd
    double weightDecay = 0;
    std::string scheduler = "none"; // none | step | cosine | warmup
    std::int64_t schedulerPeriod =
        0;                // optimizer steps: StepLR's step size, T_max, warm-up length; 0: from `steps`
    double clipNorm = 0;  // 0: off
    double clipValue = 0; // 0: off
    int accumulate = 1;
    std::string amp = "off";                  // off | bf16 | fp16
    double scalerScale = 65536;               // of the gradient scaler at the start; fp16
    std::int64_t scalerGrowthInterval = 2000; // steps without inf after which the scale doubles
    std::string backend = "gloo";             // gloo | nccl
    std::string device = "cpu";               // cpu | cuda
    std::string reduction = "native";         // native | ordered
    bool findUnused = false;
    bool staticGraph = false;
    bool bucketView = false;
    double bucketMb = 0; // 0: DDP's default (1 MiB, then 25 MiB)
    bool broadcastBuffers = true;
    double dropout = -1;          // -1: the workload's own
    std::string freeze;           // start of the names of parameters that are not trained before freezeUntil
    std::int64_t freezeUntil = 0; // the first step that trains them
    int threads = 1;              // intra-op threads per rank
    std::string record = "step";  // off | step | tensor | full
    std::int64_t checkpointEvery = 0; // optimizer steps; 0: only at the end
    std::string keepSteps = "1";      // record full: the steps whose tensors are kept, e.g. "1,10,200-205"
    std::int64_t logEvery = 0; // optimizer steps between losses that rank 0 shows as the run's; 0: none
    std::int64_t evalEvery =
        0; // optimizer steps between evaluations on the workload's evaluation set; 0: none
    double collectiveTimeoutSeconds = 60;
    std::string resume; // path of a checkpoint; empty: from the start
    std::vector<FaultSpec> faults;
    std::map<std::string, std::string> workloadOptions; // e.g. char-gpt "ragged" = "1"

    bool operator==(const RunConfig&) const = default;
};

std::string toJson(const RunConfig& config);
// Errors: not JSON, a field of the wrong type; the error names the field.
Result<RunConfig> runConfigFromJson(const std::string& text);

// Values outside their range or words outside their list; names the option, what is allowed and what was
// given.
Status validate(const RunConfig& config);

// How many ranks' micro-batches make up one step; with their size and number, how many samples that is (the global batch).
int dataRanks(const RunConfig& config);
std::int64_t samplesPerStep(const RunConfig& config);

// "B6,k=2" -> FaultSpec. The id is not checked against the catalogue here (core/engine owns the list).
Result<FaultSpec> parseFault(const std::string& text);

// All keys with their values as text, in the order of the struct: for tables and configuration diffs.
std::vector<std::pair<std::string, std::string>> flatten(const RunConfig& config);

} // namespace lockstep
