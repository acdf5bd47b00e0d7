#include "core/ckpt/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path, std::string name,
                                                   std::string* error)
{
    // O_NONBLOCK: opening a pipe must not wait for a writer.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info = {};
    if (fd < 0 || ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        if (error)
            *error = fd < 0 ? std::strerror(errno) : "not a regular file";
        if (fd >= 0)
            ::close(fd);
        return nullptr;
    }
    std::shared_ptr<MappedFile> file(new MappedFile);
    file->name_ = std::move(name);
    file->path_ = path;
    const auto size = static_cast<std::size_t>(info.st_size);
    if (size > 0) {
        void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
        if (address == MAP_FAILED) {
            if (error)
                *error = std::strerror(errno);
            ::close(fd);
            return nullptr;
        }
        file->bytes_ = {static_cast<const std::byte*>(address), size};
        file->range_.emplace(address, size);
    }
    ::close(fd);
    return file;
}

std::shared_ptr<const MappedFile> MappedFile::view(std::span<const std::byte> bytes, std::string name)
{
    std::shared_ptr<MappedFile> file(new MappedFile);
    file->bytes_ = bytes;
    file->name_ = std::move(name);
    return file;
}

MappedFile::~MappedFile()
{
    if (!range_)
        return;
    range_.reset();
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

} // namespace lockstep
