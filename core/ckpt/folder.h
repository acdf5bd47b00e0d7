// A checkpoint that is a folder. Names come from files that somebody else wrote, so nothing outside the folder is ever opened.
#pragma once

#include "core/ckpt/fault.h"
#include "core/ckpt/mapped_file.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

class Folder
{
public:
    explicit Folder(std::string path, std::string prefix = {})
        : path_(std::move(path)), prefix_(std::move(prefix))
    {
    }

    // Files that lie in memory, for tests and fuzzing; they outlive the folder.
    static Folder inMemory(std::map<std::string, std::span<const std::byte>> files);

    const std::string& path() const { return path_; }
    // What is put before names in messages and Checkpoint::fileNames: the part of the path below the folder opened.
    const std::string& prefix() const { return prefix_; }
    // Regular files and links to them, sorted; names without the folder.
    std::vector<std::string> files() const;
    std::vector<std::string> folders() const;
    bool has(const std::string& name) const;
    Folder child(const std::string& name) const { return Folder(path_ + "/" + name, prefix_ + name + "/"); }

    // Size of a file below the folder. UnsafePath for absolute names, "..", links that lead out; FileMissing.
    // Links are followed out of the folder in one case: the cache of huggingface_hub, snapshots/REV/NAME -> ../../blobs/HASH.
    CkptResult<std::uint64_t> size(const std::string& name) const;
    CkptResult<std::shared_ptr<const MappedFile>> open(const std::string& name) const;

private:
    std::optional<CkptProblem> check(const std::string& name) const;
    CkptProblem problem(CkptFault fault, const std::string& name, std::string why) const;

    std::string path_;
    std::string prefix_;
    std::optional<std::map<std::string, std::span<const std::byte>>> memory_;
};

} // namespace lockstep
