#include "ui/models/check_titles.h"

#include <QCoreApplication>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::CheckTitles)
};

struct Title {
    std::string_view id;
    const char* text;
};

constexpr Title kTitles[] = {
    {"preflight.torch", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "torch version")},
    {"preflight.cpu_capability", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "CPU instructions torch uses")},
    {"preflight.threads", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "threads per rank")},
    {"preflight.dataset_size", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "size of the dataset")},
    {"preflight.deterministic", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "deterministic algorithms")},
    {"preflight.tf32_matmul", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "TF32 in matrix products")},
    {"preflight.tf32_cudnn", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "TF32 in convolutions")},
    {"preflight.devices", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "devices and driver")},
    {"preflight.backend", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "backend")},
    {"preflight.interfaces", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "network interfaces")},
    {"preflight.cores", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "threads against cores")},
    {"preflight.global_batch", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "effective global batch")},
    {"preflight.lr", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "learning rate")},
    {"preflight.lr_used", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "learning rate as trained")},
    {"preflight.accumulate", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "micro-batches per step")},
    {"preflight.dtype", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "mixed precision")},
    {"preflight.sampler", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "sample order")},
    {"preflight.shuffle", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "shuffle")},
    {"preflight.drop_last", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "drop_last")},
    {"preflight.seed", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "seed of the weights")},
    {"preflight.sampler_seed", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "seed of the sampler")},
    {"preflight.workload", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "model and data")},
    {"preflight.optimizer", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "optimizer arguments")},
    {"preflight.scheduler", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "scheduler arguments")},
    {"preflight.clipping", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "clipping")},
    {"data.overlap", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "no sample on two ranks")},
    {"data.omission", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "no sample left out")},
    {"data.padding", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "padding duplicates")},
    {"data.set_epoch", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "order changes with the epoch")},
    {"data.same_permutation", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "one permutation on all ranks")},
    {"data.content", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "content agrees with the id")},
    {"data.rank_streams", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "random streams of the ranks")},
    {"data.worker_seeds", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "seeds of the loader workers")},
    {"data.steps", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "steps per epoch")},
    {"data.order", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "order as Python gives it")},
    {"data.ragged", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "last batch")},
    {"data.global_batch", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "effective global batch")},
    {"data.evaluation", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "samples in the metric")},
    {"data.every_world", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "every number of ranks")},
    {"gradients.forced_off", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "AMP and clipping off")},
    {"gradients.first_batch", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "loss of the first batch")},
    {"gradients.first_ten", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "loss of the first ten batches")},
    {"gradients.world_one", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "DDP with one rank")},
    {"gradients.loss", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "loss in the envelope")},
    {"gradients.grad_norm", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "gradient norm in the envelope")},
    {"gradients.update_norm", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "update in the envelope")},
    {"gradients.reduction", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "reduction of the loss")},
    {"gradients.twin", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "twin equal in every bit")},
    {"gradients.ranks_equal", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "parameters equal on all ranks")},
    {"gradients.ranks_equal_random",
     QT_TRANSLATE_NOOP("lockstep::CheckTitles", "the same with random layers on")},
    {"gradients.collectives", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "collectives per step")},
    {"gradients.unused", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "unused parameters")},
    {"precision.switched_on", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "AMP and clipping on")},
    {"precision.envelope", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "DDP in the envelope under AMP")},
    {"precision.scaler", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "scale equal on all ranks")},
    {"precision.skipped", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "skipped steps equal on all ranks")},
    {"precision.clipping", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "clipping after the reduction")},
    {"precision.saved", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "checkpoint opens, every byte")},
    {"precision.prefix", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "no wrapper prefix in the keys")},
    {"precision.parts", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "all parts of a resume saved")},
    {"precision.python", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "checkpoint opens in Python")},
    {"precision.rollback", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "weights rolled back bit for bit")},
    {"precision.resume", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "resumed equals uninterrupted")},
    {"precision.optimizer_step", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "optimizer counter goes on")},
    {"precision.ddp_to_single", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "DDP goes on in one process")},
    {"precision.single_to_ddp", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "one process goes on as DDP")},
    {"drills.timeout", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "timeout recommended")},
    {"drills.throw", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "data loading fails on one rank")},
    {"drills.kill", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "one rank is killed")},
    {"drills.hang-data", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "one rank hangs in its data")},
    {"drills.hang-forward", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "one rank hangs in forward")},
    {"drills.hang-collective", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "one rank hangs in a collective")},
    {"drills.slow", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "a slow rank raises no alarm")},
    {"drills.disk", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "disk full while saving")},
    {"drills.connection", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "host loses its connections")},
    {"drills.degrade", QT_TRANSLATE_NOOP("lockstep::CheckTitles", "goes on with fewer ranks")},
};

// Judged only of some projects: a size that was measured twice, an evaluation, a model with random layers.
constexpr std::string_view kSometimes[] = {"preflight.dataset_size", "data.evaluation", "data.every_world",
                                           "gradients.ranks_equal_random"};

} // namespace

std::vector<std::string> plannedChecks(const QString& phase)
{
    const std::string prefix = phase.toStdString() + ".";
    std::vector<std::string> planned;
    for (const Title& title : kTitles)
        if (title.id.starts_with(prefix) &&
            std::find(std::begin(kSometimes), std::end(kSometimes), title.id) == std::end(kSometimes))
            planned.emplace_back(title.id);
    return planned;
}

QString checkTitle(const std::string& id)
{
    const auto* const it =
        std::find_if(std::begin(kTitles), std::end(kTitles), [&](const Title& t) { return t.id == id; });
    if (it != std::end(kTitles))
        return Tr::tr(it->text);
    // Environment variables are their own titles.
    constexpr std::string_view environment = "preflight.";
    return std::string_view(id).starts_with(environment)
               ? QString::fromStdString(id.substr(environment.size()))
               : QString();
}

} // namespace lockstep
