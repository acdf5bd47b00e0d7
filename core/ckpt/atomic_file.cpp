#include "core/ckpt/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep {
namespace {

constexpr std::size_t kBufferSize = 256 * 1024;

std::string folderOf(const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

// A link stays a link: the file behind it is replaced.
std::string throughLinks(const std::string& path)
{
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error))
        return path;
    const std::filesystem::path target = std::filesystem::canonical(path, error);
    return error ? path : target.string();
}

} // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path, bool durable)
{
    static std::atomic<unsigned> counter{0};
    AtomicFile file;
    file.path_ = throughLinks(path);
    file.durable_ = durable;
    struct stat status;
    if (::stat(file.path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
        return Error{ErrorKind::Io, path + " cannot be written", "it is a folder", "Give the name of a file"};
    // Only the base name is decorated, so the temporary file is in the same folder and rename cannot cross
    // devices.
    const std::size_t slash = file.path_.rfind('/');
    const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
    for (int attempt = 0; attempt < 100; ++attempt) {
        file.temporary_ = file.path_;
        file.temporary_.insert(base, ".");
        file.temporary_ += ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter++);
        file.fd_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file.fd_ >= 0 || errno != EEXIST)
            break;
    }
    if (file.fd_ < 0) {
        const int code = errno;
        file.temporary_.clear();
        return file.failure("could not be created", code);
    }
    file.buffer_.reserve(kBufferSize);
    return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      durable_(other.durable_),
      position_(other.position_),
      buffer_(std::move(other.buffer_))
{
    other.temporary_.clear();
}

AtomicFile::~AtomicFile()
{
    if (fd_ >= 0)
        ::close(fd_);
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
}

Error AtomicFile::failure(const char* action, int code) const
{
    std::string fix = "Check the folder and its rights";
    if (code == ENOSPC || code == EDQUOT || code == EFBIG)
        fix = "Free some space; an earlier file of this name is unchanged";
    return Error{ErrorKind::Io, path_ + " " + action, std::strerror(code), fix};
}

Status AtomicFile::writeAll(std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        // One write call moves at most 2 GiB on Linux.
        const ssize_t done = ::write(fd_, bytes.data(), std::min<std::size_t>(bytes.size(), 1u << 30));
        if (done < 0) {
            if (errno == EINTR)
                continue;
            return failure("could not be written", errno);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return {};
}

Status AtomicFile::flush()
{
    const Status status = writeAll(buffer_);
    buffer_.clear();
    return status;
}

Status AtomicFile::write(std::span<const std::byte> bytes)
{
    position_ += bytes.size();
    if (buffer_.size() + bytes.size() > kBufferSize)
        if (Status status = flush(); !status.ok())
            return status;
    if (bytes.size() >= kBufferSize)
        return writeAll(bytes);
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return {};
}

Status AtomicFile::write(std::string_view text)
{
    return write(std::as_bytes(std::span(text.data(), text.size())));
}

Status AtomicFile::commit()
{
    if (Status status = flush(); !status.ok())
        return status;
    if (durable_ && ::fsync(fd_) != 0)
        return failure("could not be flushed to the disk", errno);
    const int closed = ::close(std::exchange(fd_, -1));
    if (closed != 0 && errno != EINTR)
        return failure("could not be closed", errno);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
        return failure("could not be put in place", errno);
    temporary_.clear();
    if (!durable_)
        return {};
    const int folder = ::open(folderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return failure("was written, but its folder could not be flushed", errno);
    // Some file systems have no fsync on folders (EINVAL); the rename is as durable as they make it.
    const int synced = ::fsync(folder);
    const int code = errno;
    ::close(folder);
    if (synced != 0 && code != EINVAL)
        return failure("was written, but its folder could not be flushed", code);
    return {};
}

} // namespace lockstep
