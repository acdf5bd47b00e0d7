// Family A of the fault catalogue, with B4: which rank sees which samples.
#include "core/engine/fault.h"

#include "core/sampling/torch_rng.h"

#include <algorithm>
#include <map>
#include <vector>

namespace lockstep {

namespace {

// A1: no DistributedSampler, every rank walks the whole permutation.
class NoSplit : public Fault
{
public:
    explicit NoSplit(const FaultSpec&) {}
    void order(const FaultMoment&, DataOrderSpec& spec) override { spec.sampler.world = 1; }
};

// A2: the dataset is a stream that knows nothing of ranks; every rank reads it from the start.
class StreamNotSharded final : public NoSplit
{
public:
    using NoSplit::NoSplit;
    void order(const FaultMoment& at, DataOrderSpec& spec) override
    {
        NoSplit::order(at, spec);
        spec.sampler.shuffle = false;
    }
    bool hasLength() override { return false; }
};

// A3: set_epoch is never called, so every epoch has the order of epoch 0.
class NoSetEpoch final : public Fault
{
public:
    explicit NoSetEpoch(const FaultSpec&) {}
    void order(const FaultMoment&, DataOrderSpec& spec) override { spec.sampler.epoch = 0; }
};

// A4: the sampler's seed has the rank in it, so the ranks deal from different permutations.
class SeedPerRank final : public Fault
{
public:
    explicit SeedPerRank(const FaultSpec&) {}
    void order(const FaultMoment& at, DataOrderSpec& spec) override
    {
        spec.sampler.seed += std::uint64_t(at.rank);
    }
};

// A5 and A6: what happens to samples that do not divide by the world size.
class Remainder : public Fault
{
public:
    explicit Remainder(bool drop) : drop_(drop) {}
    void order(const FaultMoment&, DataOrderSpec& spec) override { spec.sampler.dropLast = drop_; }

private:
    bool drop_;
};
class Padded final : public Remainder
{
public:
    explicit Padded(const FaultSpec&) : Remainder(false) {}
};
class TailDropped final : public Remainder
{
public:
    explicit TailDropped(const FaultSpec&) : Remainder(true) {}
};

// A7: each rank lists the dataset in an order of its own, so equal ids bring different samples.
class OwnFileOrder final : public Fault
{
public:
    explicit OwnFileOrder(const FaultSpec&) {}
    std::int64_t content(const FaultMoment& at, std::int64_t id, std::int64_t datasetSize) override
    {
        if (at.rank == 0)
            return id; // rank 0's listing is the true one
        std::vector<std::int64_t>& table = tables_[at.rank];
        if (table.empty()) {
            TorchRng generator{std::uint64_t(at.rank)};
            table = torchRandperm(datasetSize, generator);
        }
        return table[std::size_t(id)];
    }

private:
    std::map<int, std::vector<std::int64_t>> tables_; // by rank: the twin asks for all of them
};

// A8: the base seed of the loader's workers is the same on all ranks.
class SharedWorkerSeed final : public Fault
{
public:
    explicit SharedWorkerSeed(const FaultSpec&) {}
    std::uint64_t baseSeed(const FaultMoment& at, std::uint64_t) override
    {
        TorchRng generator{std::uint64_t(at.step)};
        return std::uint64_t(torchDrawInt64(generator));
    }
};

// A9: the batch of the single process is kept on every rank.
class BatchKept final : public Fault
{
public:
    explicit BatchKept(const FaultSpec&) {}
    void order(const FaultMoment& at, DataOrderSpec& spec) override { spec.batch *= at.world; }
};

// A10: a framework put a sequential sampler in the place of the shuffling one.
class SamplerReplaced final : public Fault
{
public:
    explicit SamplerReplaced(const FaultSpec&) {}
    void order(const FaultMoment&, DataOrderSpec& spec) override { spec.sampler.shuffle = false; }
};

// B4: every rank but the first gives a part of its batch to the first, and DDP takes the mean of unequal means.
class UnequalShares final : public Fault
{
public:
    explicit UnequalShares(const FaultSpec& spec) : kept_(faultNumber(spec, "share", 0.5)) {}
    bool weighsTokens() override { return false; }
    void order(const FaultMoment& at, DataOrderSpec& spec) override
    {
        if (at.world > 1)
            spec.redeal = [this](const DataOrderSpec& s, auto& own, auto& all) { redeal(s, own, all); };
    }

private:
    void redeal(const DataOrderSpec& spec, std::vector<std::vector<std::int64_t>>& own,
                std::vector<std::int64_t>& all) const
    {
        const int world = spec.sampler.world;
        std::vector<std::vector<std::vector<std::int64_t>>> dealt;
        for (int r = 0; r < world; ++r)
            dealt.push_back(batches(rankOrder(spec.sampler, r), spec.batch, false));
        for (std::size_t b = 0; b < own.size(); ++b) {
            std::vector<std::int64_t> global;
            for (const auto& rank : dealt)
                global.insert(global.end(), rank[b].begin(), rank[b].end());
            const auto each = std::int64_t(own[b].size());
            const std::int64_t kept = std::clamp(std::int64_t(kept_ * double(each)), std::int64_t(1), each);
            const std::int64_t first = std::int64_t(global.size()) - (world - 1) * kept; // of rank 0
            const std::int64_t begin = spec.rank == 0 ? 0 : first + (spec.rank - 1) * kept;
            const std::int64_t end = spec.rank == 0 ? first : begin + kept;
            own[b].assign(global.begin() + begin, global.begin() + end);
            all.push_back(std::int64_t(global.size()));
        }
    }

