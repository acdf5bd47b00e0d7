#include "core/gates/id_list.h"

#include "core/gates/id_json_rows.h"
#include "core/gates/id_list_builder.h"
#include "core/gates/id_text_rows.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep {

namespace {

constexpr std::size_t kBuffer = std::size_t(4) << 20; // also the longest line

// Feeds the lines of one file to the reader its first line asks for.
class Lines
{
public:
    explicit Lines(IdListBuilder& builder) : builder_(builder), text_(builder), json_(builder) {}

    std::int64_t count() const { return line_; }

    // As take(), for the plain rows among complete lines; returns where the first other line starts.
    const char* takePlain(const char* p, const char* end)
    {
        if (format_ != Format::Text)
            return p;
        while (p < end) {
            const char* next = text_.plainRow(p);
            if (!next)
                break;
            ++line_;
            p = next;
        }
        return p;
    }

    bool take(const char* p, const char* end, Error& error)
    {
        ++line_;
        if (end > p && end[-1] == '\r')
            --end;
        if (line_ == 1 && end - p >= 3 && std::memcmp(p, "\xef\xbb\xbf", 3) == 0)
            p += 3;
        if (p == end || *p == '#')
            return true;
        if (format_ == Format::Unknown) {
            format_ = *p == '{' ? Format::Json : Format::Text;
            if (format_ == Format::Text && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')))
                return text_.header(p, end, line_, error);
        }
        return format_ == Format::Json ? json_.row(p, end, line_, error) : text_.row(p, end, line_, error);
    }

private:
    enum class Format { Unknown, Text, Json };
    IdListBuilder& builder_;
    IdTextRows text_;
    IdJsonRows json_;
    Format format_ = Format::Unknown;
    std::int64_t line_ = 0;
};

class OpenFile
{
public:
    explicit OpenFile(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~OpenFile()
    {
        if (descriptor_ >= 0)
            close(descriptor_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    int get() const { return descriptor_; }

private:
    int descriptor_;
};

Error fileError(const std::string& path, int code)
{
    return Error{code == ENOENT ? ErrorKind::NotFound : ErrorKind::Io, fmt::format("{} cannot be read", path),
                 std::strerror(code), "Check the path and the rights"};
}

Status importFile(const std::string& path, IdListBuilder& builder)
{
    builder.beginFile(path);
    const OpenFile file(path);
    if (file.get() < 0)
        return fileError(path, errno);
    std::vector<char> buffer(kBuffer);
    std::size_t filled = 0;
    Lines lines(builder);
    Error error;
    for (bool atEnd = false; !atEnd;) {
        const ssize_t got = read(file.get(), buffer.data() + filled, buffer.size() - filled);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            return fileError(path, errno);
        }
        atEnd = got == 0;
        filled += std::size_t(got);
        const char* p = buffer.data();
        const char* const end = p + filled;
        const auto* lastFeed = static_cast<const char*>(memrchr(p, '\n', filled));
        while (p < end) {
            if (lastFeed && p <= lastFeed) {
                p = lines.takePlain(p, lastFeed + 1);
                if (p == end)
                    break;
            }
            const auto* stop = static_cast<const char*>(std::memchr(p, '\n', std::size_t(end - p)));
            if (!stop && !atEnd)
                break;
            if (!lines.take(p, stop ? stop : end, error))
                return error;
            p = stop ? stop + 1 : end;
        }
        filled = std::size_t(end - p);
        if (filled == buffer.size())
            return builder.problem(lines.count() + 1, std::int64_t(kBuffer),
                                   fmt::format("the line is longer than {} bytes", kBuffer),
                                   "Write one row per line");
        std::memmove(buffer.data(), p, filled);
    }
    builder.endFile(lines.count());
    return {};
}

} // namespace

Result<std::unique_ptr<DataSource>> importIdLists(const std::vector<std::string>& paths,
                                                  const IdListOptions& options)
{
    std::int64_t bytes = 0;
    for (const std::string& path : paths) {
        struct stat info = {};
        if (stat(path.c_str(), &info) != 0)
            return fileError(path, errno);
        if (!S_ISREG(info.st_mode))
            return Error{ErrorKind::Input, fmt::format("{} cannot be imported", path),
                         "it is not a regular file", "Give the path of a list"};
        bytes += info.st_size;
    }
    try {
        IdListBuilder builder(bytes / 8 + 1); // "0,0,0,0\n" is the shortest row
        for (const std::string& path : paths)
            if (Status status = importFile(path, builder); !status)
                return status.error();
        return builder.finish(options);
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::Environment, "The id list cannot be imported",
                     "there is not enough memory for it", "Import fewer epochs at once"};
    }
}

} // namespace lockstep
