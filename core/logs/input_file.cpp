#include "core/logs/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep::logs {

namespace {

constexpr std::size_t kBlock = 1 << 18;
constexpr std::size_t kLongestLine = 1 << 20; // progress bars without line ends and binary rubbish are longer

Error cannotRead(const std::string& path, int code)
{
    return {code == ENOENT ? ErrorKind::NotFound : ErrorKind::Io, "Cannot read " + path, std::strerror(code),
            "Check the path and its permissions"};
}

} // namespace

InputFile::Descriptor::Descriptor(Descriptor&& other) noexcept : value(std::exchange(other.value, -1))
{
}

InputFile::Descriptor& InputFile::Descriptor::operator=(Descriptor&& other) noexcept
{
    std::swap(value, other.value);
    return *this;
}

InputFile::Descriptor::~Descriptor()
{
    if (value >= 0)
        ::close(value);
}

Result<InputFile> InputFile::open(const std::string& path)
{
    // O_NONBLOCK: opening a pipe must not wait for somebody who writes to it.
    Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (descriptor.value < 0)
        return cannotRead(path, errno);
    struct stat about = {};
    if (::fstat(descriptor.value, &about) != 0)
        return cannotRead(path, errno);
    if (!S_ISREG(about.st_mode))
        return Error{ErrorKind::Input, "Cannot read " + path, "it is no regular file",
                     "Name a log file or a folder"};
    return InputFile(path, std::move(descriptor), std::uint64_t(about.st_size));
}

std::string_view InputFile::peek(std::size_t count)
{
    if (end_ - begin_ < count && status_.ok()) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        const std::size_t wanted = std::size_t(std::min<std::uint64_t>(std::max(count, kBlock), left()));
        if (buffer_.size() < wanted)
            buffer_.resize(wanted);
        while (end_ < wanted) {
            const ::ssize_t got =
                ::pread(descriptor_.value, buffer_.data() + end_, wanted - end_, ::off_t(offset_ + end_));
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                status_ = cannotRead(path_, errno);
            if (got <= 0)
                break; // the file became shorter than it was
            end_ += std::size_t(got);
        }
    }
    return {buffer_.data() + begin_, std::min(count, end_ - begin_)};
}

void InputFile::skip(std::uint64_t count)
{
    const auto held = std::size_t(std::min<std::uint64_t>(count, end_ - begin_));
    begin_ += held;
    offset_ += std::min(count, left());
    if (held < count)
        begin_ = end_ = 0;
}

bool nextLine(InputFile& file, Line& line)
{
    line = {{}, file.offset(), false, false};
    std::size_t looked = 0;
    for (std::size_t want = 4096;; want *= 2) {
        const std::string_view seen = file.peek(std::min(want, kLongestLine));
        const std::size_t end = seen.find('\n', looked);
        if (end != std::string_view::npos) {
            line.text = seen.substr(0, end);
            line.complete = true;
            file.skip(end + 1);
            break;
        }
        if (seen.size() < std::min(want, kLongestLine)) { // the end of the file
            line.text = seen;
            file.skip(seen.size());
            break;
        }
        looked = seen.size();
        if (want >= kLongestLine) { // drop it, wherever it ends
            line.tooLong = true;
            for (std::string_view rest = seen; !rest.empty(); rest = file.peek(kBlock)) {
                const std::size_t stop = rest.find('\n');
                line.complete = stop != std::string_view::npos;
                file.skip(line.complete ? stop + 1 : rest.size());
                if (line.complete)
                    break;
            }
            return true;
        }
    }
    if (line.complete && line.text.ends_with('\r'))
        line.text.remove_suffix(1);
    return line.complete || !line.text.empty();
}

} // namespace lockstep::logs
