#include "core/ckpt/fault.h"

#include <array>

namespace lockstep {
namespace {

struct FaultText {
    std::string_view name;
    std::string_view fix; // what to do, for people
};

constexpr std::string_view kCopyAgain =
    "Copy or download it again, or salvage what is whole with `ckpt salvage`";
constexpr std::string_view kSalvage = "Salvage what is whole with `ckpt salvage`";
constexpr std::string_view kRewrite = "Rewrite it with `ckpt convert`";
constexpr std::string_view kNotTrusted = "Do not load this file; ask its author for a sound copy";
constexpr std::string_view kSaveAgain = "Save the checkpoint again";

// In the order of the enum.
constexpr std::array kFaults = {
    FaultText{"empty", kCopyAgain},
    FaultText{"not_checkpoint", "Choose a checkpoint file or folder"},
    FaultText{"lfs_pointer", "Fetch the real file with `git lfs pull`"},
    FaultText{"html_page", "Download the file itself instead of the page about it"},
    FaultText{"only_zeros", kCopyAgain},
    FaultText{"wrong_extension", "Rename it, or convert it with `ckpt convert`"},
    FaultText{"cannot_read", "Check the permissions and the disk"},
    FaultText{"zip_no_end", kCopyAgain},
    FaultText{"zip_end", kCopyAgain},
    FaultText{"zip_directory", kSalvage},
    FaultText{"zip_name", kNotTrusted},
    FaultText{"zip_overlap", kNotTrusted},
    FaultText{"zip_local_header", kSalvage},
    FaultText{"zip_method", kRewrite},
    FaultText{"zip_inflate", kCopyAgain},
    FaultText{"zip_inflated_size", kNotTrusted},
    FaultText{"zip_crc", kCopyAgain},
    FaultText{"trailing_bytes", kRewrite},
    FaultText{"zip_top_folder", kRewrite},
    FaultText{"zip_no_pickle", kSaveAgain},
    FaultText{"zip_no_version", kRewrite},
    FaultText{"zip_byte_order", kRewrite},
    FaultText{"zip_rewritten", "Copy it again in binary mode"},
    FaultText{"record_missing", kSalvage},
    FaultText{"record_size", kSalvage},
    FaultText{"pickle_truncated", kCopyAgain},
    FaultText{"pickle_opcode", kCopyAgain},
    FaultText{"pickle_stack", kCopyAgain},
    FaultText{"pickle_memo", kCopyAgain},
    FaultText{"pickle_type", kCopyAgain},
    FaultText{"pickle_text", kCopyAgain},
    FaultText{"pickle_persistent_id", kCopyAgain},
    FaultText{"pickle_arguments", kCopyAgain},
    FaultText{"pickle_too_large", kNotTrusted},
    FaultText{"tensor_shape", kNotTrusted},
    FaultText{"tensor_bounds", kNotTrusted},
    FaultText{"tensor_type", kSaveAgain},
    FaultText{"legacy_header", kCopyAgain},
    FaultText{"legacy_storage", kCopyAgain},
    FaultText{"legacy_keys", kCopyAgain},
    FaultText{"tar_header", kCopyAgain},
    FaultText{"tar_member", kCopyAgain},
    FaultText{"safetensors_header", kCopyAgain},
    FaultText{"safetensors_json", kCopyAgain},
    FaultText{"safetensors_entry", kSaveAgain},
    FaultText{"safetensors_offsets", kCopyAgain},
    FaultText{"folder_unknown", "Choose the folder that holds the checkpoint's files"},
    FaultText{"folder_level", "Open the folder named here"},
    FaultText{"unsafe_path", kNotTrusted},
    FaultText{"file_missing", "Copy the missing file from the machine that wrote it"},
    FaultText{"dcp_no_metadata", "The save did not finish: use the checkpoint before it"},
    FaultText{"dcp_metadata", kNotTrusted},
    FaultText{"dcp_item", "Copy the file again from the machine that wrote it"},
    FaultText{"dcp_chunk", kNotTrusted},
    FaultText{"index_json", "Write the index again"},
    FaultText{"index_key", "Write the index again, or fetch the shards that belong to it"},
    FaultText{"zero_files", "Copy the files of all ranks of the same save into the folder, and no others"},
    FaultText{"zero_latest", "Write the name of the right folder into `latest`"},
    FaultText{"zero_partition", kSaveAgain},
};
static_assert(kFaults.size() == static_cast<std::size_t>(CkptFault::ZeroPartition) + 1);

ErrorKind kindOf(CkptFault fault)
{
    switch (fault) {
    case CkptFault::CannotRead:
        return ErrorKind::Io;
    case CkptFault::NotCheckpoint:
    case CkptFault::LfsPointer:
    case CkptFault::HtmlPage:
    case CkptFault::WrongExtension:
    case CkptFault::FolderUnknown:
    case CkptFault::FolderLevel:
        return ErrorKind::Input;
    case CkptFault::FileMissing:
        return ErrorKind::NotFound;
    default:
        return ErrorKind::Corrupt;
    }
}

} // namespace

std::string_view ckptFaultName(CkptFault fault)
{
    return kFaults[static_cast<std::size_t>(fault)].name;
}

Error CkptProblem::toError() const
{
    const std::string name = file.empty() ? std::string("The checkpoint") : file;
    return {kindOf(fault), name + " is damaged or not usable as a checkpoint",
            "At byte " + std::to_string(offset) + (record.empty() ? "" : " (" + record + ")") + ": " + why,
            std::string(kFaults[static_cast<std::size_t>(fault)].fix)};
}

} // namespace lockstep
