#include "core/gates/id_list.h"

#include "core/gates/id_list_builder.h"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep {

namespace {

constexpr std::size_t kBuffer = std::size_t(4) << 20; // also the longest line
constexpr std::uint32_t kRequired = 0b1111;           // epoch, rank, position, id

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

// A printable excerpt of what stands at `p`, for errors.
std::string excerpt(const char* p, const char* end)
{
    std::string text;
    while (p < end && *p != '\n' && *p != ',' && *p != '\t' && *p != ' ' && text.size() < 20) {
        text += *p >= 32 && *p < 127 ? *p : '?';
        ++p;
    }
    return text.empty() ? "nothing" : '"' + text + '"';
}

// Rows of one CSV or plain text file. Fields are separated by one comma, semicolon or tab with any blanks around it, or
// by blanks alone.
class TextRows
{
public:
    explicit TextRows(IdListBuilder& builder) : builder_(builder)
    {
        order_ = {IdField::Epoch, IdField::Rank, IdField::Position, IdField::Id, IdField::Hash};
    }

    // The first line that is neither empty nor a comment may name the columns.
    bool header(const char* p, const char* end, std::int64_t line, Error& error)
    {
        order_.clear();
        std::uint32_t seen = 0;
        const char* begin = p;
        while (p < end) {
            const char* name = p;
            while (p < end && *p != ',' && *p != ';' && *p != '\t' && *p != ' ')
                ++p;
            std::string word(name, p);
            std::transform(word.begin(), word.end(), word.begin(),
                           [](unsigned char c) { return std::tolower(c); });
            if (!word.empty()) {
                const IdField field = idFieldByName(word);
                if (field != IdField::Count && (seen >> unsigned(field) & 1)) {
                    error = builder_.problem(line, name - begin + 1,
                                             fmt::format("the column \"{}\" comes twice", word));
                    return false;
                }
                order_.push_back(field);
                if (field != IdField::Count)
                    seen |= 1u << unsigned(field);
            }
            if (p < end)
                ++p;
        }
        if ((seen & kRequired) != kRequired || order_.size() > 64) {
            error = builder_.problem(line, 1,
                                     "the first line names columns, but not epoch, rank, position and id",
                                     "Name the columns epoch,rank,position,id");
            return false;
        }
        plain_ = order_ == std::vector{IdField::Epoch, IdField::Rank, IdField::Position, IdField::Id};
        return true;
    }

    // A line "epoch,rank,position,id\n" in this order, as nearly all are; returns what follows it, or nullptr if it is
    // anything else (row() then reads it or tells what is wrong). A line feed must follow somewhere behind `p`.
    const char* plainRow(const char* p)
    {
        if (!plain_)
            return nullptr;
        std::uint64_t values[4];
        for (int column = 0; column < 4; ++column) {
            const char* const start = p;
            std::uint64_t v = 0;
            while (isDigit(*p))
                v = v * 10 + std::uint64_t(*p++ - '0');
            if (p == start || p - start > 18 || *p != (column == 3 ? '\n' : ','))
                return nullptr;
            ++p;
            values[column] = v;
        }
        return builder_.append(values[0], values[1], values[2], values[3]) ? p : nullptr;
    }

    // One line without its line end.
    bool row(const char* p, const char* end, std::int64_t line, Error& error)
    {
        const char* begin = p;
        IdRow row;
        std::size_t column = 0;
        for (; column < order_.size(); ++column) {
            while (p < end && (*p == ' ' || *p == '\t'))
                ++p;
            if (p == end)
                break;
            const IdField field = order_[column];
            const char* const start = p;
            std::uint64_t value = 0;
            if (!number(field, p, end, value)) {
                error = badNumber(field, start, p, begin, end, line);
                return false;
            }
            if (field != IdField::Count) {
                row.values[std::size_t(field)] = std::int64_t(value);
                row.columns[std::size_t(field)] = std::int32_t(start - begin + 1);
                row.has |= 1u << unsigned(field);
            }
            while (p < end && (*p == ' ' || *p == '\t'))
                ++p;
            if (p < end && (*p == ',' || *p == ';'))
                ++p;
        }
        if ((row.has & kRequired) != kRequired) {
            error =
                builder_.problem(line, end - begin + 1,
                                 fmt::format("the line ends after {} of {} fields", column, order_.size()));
            return false;
        }
        if (p != end) {
            error = builder_.problem(line, p - begin + 1,
                                     fmt::format("{} follows the last field", excerpt(p, end)));
            return false;
        }
        if (!builder_.add(row, line)) {
            error = builder_.error();
            return false;
        }
        return true;
    }

private:
    // Reads a whole number that fits the field; `p` stops behind it.
    static bool number(IdField field, const char*& p, const char* end, std::uint64_t& value)
    {
        const bool wide = field == IdField::Hash || field == IdField::Draw;
        if (wide && end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
            const auto [next, result] = std::from_chars(p + 2, end, value, 16);
            p = next;
            return result == std::errc() && endsField(p, end);
        }
        if (field == IdField::Worker && end - p >= 2 && p[0] == '-' && p[1] == '1') {
            value = std::uint64_t(-1);
            p += 2;
            return endsField(p, end);
        }
        const char* const start = p;
        std::uint64_t v = 0;
        while (p < end && isDigit(*p))
            v = v * 10 + std::uint64_t(*p++ - '0');
        if (p == start || !endsField(p, end))
            return false;
        if (p - start > 18) { // may have wrapped
            const auto [next, result] = std::from_chars(start, p, v);
            if (result != std::errc() || (!wide && v > std::uint64_t(INT64_MAX)))
                return false;
        }
        if (field == IdField::Step && v > 0xffffffffu)
            return false;
        value = v;
        return true;
    }
    static bool endsField(const char* p, const char* end)
    {
        return p == end || *p == ',' || *p == ' ' || *p == '\t' || *p == ';';
    }

