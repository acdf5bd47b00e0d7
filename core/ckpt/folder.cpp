#include "core/ckpt/folder.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <sys/stat.h>

namespace lockstep {
namespace {

constexpr std::size_t kMaxEntries = 100000;

std::optional<std::string> resolve(const std::string& path)
{
    char buffer[PATH_MAX];
    if (!::realpath(path.c_str(), buffer))
        return std::nullopt;
    return std::string(buffer);
}

std::vector<std::string> entries(const std::string& path, bool folders)
{
    std::vector<std::string> names;
    DIR* dir = ::opendir(path.c_str());
    if (!dir)
        return names;
    while (const dirent* e = ::readdir(dir)) {
        const std::string name = e->d_name;
        struct stat info = {};
        if (name == "." || name == ".." || ::stat((path + "/" + name).c_str(), &info) != 0)
            continue;
        if (folders ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode))
            names.push_back(name);
        if (names.size() >= kMaxEntries)
            break;
    }
    ::closedir(dir);
    std::sort(names.begin(), names.end());
    return names;
}

bool relativeAndInside(const std::string& name)
{
    if (name.empty() || name.front() == '/' || name.find('\0') != std::string::npos ||
        name.find('\\') != std::string::npos || name.find("://") != std::string::npos)
        return false;
    for (std::size_t start = 0; start <= name.size();) {
        const std::size_t end = std::min(name.find('/', start), name.size());
        const std::string part = name.substr(start, end - start);
        if (part.empty() || part == "." || part == "..")
            return false;
        start = end + 1;
    }
    return true;
}

} // namespace

Folder Folder::inMemory(std::map<std::string, std::span<const std::byte>> files)
{
    Folder folder("");
    folder.memory_ = std::move(files);
    return folder;
}

std::vector<std::string> Folder::files() const
{
    if (memory_) {
        std::vector<std::string> names;
        for (const auto& [name, bytes] : *memory_)
            names.push_back(name);
        return names;
    }
    return entries(path_, false);
}

std::vector<std::string> Folder::folders() const
{
    return entries(path_, true);
}

bool Folder::has(const std::string& name) const
{
    if (memory_)
        return memory_->contains(name);
    struct stat info = {};
    return ::stat((path_ + "/" + name).c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

CkptProblem Folder::problem(CkptFault fault, const std::string& name, std::string why) const
{
    CkptProblem p;
    p.fault = fault;
    p.file = prefix_ + name;
    p.why = std::move(why);
    return p;
}

std::optional<CkptProblem> Folder::check(const std::string& name) const
{
    if (!relativeAndInside(name))
        return problem(CkptFault::UnsafePath, name.substr(0, 200),
                       "a file name that is empty, absolute, a URL or leads out of the folder");
    if (memory_) {
        if (memory_->contains(name))
            return std::nullopt;
        return problem(CkptFault::FileMissing, name, "the file is not there");
    }
    const std::string path = path_ + "/" + name;
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
        return problem(CkptFault::FileMissing, name, "the file is not there");
    if (!S_ISREG(info.st_mode))
        return problem(CkptFault::FileMissing, name, "not a regular file");
    const auto root = resolve(path_);
    const auto real = resolve(path);
    if (!root || !real)
        return problem(CkptFault::FileMissing, name, "the file cannot be reached");
    if (real->starts_with(*root + "/"))
        return std::nullopt;
    const auto blobs = resolve(path_ + "/../../blobs");
    if (blobs && real->starts_with(*blobs + "/") && real->find('/', blobs->size() + 1) == std::string::npos)
        return std::nullopt;
    return problem(CkptFault::UnsafePath, name, "a link that leads out of the folder");
}

CkptResult<std::uint64_t> Folder::size(const std::string& name) const
{
    if (auto p = check(name))
        return *p;
    if (memory_)
        return memory_->at(name).size();
    struct stat info = {};
    if (::stat((path_ + "/" + name).c_str(), &info) != 0)
        return problem(CkptFault::FileMissing, name, "the file is not there");
    return static_cast<std::uint64_t>(info.st_size);
}

CkptResult<std::shared_ptr<const MappedFile>> Folder::open(const std::string& name) const
{
    if (auto p = check(name))
        return *p;
    if (memory_)
        return MappedFile::view(memory_->at(name), name);
    std::string error;
    auto file = MappedFile::open(path_ + "/" + name, prefix_ + name, &error);
    if (!file)
        return problem(CkptFault::CannotRead, name, error);
    return file;
}

} // namespace lockstep
