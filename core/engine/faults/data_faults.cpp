// Family A of the fault catalogue, with E6 and F7: which rank sees which samples, with which random numbers.
#include "core/engine/fault.h"

#include "core/sampling/torch_rng.h"

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
        if (std::int64_t(table_.size()) != datasetSize) {
            TorchRng generator{std::uint64_t(at.rank)};
            table_ = torchRandperm(datasetSize, generator);
        }
        return table_[std::size_t(id)];
    }

private:
    std::vector<std::int64_t> table_;
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

// E6: the ranks' own generators are seeded without the rank.
class SharedStream final : public Fault
{
public:
    explicit SharedStream(const FaultSpec&) {}
    std::uint64_t streamSeed(const FaultMoment& at, std::uint64_t seed) override
    {
        return seed - std::uint64_t(at.rank);
    }
};

// F7: a resume restores the position inside the epoch, but not the epoch of the sampler.
class OrderLostOnResume final : public Fault
{
public:
    explicit OrderLostOnResume(const FaultSpec&) {}
    void order(const FaultMoment& at, DataOrderSpec& spec) override
    {
        const std::int64_t micros = batchCount(samplesPerRank(spec.sampler), spec.batch, false);
        const std::int64_t steps = (micros + spec.accumulate - 1) / spec.accumulate;
        // An epoch that is opened anywhere but at its first step is continued after a resume.
        if (steps > 0 && (at.step - 1) % steps != 0)
            spec.sampler.epoch = 0;
    }
};

template<typename T>
FaultRegistration simple(const char* id, const char* sentence)
{
    return FaultRegistration(faultEntry<T>({id, sentence, {}}));
}

const FaultRegistration registrations[] = {
    simple<NoSplit>("A1", "no sampler splits the dataset: every rank sees all of it"),
    simple<StreamNotSharded>("A2", "the dataset is a stream that every rank reads from the start"),
    simple<NoSetEpoch>("A3", "set_epoch is never called"),
    simple<SeedPerRank>("A4", "the sampler's seed differs per rank"),
    simple<Padded>("A5", "the sampler pads, whatever drop_last says"),
    simple<TailDropped>("A6", "the sampler drops the tail, whatever drop_last says"),
    simple<OwnFileOrder>("A7", "each rank lists the dataset in an order of its own"),
    simple<SharedWorkerSeed>("A8", "loader workers have the same seeds on all ranks"),
    simple<BatchKept>("A9", "the batch of the single process is kept on every rank"),
    simple<SamplerReplaced>("A10", "a sequential sampler replaces the shuffling one"),
    simple<SharedStream>("E6", "the ranks' generators are seeded without the rank"),
    simple<OrderLostOnResume>("F7", "a resume restores the position, but not the permutation"),
};

} // namespace

} // namespace lockstep