    Error badNumber(IdField field, const char* start, const char* stop, const char* begin, const char* end,
                    std::int64_t line) const
    {
        static constexpr const char* names[] = {"epoch", "rank",   "position", "sample id",     "hash",
                                                "step",  "worker", "draw",     "unnamed column"};
        const char* name = names[std::size_t(field)];
        if (*start == '-' && stop == start)
            return builder_.problem(line, start - begin + 1,
                                    fmt::format("the {} {} is negative", name, excerpt(start, end)),
                                    "Ids and positions count from 0");
        const bool digits = isDigit(*start) && endsField(stop, end);
        return builder_.problem(
            line, start - begin + 1,
            digits ? fmt::format("the {} {} is too large", name, excerpt(start, end))
                   : fmt::format("the {} {} is not a whole number", name, excerpt(start, end)));
    }

    IdListBuilder& builder_;
    std::vector<IdField> order_;
    bool plain_ = true; // the first four columns are the four that every row needs, in this order
};

// Rows of one JSON lines file: {"epoch":0,"rank":1,"position":2,"id":3}. Other keys are skipped, whatever they hold.
class JsonRows : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonRows>
{
public:
    explicit JsonRows(IdListBuilder& builder) : builder_(builder) {}

    bool row(const char* p, const char* end, std::int64_t line, Error& error)
    {
        row_ = {};
        depth_ = 0;
        problem_.clear();
        rapidjson::MemoryStream stream(p, std::size_t(end - p));
        stream_ = &stream;
        reader_.Parse<rapidjson::kParseIterativeFlag>(stream, *this);
        if (!problem_.empty() || reader_.HasParseError()) {
            error = builder_.problem(
                line, std::int64_t(problem_.empty() ? reader_.GetErrorOffset() : stream.Tell()) + 1,
                problem_.empty() ? rapidjson::GetParseError_En(reader_.GetParseErrorCode()) : problem_,
                "Each line needs an object with epoch, rank, position and id (docs/phase1.md)");
            return false;
        }
        if ((row_.has & kRequired) != kRequired) {
            error = builder_.problem(line, end - p + 1, "the object lacks epoch, rank, position or id");
            return false;
        }
        if (!builder_.add(row_, line)) {
            error = builder_.error();
            return false;
        }
        return true;
    }

    // SAX events; false ends the parse with problem_.
    bool Key(const char* name, rapidjson::SizeType size, bool)
    {
        field_ = depth_ == 1 ? idFieldByName(std::string(name, size)) : IdField::Count;
        return true;
    }
    bool Uint(unsigned v) { return value(v, false); }
    bool Uint64(std::uint64_t v) { return value(v, false); }
    bool Int(int v) { return value(std::uint64_t(std::int64_t(v)), v < 0); }
    bool Int64(std::int64_t v) { return value(std::uint64_t(v), v < 0); }
    bool String(const char* text, rapidjson::SizeType size, bool)
    {
        std::uint64_t v = 0;
        const bool hex = size > 2 && text[0] == '0' && text[1] == 'x';
        const auto [next, result] = std::from_chars(text + (hex ? 2 : 0), text + size, v, hex ? 16 : 10);
        if ((field_ == IdField::Hash || field_ == IdField::Draw) && result == std::errc() &&
            next == text + size)
            return value(v, false);
        return Default();
    }
    bool Default()
    {
        if (depth_ == 0)
            problem_ = "the line is not an object";
        else if (depth_ == 1 && field_ != IdField::Count)
            problem_ = "a value is not a whole number";
        return problem_.empty();
    }
    bool StartObject()
    {
        if (depth_ == 1 && field_ != IdField::Count)
            return Default();
        ++depth_;
        return true;
    }
    bool EndObject(rapidjson::SizeType)
    {
        --depth_;
        return true;
    }
    bool StartArray()
    {
        if (depth_ <= 1 && (depth_ == 0 || field_ != IdField::Count))
            return Default();
        ++depth_;
        return true;
    }
    bool EndArray(rapidjson::SizeType)
    {
        --depth_;
        return true;
    }

private:
    bool value(std::uint64_t v, bool negative)
    {
        if (depth_ == 0)
            return Default();
        if (depth_ > 1 || field_ == IdField::Count)
            return true;
        const bool wide = field_ == IdField::Hash || field_ == IdField::Draw;
        if (negative && field_ != IdField::Worker && !wide)
            problem_ = "a value is negative; ids and positions count from 0";
        else if (!wide && !negative && v > std::uint64_t(field_ == IdField::Step ? 0xffffffffu : INT64_MAX))
            problem_ = "a value is too large";
        row_.values[std::size_t(field_)] = std::int64_t(v);
        row_.columns[std::size_t(field_)] = std::int32_t(stream_->Tell()) + 1;
        row_.has |= 1u << unsigned(field_);
        return problem_.empty();
    }

    IdListBuilder& builder_;
    rapidjson::Reader reader_;
    rapidjson::MemoryStream* stream_ = nullptr;
    IdRow row_;
    IdField field_ = IdField::Count;
    int depth_ = 0;
    std::string problem_;
};

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
    TextRows text_;
    JsonRows json_;
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
