#include "core/ckpt/catalogue.h"

#include <array>

namespace lockstep {
namespace {

constexpr std::array kRows = {
    CatalogueRow{"1", "Wrapper prefix",
                 "The model was wrapped (DataParallel, DistributedDataParallel or FSDP) when it was saved",
                 "Strip the prefix: ckpt convert --strip",
                 "Missing key(s) in state_dict: ... Unexpected key(s) in state_dict: \"module.weight\""},
    CatalogueRow{
        "2", "Plain keys into a wrapped model", "The checkpoint has plain names and the model is wrapped",
        "Load it before wrapping the model, or add the prefix: ckpt convert --add-prefix",
        "Missing key(s) in state_dict: \"module.weight\" ... Unexpected key(s) in state_dict: \"weight\""},
    CatalogueRow{"3", "Wrapper inside the keys",
                 "A part of the model was wrapped, so the wrapper stands in the middle of the names",
                 "Drop the segment wherever it stands: ckpt convert --drop-wrappers",
                 "Missing key(s) in state_dict: \"module.features.0.weight\""},
    CatalogueRow{"4", "torch.compile prefix", "The model was compiled with torch.compile when it was saved",
                 "Strip _orig_mod. (ckpt convert --drop-wrappers), or save model._orig_mod.state_dict()",
                 "Unexpected key(s) in state_dict: \"_orig_mod.stem.0.weight\""},
    CatalogueRow{"5", "Wrapper inside the keys of a sharded checkpoint",
                 "A block was compiled or wrapped before the sharded save",
                 "Drop the segment wherever it stands: ckpt convert --drop-wrappers",
                 "RuntimeError: Missing key in checkpoint state_dict"},
    CatalogueRow{"6", "Averaged model (EMA)",
                 "This is the state of an AveragedModel; n_averaged tells it from DistributedDataParallel",
                 "Load it into AveragedModel, or strip module. and leave n_averaged out",
                 "Unexpected key(s) in state_dict: \"n_averaged\", \"module.stem.0.weight\""},
    CatalogueRow{
        "7", "Parametrized weight",
        "The weight was saved in parametrized form (weight_norm, spectral_norm or another parametrization)",
        "Register the same parametrization before loading, or remove it before saving; a prefix is not the "
        "problem",
        "Missing key(s) in state_dict: \"head.weight\". Unexpected key(s) in state_dict: "
        "\"head.parametrizations.weight.original0\""},
    CatalogueRow{
        "8", "Framework checkpoint",
        "The weights lie in a dict of their own, under the attribute name of the module that holds the model",
        "Take the dict and strip the prefix: ckpt convert --model-only --strip",
        "Missing key(s) in state_dict: \"stem.0.weight\". Unexpected key(s) in state_dict: "
        "\"model.stem.0.weight\""},
    CatalogueRow{
        "9", "BatchNorm counters",
        "Only num_batches_tracked differs, a counter that does not enter the result unless momentum is None",
        "Nothing, or load with strict=False",
        "Unexpected key(s) in state_dict: \"stem.1.num_batches_tracked\""},
    CatalogueRow{"10", "Shapes differ", "The model was built with other sizes than the checkpoint",
                 "Build the model as it was, or leave the keys out that changed",
                 "size mismatch for weight: copying a param with shape torch.Size([2, 2]) from checkpoint, "
                 "the shape in current model is torch.Size([3, 2])."},
    CatalogueRow{"11", "Empty parameters (ZeRO-3)",
                 "The parameters were partitioned and not gathered when they were saved",
                 "Save with stage3_gather_16bit_weights_on_model_save, or merge the ZeRO files: ckpt convert",
                 "size mismatch: copying a param with shape torch.Size([0]) from checkpoint"},
    CatalogueRow{"12", "FSDP local state dict", "Each rank saved its part of the flattened parameters",
                 "Load it with LOCAL_STATE_DICT and the same number of ranks, or save FULL_STATE_DICT",
                 "Missing key(s) in state_dict ... Unexpected key(s) in state_dict: \"_flat_param\""},
    CatalogueRow{"13", "DTensor saved per rank",
                 "torch.save wrote distributed tensors; each file holds one rank's shard",
                 "Save get_model_state_dict(full_state_dict=True) or use torch.distributed.checkpoint",
                 "``torch.distributed.tensor`` must be imported to load DTensors"},
    CatalogueRow{
        "14", "Plain tensors into FSDP2", "The checkpoint is plain and the model holds DTensors",
        "Load with torch.distributed.checkpoint.state_dict.set_model_state_dict(full_state_dict=True)",
        "aten.copy_.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor "
        "before calling distributed operators!"},
    CatalogueRow{
        "15", "ShardedTensor", "The file holds ShardedTensor objects of the older FSDP; one file per rank",
        "Load it under the same number of ranks, or save FULL_STATE_DICT",
        "Need to initialize default process group using \"init_process_group\" before loading ShardedTensor"},
    CatalogueRow{"16", "Cut file", "The end of the file is missing: the copy or the save was interrupted",
                 "Copy it again, or save what is whole: ckpt salvage",
                 "PytorchStreamReader failed reading zip archive: failed finding central directory"},
    CatalogueRow{"17", "Cut file of 4 to 64 KiB",
                 "The end of the file is missing; between about 4 and 64 KiB torch says it in other words",
                 "Copy it again, or save what is whole: ckpt salvage",
                 "OSError: [Errno 22] Invalid argument"},
    CatalogueRow{"18", "Empty file", "The file has 0 bytes: the disk was full, or the save never began",
                 "Use an older checkpoint", "EOFError: Ran out of input"},
    CatalogueRow{"19", "Failed save", "torch.save raised an error and left a small archive without data.pkl",
                 "Use an older checkpoint and look for the error in the log of the save",
                 "PytorchStreamReader failed locating file data.pkl: file not found"},
    CatalogueRow{"20", "Disk full",
                 "The disk filled up during the save; on the disk it looks like a cut file",
                 "Free some space and use an older checkpoint, or ckpt salvage",
                 "PytorchStreamWriter failed writing file data/1: file write failed"},
    CatalogueRow{"21", "Several processes wrote one file", "Bytes of two saves are mixed in one file",
                 "Save on one rank only (rank == 0) and use an older checkpoint",
                 "PytorchStreamReader failed reading file data/8: invalid header or archive is corrupted"},
    CatalogueRow{"22", "Several processes wrote one file, equal shapes",
                 "The records of two saves are mixed; torch loads the mix without a word",
                 "Do not use it. Save on one rank only (rank == 0)", ""},
    CatalogueRow{"23", "local_rank == 0 on several nodes",
                 "One process per node wrote the same file; on the disk it looks like any double write",
                 "Test the global rank before saving",
                 "PytorchStreamReader failed reading file data/8: invalid header or archive is corrupted"},
    CatalogueRow{"24", "Damaged record",
                 "Bytes of the file changed after it was written, or a record is missing",
                 "Copy the file again and compare checksums; torch does not check them", ""},
    CatalogueRow{"25", "Archive packed again", "The archive was unpacked and packed by another program",
                 "Write it anew: ckpt convert", "file in archive is not in a subdirectory: README.txt"},
    CatalogueRow{"26", "Git LFS pointer", "This is the pointer of Git LFS, not the file", "Run git lfs pull",
                 "invalid load key, 'v'."},
    CatalogueRow{
        "27", "Web page",
        "A web page was saved under the name of the checkpoint: the download asked for a login or failed",
        "Download it again with the right address and rights", "Unsupported operand 60"},
    CatalogueRow{"28", "Wrong extension", "The content is of another format than the name says",
                 "Rename the file, or convert it: ckpt convert",
                 "Error while deserializing header: header too large"},
    CatalogueRow{"29", "Shard missing", "The index and the shards do not agree",
                 "Get the missing files; the others can be read",
                 "KeyError, or random weights without a word"},
    CatalogueRow{
        "30", "Optimizer group size", "A parameter group has another number of parameters",
        "Build the optimizer with the same parameters, or start it fresh",
        "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"},
    CatalogueRow{"31", "Optimizer group count", "The number of parameter groups differs",
                 "Build the optimizer with the same groups, or start it fresh",
                 "loaded state dict has a different number of parameter groups"},
    CatalogueRow{"32", "Optimizer order changed",
                 "Optimizer states are matched by position, and the order of the parameters changed",
                 "Build the parameter list in the old order; equal shapes are swapped without a word",
                 "The size of tensor a (2048) must match the size of tensor b (7)"},
    CatalogueRow{"33", "FSDP optimizer of another world size",
                 "The flat optimizer states were saved with another number of ranks",
                 "Resume with the same number of ranks, or save with FSDP.optim_state_dict",
                 "The size of tensor a (56124554) must match the size of tensor b (14031139)"},
    CatalogueRow{"34", "Key missing in a sharded checkpoint",
                 "A key the model or optimizer asks for is not in the checkpoint",
                 "Rename the key, or leave it out of what is loaded",
                 "RuntimeError: Missing key in checkpoint state_dict: optimizer.state.0.step."},
    CatalogueRow{"35", "Extra keys in a sharded checkpoint",
                 "The checkpoint holds keys nobody asked for; they are ignored without a word",
                 "Check that the model is the one that was saved", ""},
    CatalogueRow{"36", "Sharded save not finished",
                 ".metadata is written last and is not there, or not whole",
                 "Use an older checkpoint; the items in the .distcp files can be listed",
                 "metadata is None; global metadata read failed: [Errno 2] No such file or directory"},
    CatalogueRow{
        "37", "Shard file missing or damaged",
        "A rank's file is absent, cut or of another save: the disk was not shared, or the copy is incomplete",
        "Get the file from the node that wrote it",
        "FileNotFoundError: '__1_0.distcp' / failed finding central directory"},
    CatalogueRow{"38", "Wrong folder level", "The checkpoint lies in another folder than the one given",
                 "Give the folder named here", "Directory doesn't exist / is not a checkpoint"},
    CatalogueRow{"39", "ZeRO files missing or stale", "The number of rank files is not the one recorded",
                 "Get the missing files, or move those of older runs away",
                 "Expected 2 of '*_optim_states.pt' under '.../global_step2' but found 4 files. Possibly due "
                 "to an overwrite of an old checkpoint"},
    CatalogueRow{"40", "ZeRO padding", "The recorded shapes do not fill the flat groups",
                 "The parameter shapes in the model file are not those that were trained",
                 "consumed 140 numels out of 138 - something is wrong"},
    CatalogueRow{"41", "ZeRO world size", "The checkpoint was saved with another number of ranks",
                 "Merge it into one file first: ckpt convert",
                 "The checkpoint being loaded used a DP world size of 8 but the current world size is 16"},
    CatalogueRow{
        "42", "Tied weights", "Two keys stand for one parameter", "Tie the weights again after loading",
        "Some tensors share memory, this will lead to duplicate memory on disk / KeyError: 'lm_head.weight'"},
    CatalogueRow{"43", "View keeps a whole storage",
                 "A small view was saved together with the large tensor behind it",
                 "Compact it: ckpt convert --compact, or save tensor.clone()", ""},
    CatalogueRow{"44", "Device tag", "The tensors were on a device this machine does not have",
                 "Load with map_location=\"cpu\", or rewrite the tags: ckpt convert --cpu",
                 "Attempting to deserialize object on CUDA device 3 but torch.cuda.device_count() is 2"},
    CatalogueRow{"45", "Whole model pickled",
                 "torch.save(model) stored references to classes instead of a state dict",
                 "Export the state dict: ckpt convert --model-only",
                 "Can't get attribute 'Net' on <module '__main__'>"},
    CatalogueRow{"46", "Blocked class", "The file refers to a class that weights_only=True does not accept",
                 "Write it anew with plain types: ckpt convert, or allow the class with "
                 "torch.serialization.add_safe_globals if you trust the file",
                 "Unsupported global: GLOBAL numpy._core.multiarray._reconstruct was not an allowed global "
                 "by default"},
    CatalogueRow{"47", "Newer writer, older reader",
                 "The file needs something that the reading version does not have",
                 "Read it with the newer version, or write it anew: ckpt convert",
                 "Can't get attribute '_rebuild_tensor_v3'"},
    CatalogueRow{"48", "State needed to resume",
                 "Something a resumed run needs is missing or of the wrong form",
                 "Resume from a complete checkpoint, or accept that the run will not continue exactly",
                 "Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size to be 16"},
    CatalogueRow{"N1", "Not a checkpoint", "The content is of another kind", "Give the checkpoint itself",
                 "invalid load key"},
    CatalogueRow{"N2", "Keys differ", "Keys are missing or unexpected, and no wrapper explains it",
                 "Check that the model is the one that was saved",
                 "Missing key(s) in state_dict ... Unexpected key(s) in state_dict"},
    CatalogueRow{"N3", "Newlines rewritten", "A text-mode copy changed bytes 0A and 0D 0A into each other",
                 "Copy it again in binary mode", "invalid header or archive is corrupted"},
    CatalogueRow{"N4", "Bytes after the end", "Something follows the end of the archive",
                 "Cut the file at the byte named, or write it anew: ckpt convert",
                 "PytorchStreamReader failed reading zip archive: failed finding central directory"},
};

} // namespace

std::span<const CatalogueRow> catalogue()
{
    return kRows;
}

const CatalogueRow* catalogueRow(std::string_view row)
{
    for (const CatalogueRow& entry : kRows)
        if (entry.row == row)
            return &entry;
    return nullptr;
}

} // namespace lockstep
