// Text logs: lines of programs, as they are or behind the prefix of a launcher, with or without colours.
#include "core/logs/number_text.h"
#include "core/logs/readers.h"

#include <array>
#include <cctype>

namespace lockstep::logs {

namespace {

constexpr std::size_t kSniffed = 4 << 20; // of a file that nobody named

struct Program {
    const char* format;
    LineReader read;
};
constexpr std::array kPrograms = {Program{"megatron", readMegatronLine},
                                  Program{"torchtitan", readTorchtitanLine}};

// Without escape sequences (ECMA-48 CSI: ESC [ parameters, one letter).
std::string withoutColours(std::string_view line)
{
    std::string plain;
    plain.reserve(line.size());
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\x1b') {
            plain += line[i];
        } else if (i + 1 < line.size() && line[i + 1] == '[') {
            for (i += 2; i < line.size() && (line[i] < '@' || line[i] > '~');)
                ++i;
        }
    }
    return plain;
}

// Takes "[rank3]:" or "[default3]:", which torch.distributed.run puts before each line, off the front.
std::optional<int> takeRank(std::string_view& line)
{
    const std::size_t end = line.find("]:");
    if (!line.starts_with('[') || end == std::string_view::npos || end > 64)
        return std::nullopt;
    const std::string_view inner = line.substr(1, end - 1);
    const std::size_t digits = inner.find_first_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos)
        return std::nullopt;
    for (const char c : inner.substr(0, digits)) {
        if (!std::isalpha(static_cast<unsigned char>(c)) && c != '_' && c != '-')
            return std::nullopt;
    }
    const std::optional<std::int64_t> rank = parseInteger(inner.substr(digits));
    if (!rank || *rank < 0 || *rank >= 1 << 20)
        return std::nullopt;
    line.remove_prefix(end + 2);
    return int(*rank);
}

// The number of the program in kPrograms whose line it is.
std::optional<std::size_t> readLine(std::string_view text, std::optional<int> fallback, SeriesSet& out,
                                    std::optional<std::size_t> only)
{
    const std::string plain =
        text.find('\x1b') == std::string_view::npos ? std::string(text) : withoutColours(text);
    std::string_view line = plain;
    line.remove_prefix(line.rfind('\r') + 1); // what a progress bar had written there before
    const std::optional<int> prefix = takeRank(line);
    for (std::size_t i = 0; i < kPrograms.size(); ++i) {
        if ((!only || *only == i) && kPrograms[i].read(line, prefix ? prefix : fallback, out))
            return i;
    }
    return std::nullopt;
}

// The program of the first line with numbers, looking no further than `most` bytes.
std::optional<std::size_t> programOf(InputFile& file, std::uint64_t most)
{
    SeriesSet scratch{LogRun()};
    Line line;
    while (file.offset() < most && nextLine(file, line)) {
        if (line.complete && !line.tooLong)
            if (const std::optional<std::size_t> program =
                    readLine(line.text, std::nullopt, scratch, std::nullopt))
                return program;
    }
    return std::nullopt;
}

} // namespace

bool looksLikeTextLog(InputFile& file, bool whole)
{
    return file.peek(4096).find('\0') == std::string_view::npos &&
           programOf(file, whole ? UINT64_MAX : kSniffed).has_value();
}

void readTextLog(InputFile& file, const Origin& origin, Collector& out)
{
    Result<InputFile> again = InputFile::open(file.path());
    const std::optional<std::size_t> program = again ? programOf(*again, UINT64_MAX) : std::nullopt;
    if (!program)
        return;
    SeriesSet& set = out.run(kPrograms[*program].format, origin.run);
    Line line;
    while (nextLine(file, line)) {
        if (!line.complete)
            return out.problem(origin.file, line.offset,
                               "The last line has no line end, so it may be cut. It was left out; import "
                               "again when it is whole");
        if (!line.tooLong)
            readLine(line.text, origin.rank, set, program);
    }
}

} // namespace lockstep::logs
