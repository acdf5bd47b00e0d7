#include "core/engine/resume_plan.h"

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

const char* const kWhat = "The run cannot go on from this checkpoint";

Error refused(std::string why, std::string fix)
{
    return {ErrorKind::Usage, kWhat, std::move(why), std::move(fix)};
}

// Reads numbers and texts out of dicts and remembers the first that is missing.
class Fields
{
public:
    Value at(const Value& dict, std::initializer_list<const char*> path)
    {
        Value value = dict;
        std::string name;
        for (const char* key : path) {
            name += (name.empty() ? "" : ".") + std::string(key);
            value = value.is(ValueKind::Dict) ? value.get(key) : Value();
        }
        if (!value.valid())
            lacks(name);
        return value;
    }
    std::int64_t integer(const Value& dict, std::initializer_list<const char*> path)
    {
        const Value value = at(dict, path);
        if (value.is(ValueKind::Int))
            return value.integer();
        lacks(*(path.end() - 1));
        return 0;
    }
    void lacks(const std::string& name)
    {
        if (missing_.empty())
            missing_ = name;
    }
    const std::string& missing() const { return missing_; }

private:
    std::string missing_;
};

bool pythonOrder(const RunConfig& c)
{
    return c.mode == "single" && c.order == "python";
}

std::int64_t microBatches(const RunConfig& c, std::int64_t datasetSize)
{
    const DistributedOrder order{datasetSize, dataRanks(c), c.shuffle, c.dropLast, c.samplerSeed, 0};
    return batchCount(pythonOrder(c) ? datasetSize : samplesPerRank(order), c.batch, false);
}

int processes(const RunConfig& c)
{
    return c.mode == "single" ? 1 : c.world;
}

bool dealtAlike(const RunConfig& a, const RunConfig& b)
{
    return dataRanks(a) == dataRanks(b) && a.batch == b.batch && a.accumulate == b.accumulate &&
           pythonOrder(a) == pythonOrder(b);
}

Status sameTraining(const RunConfig& wanted, const RunConfig& saved)
{
    const struct {
        const char* option;
        const std::string& wanted;
        const std::string& saved;
    } pairs[] = {{"workload", wanted.workload, saved.workload},
                 {"optimizer", wanted.optimizer, saved.optimizer},
                 {"scheduler", wanted.scheduler, saved.scheduler}};
    for (const auto& p : pairs)
        if (p.wanted != p.saved)
            return refused("it was trained with --" + std::string(p.option) + " " + p.saved +
                               " and this run has " + p.wanted,
                           "Use --" + std::string(p.option) + " " + p.saved);
    if (wanted.workloadOptions != saved.workloadOptions)
        return refused("it was trained with other options of the workload",
                       "Give the same --workload-option as in the saved run");
    return {};
}

// Chooses batch, accumulate and dataWorld so that a step has as many samples as before.
Status deal(RunConfig& config, const RunConfig& saved)
{
    const std::int64_t whole = samplesPerStep(saved);
    const int ranks = processes(config);
    if (samplesPerStep(config) == whole && dataRanks(config) == dataRanks(saved))
        return {};
    const bool joins = config.alignWorld > 1 && ranks == 1;
    if (dataRanks(saved) % ranks == 0 && !pythonOrder(config) && !pythonOrder(saved) && !joins) {
        config.alignWorld = 1;
        config.batch = saved.batch;
        config.accumulate = saved.accumulate;
        config.dataWorld = dataRanks(saved) == ranks ? 0 : dataRanks(saved);
        return {};
    }
    if (samplesPerStep(config) == whole)
        return {};
    config.alignWorld = 1;
    config.dataWorld = 0;
    if (whole % ranks != 0)
        return refused("its global batch of " + std::to_string(whole) + " samples cannot be divided among " +
                           std::to_string(ranks) + " ranks",
                       "Choose a --world that divides " + std::to_string(whole));
    const std::int64_t own = whole / ranks;
    config.batch = std::min(saved.batch, own);
    while (own % config.batch != 0)
        --config.batch;
    config.accumulate = int(own / config.batch);
    return {};
}

// Of every rank; a checkpoint from before they were kept for each has rank 0's alone.
std::vector<std::uint64_t> baseSeeds(const Value& sampler, Fields& fields)
{
    std::vector<std::uint64_t> seeds;
    const Value list = sampler.is(ValueKind::Dict) ? sampler.get("base_seeds") : Value();
    for (std::size_t r = 0; list.is(ValueKind::List) && r < list.size(); ++r) {
        if (!list.item(r).is(ValueKind::Int)) {
            fields.lacks("sampler.base_seeds");
            break;
        }
        seeds.push_back(std::uint64_t(list.item(r).integer()));
    }
    if (seeds.empty())
        seeds.push_back(std::uint64_t(fields.integer(sampler, {"base_seed"})));
    return seeds;
}

} // namespace