    double kept_;
};

const FaultRegistration dataRegistrations[] = {
    faultRegistration<NoSplit>({.id = "A1",
                                .sentence = "no sampler splits the dataset: every rank sees all of it",
                                .title = "no split",
                                .signs =
                                    "sample ids alike on all ranks, steps per epoch not divided by W, rank "
                                    "losses equal in every bit without dropout",
                                .sources = "coqui Trainer #144; Lightning #6423, #7813"}),
    faultRegistration<StreamNotSharded>(
        {.id = "A2",
         .sentence = "the dataset is a stream that every rank reads from the start",
         .title = "stream not sharded",
         .signs = "as A1, in the order of the dataset, and it has no length",
         .sources = "datasets #5360; Lightning #15734; astroPT PR #64"}),
    faultRegistration<NoSetEpoch>({.id = "A3",
                                   .sentence = "set_epoch is never called",
                                   .title = "no set_epoch",
                                   .signs = "equal in epoch 0; then the order of ids repeats that of epoch 0",
                                   .sources = "pytorch #31771, #11324, #31232; DALLE-pytorch PR #230"}),
    faultRegistration<SeedPerRank>({.id = "A4",
                                    .sentence = "the sampler's seed differs per rank",
                                    .title = "sampler seed per rank",
                                    .signs = "ids of two ranks overlap, and their union lacks some",
                                    .sources = "distributed_tutorial #5; DistributedSampler documentation"}),
    faultRegistration<Padded>({.id = "A5",
                               .sentence = "the sampler pads, whatever drop_last says",
                               .title = "padding duplicates",
                               .signs = "in the last step of an epoch ids repeat, all from its head",
                               .sources = "pytorch #25162, #22584"}),
    faultRegistration<TailDropped>({.id = "A6",
                                    .sentence = "the sampler drops the tail, whatever drop_last says",
                                    .title = "tail dropped",
                                    .signs = "N mod W samples are in no step of an epoch",
                                    .sources = "DistributedSampler documentation; coqui Trainer #144"}),
    faultRegistration<OwnFileOrder>(
        {.id = "A7",
         .sentence = "each rank lists the dataset in an order of its own",
         .title = "file order differs per rank",
         .signs = "ids are dealt well, but the content hash of an id differs between ranks",
         .sources = "pytorch #70103, PR #70104; Qwen3-VL #1947; VeOmni #330; vision #192"}),
    faultRegistration<SharedWorkerSeed>(
        {.id = "A8",
         .sentence = "loader workers have the same seeds on all ranks",
         .title = "same worker seed",
         .signs = "base_seed of the event \"epoch_end\" alike on all ranks; nothing else differs",
         .sources = "transformers #37932; nvSubquadratic PR #140; fairseq #1383"}),
    faultRegistration<BatchKept>(
        {.id = "A9",
         .sentence = "the batch of the single process is kept on every rank",
         .title = "global batch changed",
         .signs = "samples per step are W times the reference's, steps per epoch 1/W",
         .sources = "nnue-pytorch PR #390; EfficientConformer #10"}),
    faultRegistration<SamplerReplaced>({.id = "A10",
                                        .sentence = "a sequential sampler replaces the shuffling one",
                                        .title = "sampler replaced",
                                        .signs = "ids differ from the reference at step 1, and ascend",
                                        .sources = "Lightning #7813, #6423"}),
    faultRegistration<UnequalShares>(
        {.id = "B4",
         .sentence = "ranks have batches of unequal size, and DDP takes the plain mean of their means",
         .parameters = {"share: part of its batch that every rank but the first keeps (0.5)"},
         .title = "mean of means",
         .signs = "samples differ between ranks; the difference vanishes when local gradients are weighed by "
                  "samples",
         .sources = "pytorch #67253; PyTorch's SyncBatchNorm test",
         .needs = {FaultNeed::Several}}),
};

} // namespace

} // namespace lockstep
