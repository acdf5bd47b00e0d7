#include "core/align/diagnose/catalogue.h"

#include <algorithm>
#include <array>

namespace lockstep::align {

namespace {

constexpr std::array kCauses = {
    // A: data
    Cause{"A1", "No sampler splits the dataset: every rank trains on the same samples",
          "Give the DataLoader a DistributedSampler"},
    Cause{"A2", "Every rank reads the whole stream from its start",
          "Let the iterable dataset skip to this rank's share (split_dataset_by_node, or index mod world "
          "size)"},
    Cause{"A3", "The sampler deals the same order in every epoch",
          "Call sampler.set_epoch(epoch) before each epoch"},
    Cause{"A4", "The ranks deal from different permutations",
          "Give the sampler the same seed and epoch on all ranks"},
    Cause{"A5", "The sampler repeats samples from the head of the epoch to fill the last step",
          "Set drop_last=True, or leave the repeats out of the loss"},
    Cause{"A6", "The sampler drops the tail of the epoch",
          "Set drop_last=False, or pad the tail with weight 0"},
    Cause{"A7", "The same ids bring different samples on different ranks",
          "Sort the file list before the dataset is made"},
    Cause{"A8", "Loader workers draw the same random numbers on all ranks",
          "Seed the workers with the rank in it (worker_init_fn or generator)"},
    Cause{"A9", "The batch of the single process is kept on every rank",
          "Divide the batch size by the world size"},
    Cause{"A10", "Another sampler than in the reference decides the order",
          "Pass the reference's sampler and its seed"},
    // B: loss and reduction
    Cause{"B1", "The loss is summed over the samples of a rank, not averaged", "Use reduction='mean'"},
    Cause{"B2", "The loss is multiplied although DDP already averages the gradients",
          "Remove the factor from the loss before backward"},
    Cause{"B3", "The gradient is divided by the world size once more",
          "Remove the division; DDP divides already"},
    Cause{"B4", "A mean of the ranks' means, although the ranks hold different numbers of samples",
          "Scale each rank's loss by W * n_r / n"},
    Cause{"B5", "Each rank averages over its own tokens, although the ranks hold different numbers of them",
          "Divide the summed loss by the tokens of all ranks and micro-batches together"},
    Cause{"B6", "The losses of accumulated micro-batches are not divided by their number",
          "Divide each micro-batch's loss by the accumulation steps"},
    Cause{"B7", "The forward of the boundary micro-batch runs outside DDP's no_sync logic",
          "Decide on no_sync before forward, and leave it for the last micro-batch"},
    Cause{"B8", "The gradients are not reduced: each rank trains a model of its own",
          "Leave no_sync() before the last backward, and check the size of the process group"},
    Cause{"B9", "Gathered values carry no gradient",
          "Use torch.distributed.nn.functional.all_gather, which has a backward"},
    Cause{"B10", "The logged loss is that of rank 0 alone",
          "Average the loss over the ranks before it is logged"},
    Cause{"B11", "The logged loss is the sum over the ranks",
          "Log the mean (ReduceOp.AVG, or divide by the world size)"},
    Cause{"B12", "Gradients are doubled in each micro-batch by a reduction in a group of one",
          "Skip the reduction in a group of one rank"},
    // C: synchronisation
    Cause{"C1", "The forward bypasses the DDP wrapper, so that no gradient is reduced",
          "Call the wrapped model, not model.module"},
    Cause{"C2", "DDP's hooks were lost with the storage of the parameters",
          "Move the model before it is wrapped, or wrap it again"},
    Cause{"C3", "A parameter was replaced after DDP was built: it is not reduced",
          "Replace parameters before wrapping"},
    Cause{"C4", "Parameters were unfrozen after DDP was built: they are not reduced",
          "Wrap the model again after unfreezing, or set requires_grad before wrapping"},
    Cause{"C5", "Parameters unused in the last micro-batch are not reduced",
          "Use each parameter in the last micro-batch, or reduce in every one"},
    Cause{"C6", "A static graph with no_sync stops reducing after the first step",
          "Do not use static_graph with no_sync"},
    Cause{"C7", "The ranks start from different weights",
          "Broadcast rank 0's weights, or seed initialisation without the rank"},
    Cause{"C8", "BatchNorm uses the statistics of each rank's own samples",
          "Use SyncBatchNorm if batch statistics are to cover all ranks"},
    Cause{"C9", "Buffers are not kept equal between ranks",
          "Set broadcast_buffers=True, or reduce the buffers before eval"},
    Cause{"C10", "Some parameters lie outside DDP: they are trained on each rank alone",
          "Register them in the wrapped module"},
    Cause{"C11", "The reduction lost part of what was sent",
          "Check the link: NCCL_P2P_DISABLE=1, then the hardware"},
    Cause{"C12", "The same numbers are added in another order", "Nothing to mend", true},
    // D: optimizer, schedule, clipping, scaling
    Cause{"D1", "The learning rate differs by a constant factor", "Set the learning rate of the reference"},
    Cause{"D2", "The schedule advances more than once per step",
          "Advance the schedule once per optimizer step"},
    Cause{"D3", "Gradients are clipped on each rank before they are reduced", "Clip after the reduction"},
    Cause{"D4", "Gradients are clipped by the norm of a part of them",
          "Clip by the norm over all shards (FSDP.clip_grad_norm_)"},
    Cause{"D5", "The norm used for clipping counts the ranks' equal gradients several times",
          "Do not reduce the norm of replicated gradients"},
    Cause{"D6", "The optimizer updates parameters that the model does not use",
          "Build the optimizer after wrapping the model"},
    Cause{"D7", "The optimizer's weight decay or parameter groups differ",
          "Keep the parameter groups when the optimizer is made"},
    Cause{"D8", "The ranks decide on their own whether a step is skipped",
          "Reduce found_inf over the ranks before the step"},
    Cause{"D9", "One rank leaves parameters out of the norm it clips by",
          "Form the norm over the same parameters on all ranks"},
    Cause{"D10", "Only part of the accumulated gradient reaches the update",
          "Accumulate over all micro-batches before partitioning"},
    // E: precision and randomness
    Cause{"E1", "Matrix products use fewer bits (TF32)", "Switch TF32 off, or on in both runs"},
    Cause{"E2", "Gradients are reduced in a narrower format", "Reduce in float32"},
    Cause{"E3", "Buffers are kept in a narrower format", "Keep the buffers in float32"},
    Cause{"E4", "Kernels that are not deterministic",
          "Nothing to mend; use deterministic algorithms to compare bits", true},
    Cause{"E5", "Random masks are drawn from other streams", "Nothing to mend; set dropout to 0 to compare",
          true},
    Cause{"E6", "All ranks draw the same random numbers", "Seed each rank's generator with its rank"},
    // F: checkpoint and evaluation
    Cause{"F1", "The weights were not loaded: the names do not match",
          "Strip the prefix of the names before loading"},
    Cause{"F2", "Several ranks wrote the same checkpoint", "Write from rank 0 only, then wait for it", false,
          false},
    Cause{"F3", "All ranks loaded onto one device", "Pass map_location"},
    Cause{"F4", "Weights that should be tied are not", "Tie the weights again after loading"},
    Cause{"F5", "The optimizer's state was lost on resume", "Load the optimizer's state after it is built"},
    Cause{"F6", "The random streams were not restored on resume", "Save and restore every rank's generator"},
    Cause{"F7", "The resume restored the position in the data but not the order",
          "Restore the sampler's epoch and seed with the position"},
    Cause{"F8", "The moving average of the weights is never updated",
          "Match the names of the average and the model"},
    Cause{"F9", "The evaluation counts padded samples twice", "Leave the repeats out of the metric"},
    Cause{"F10", "The metric is a mean of the ranks' means", "Weigh each rank by its number of samples"},
};

} // namespace

const Cause* causeById(std::string_view id)
{
    const auto it =
        std::find_if(kCauses.begin(), kCauses.end(), [id](const Cause& cause) { return cause.id == id; });
    return it == kCauses.end() ? nullptr : &*it;
}

} // namespace lockstep::align