Result<SavedRun> readSavedRun(const Checkpoint& checkpoint)
{
    const Value root = checkpoint.rootValue();
    Fields fields;
    for (const char* part : {"model", "optimizer", "rng"})
        if (!fields.at(root, {part}).is(ValueKind::Dict))
            fields.lacks(part);
    SavedRun saved;
    saved.step = fields.integer(root, {"step"});
    saved.optimizerSteps = fields.integer(root, {"optimizer_steps"});
    saved.samplesSeen = fields.integer(root, {"samples_seen"});
    saved.tokensSeen = fields.integer(root, {"tokens_seen"});
    saved.position = {fields.integer(root, {"sampler", "epoch"}),
                      fields.integer(root, {"sampler", "position"})};
    saved.orderSeed = std::uint64_t(fields.integer(root, {"sampler", "order_seed"}));
    saved.baseSeeds = baseSeeds(root.get("sampler"), fields);
    saved.schedulerEpoch = fields.integer(root, {"scheduler", "last_epoch"});
    saved.schedulerPeriod = fields.integer(root, {"scheduler", "period"});
    const Value rates = fields.at(root, {"scheduler", "_last_lr"});
    if (rates.is(ValueKind::List) && rates.size() == 1 && rates.item(0).is(ValueKind::Float))
        saved.rate = rates.item(0).real();
    else
        fields.lacks("scheduler._last_lr");
    const Value config = fields.at(root, {"config"});
    if (!config.is(ValueKind::Str))
        fields.lacks("config");
    if (!fields.missing().empty())
        return Error{ErrorKind::Input, kWhat,
                     "it has no \"" + fields.missing() + "\" of a checkpoint of this engine",
                     "Choose one from the checkpoints folder of a run"};
    Result<RunConfig> text = runConfigFromJson(std::string(config.text()));
    if (!text)
        return text.error();
    saved.config = std::move(*text);
    if (saved.step < 0 || saved.position.epoch < 0 || saved.position.consumed < 0 || !validate(saved.config))
        return Error{ErrorKind::Corrupt, kWhat, "its step, place in the data or configuration is impossible",
                     "Choose an older checkpoint"};
    return saved;
}

Result<ResumePlan> planResume(const RunConfig& wanted, const SavedRun& saved, std::int64_t datasetSize)
{
    ResumePlan plan{wanted, saved.position, false};
    RunConfig& config = plan.config;
    for (const Status& status : {sameTraining(wanted, saved.config), deal(config, saved.config)})
        if (!status)
            return status.error();
    // As load_state_dict of optimizer and scheduler has it: they go on with the options they had.
    config.lr = saved.config.lr;
    config.momentum = saved.config.momentum;
    config.weightDecay = saved.config.weightDecay;
    config.schedulerPeriod = saved.schedulerPeriod;

    const bool alike = dealtAlike(config, saved.config);
    plan.sameRanks = alike && processes(config) == processes(saved.config);
    const bool epochEnded = saved.position.consumed >= microBatches(saved.config, datasetSize);
    if (epochEnded) {
        if (!alike)
            plan.position.consumed = microBatches(config, datasetSize);
        return plan;
    }
    if (pythonOrder(config) != pythonOrder(saved.config) || config.shuffle != saved.config.shuffle ||
        (!pythonOrder(config) && config.samplerSeed != saved.config.samplerSeed))
        return refused(
            "it was saved within epoch " + std::to_string(saved.position.epoch) +
                ", and this run has another order of samples: some would be lost, others seen twice",
            "Use the --order, --no-shuffle and --sampler-seed of the saved run, or a checkpoint from the end "
            "of "
            "an epoch");
    if (!alike) {
        const std::int64_t done = saved.position.consumed * saved.config.batch * dataRanks(saved.config);
        const std::int64_t micro = config.batch * dataRanks(config);
        if (done % micro != 0)
            return refused("the " + std::to_string(done) +
                               " samples of its epoch that are used up are no whole number of " +
                               "micro-batches of " + std::to_string(micro) + " samples",
                           "Use the --batch and --accumulate of the saved run");
        plan.position.consumed = done / micro;
    }
    return plan;
}

} // namespace lockstep
