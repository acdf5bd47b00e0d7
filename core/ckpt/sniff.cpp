#include "core/ckpt/bytes.h"
#include "core/ckpt/folder.h"
#include "core/ckpt/legacy_reader.h"
#include "core/ckpt/readers.h"

#include <algorithm>
#include <cctype>

namespace lockstep {
namespace {

struct Magic {
    std::string_view bytes;
    std::string_view what;
};
using namespace std::string_view_literals;
constexpr Magic kForeign[] = {
    {"\x1f\x8b"sv, "a gzip stream"},
    {"\x89PNG"sv, "a PNG picture"},
    {"\xff\xd8\xff"sv, "a JPEG picture"},
    {"GIF8"sv, "a GIF picture"},
    {"BZh"sv, "a bzip2 stream"},
    {"\xfd"
     "7zXZ"sv,
     "an xz stream"},
    {"\x28\xb5\x2f\xfd"sv, "a zstd stream"},
    {"7z\xbc\xaf"sv, "a 7z archive"},
    {"\x93NUMPY"sv, "a numpy array"},
    {"\x89HDF"sv, "an HDF5 file"},
    {"\x7f"
     "ELF"sv,
     "a program"},
    {"%PDF"sv, "a PDF document"},
    {"GGUF"sv, "a GGUF model"},
    {"Rar!"sv, "a rar archive"},
    {"\x08\x00\x00\x00TFL3"sv, "a TensorFlow Lite model"},
};

bool startsWithIgnoringCase(std::string_view text, std::string_view wanted)
{
    return text.size() >= wanted.size() &&
           std::equal(wanted.begin(), wanted.end(), text.begin(), [](char a, char b) {
               return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
           });
}

bool looksLikeText(std::string_view head)
{
    return std::all_of(head.begin(), head.end(), [](char c) {
        const auto u = static_cast<unsigned char>(c);
        return u >= 0x80 || (u >= 0x20 && u != 0x7f) || u == '\n' || u == '\r' || u == '\t' || u == '\f';
    });
}

bool looksLikeTar(std::string_view head)
{
    if (head.size() < 512)
        return false;
    if (head.substr(257, 5) == "ustar")
        return true;
    unsigned sum = 8 * ' ';
    unsigned stored = 0;
    for (std::size_t i = 0; i < 512; ++i)
        if (i < 148 || i >= 156)
            sum += static_cast<unsigned char>(head[i]);
    for (const char c : head.substr(148, 6))
        if (c >= '0' && c <= '7')
            stored = stored * 8 + static_cast<unsigned>(c - '0');
    return stored == sum && head.find_first_not_of('\0') != std::string_view::npos;
}

// A text-mode copy puts a carriage return before every newline.
bool newlinesRewritten(std::string_view bytes)
{
    bytes = bytes.substr(0, 8u << 20);
    std::size_t count = 0;
    for (std::size_t at = bytes.find('\n'); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
        if (at == 0 || bytes[at - 1] != '\r')
            return false;
        ++count;
    }
    return count >= 4;
}

CkptProblem found(const MappedFile& file, CkptFault fault, std::uint64_t offset, std::string why,
                  std::string detail = {})
{
    CkptProblem p;
    p.fault = fault;
    p.offset = offset;
    p.file = file.name();
    p.why = std::move(why);
    p.detail = std::move(detail);
    p.fatal = true;
    return p;
}

CkptProblem describeText(const MappedFile& file, std::string_view text)
{
    const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    const std::string_view body = text.substr(first);
    if (text.starts_with("version https://git-lfs")) {
        std::string size;
        if (const std::size_t at = text.find("\nsize "); at != std::string_view::npos)
            for (std::size_t i = at + 6;
                 i < text.size() && text[i] >= '0' && text[i] <= '9' && size.size() < 20; ++i)
                size += text[i];
        return found(file, CkptFault::LfsPointer, 0,
                     "a Git LFS pointer; the real file has " +
                         (size.empty() ? "an unknown number of" : size) + " bytes",
                     size);
    }
    if (startsWithIgnoringCase(body, "<!doctype") || startsWithIgnoringCase(body, "<html") ||
        startsWithIgnoringCase(body, "<head") || startsWithIgnoringCase(body, "<?xml"))
        return found(file, CkptFault::HtmlPage, first, "a web page, not the file behind it");
    if (body.starts_with('{') || body.starts_with('['))
        return found(file, CkptFault::NotCheckpoint, first, "JSON text", "json");
    return found(file, CkptFault::NotCheckpoint, 0, "text", "text");
}

} // namespace

Container sniff(const MappedFile& file, std::optional<CkptProblem>& problem)
{
    problem.reset();
    const auto bytes = file.bytes();
    const std::string_view head = asText(bytes.first(std::min<std::size_t>(bytes.size(), 512)));
    if (head.empty()) {
        problem = found(file, CkptFault::Empty, 0, "the file has 0 bytes");
        return Container::Other;
    }
    if (head.starts_with("PK\3\4") || head.starts_with("PK\5\6") || head == "P" || head == "PK" ||
        head == "PK\3")
        return Container::Zip;
    if (bytes.size() >= sizeof kLegacyMagic &&
        std::equal(std::begin(kLegacyMagic), std::end(kLegacyMagic), head.begin(),
                   [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); }))
        return Container::Legacy;
    const bool zeros = head.find_first_not_of('\0') == std::string_view::npos && head.size() >= 16;
    // The length of a safetensors header may spell any other magic (`78 20` is not zlib here), so this comes before them.
    if (bytes.size() >= 9 && !zeros) {
        const auto length = loadLe<std::uint64_t>(bytes.data());
        const char first = head[8];
        const bool named = file.name().ends_with(".safetensors");
        if ((first == '{' && (length <= bytes.size() - 8 || (length < 100000000 && named))) ||
            (named && first == ' ' && length <= bytes.size() - 8))
            return Container::Safetensors;
    }
    if (looksLikeTar(head))
        return Container::Tar;
    for (const Magic& magic : kForeign) {
        if (head.starts_with(magic.bytes)) {
            problem =
                found(file, CkptFault::NotCheckpoint, 0, std::string(magic.what), std::string(magic.what));
            return Container::Other;
        }
    }
    if (static_cast<unsigned char>(head[0]) == 0x80 && head.size() > 1 &&
        static_cast<unsigned char>(head[1]) <= 5)
        return Container::Pickle;
    if (zeros) {
        const std::string_view all = asText(bytes);
        const std::size_t start = std::min(all.find_first_not_of('\0'), all.size());
        problem = found(file, CkptFault::OnlyZeros, 0,
                        start == all.size() ? "nothing but zero bytes: the contents never reached the disk"
                                            : std::to_string(start) + " zero bytes in front of the contents");
        if (start < all.size() && all.substr(start).starts_with("PK\3\4"))
            problem->detail = "zip behind zeros";
        return Container::Other;
    }
    if (looksLikeText(head.substr(0, 256))) {
        problem = describeText(file, asText(bytes.first(std::min<std::size_t>(bytes.size(), 4096))));
        return Container::Other;
    }
    if (file.name().ends_with(".safetensors"))
        return Container::Safetensors; // its reader says what is wrong with the length
    problem = found(file, CkptFault::NotCheckpoint, 0, "no format this program knows", "unknown");
    return Container::Other;
}

CkptResult<NodeId> readFile(PickleSession& session, std::uint32_t file, Container& container)
{
    Checkpoint& c = session.c;
    const MappedFile& mapped = *c.files[file];
    std::optional<CkptProblem> unknown;
    container = sniff(mapped, unknown);
    switch (container) {
    case Container::Zip: {
        auto root = readTorchZip(session, file, 0, mapped.size());
        if (!root && newlinesRewritten(asText(mapped.bytes()))) {
            CkptProblem p = root.problem();
            p.fault = CkptFault::ZipRewritten;
            p.why = "every newline is preceded by a carriage return: a text-mode copy rewrote them (" +
                    p.why + ")";
            return p;
        }
        return root;
    }
    case Container::Legacy:
        session.builder.allow(mapped.size());
        return readLegacy(session, mapped.bytes(), file, 0);
    case Container::Tar:
        return readTar(session, file);
    case Container::Safetensors:
        return readSafetensors(session, file);
    case Container::Pickle: {
        // torch.save with another pickle protocol writes its magic number in other bytes.
        const std::string_view head = asText(mapped.bytes().first(std::min<std::size_t>(mapped.size(), 32)));
        const std::string_view magic(reinterpret_cast<const char*>(kLegacyMagic) + 4, 10);
        if (head.find(magic) != std::string_view::npos && head.find(magic) < 20) {
            container = Container::Legacy;
            session.builder.allow(mapped.size());
            return readLegacy(session, mapped.bytes(), file, 0);
        }
        return readPlainPickle(session, file);
    }
    default:
        break;
    }
    // Protocol 0 is text: worth one try before the file is called text.
    if (unknown->fault == CkptFault::NotCheckpoint && unknown->detail == "text" && mapped.size() >= 2) {
        const char first = asText(mapped.bytes())[0];
        if (first == '(' || first == 'c' || first == '}' || first == ']') {
            auto root = readPlainPickle(session, file);
            if (root) {
                container = Container::Pickle;
                return root;
            }
        }
    }
    return *unknown;
}

NodeId readMember(PickleSession& session, const Folder& folder, const std::string& name)
{
    Checkpoint& c = session.c;
    CkptProblem failed;
    if (auto file = folder.open(name)) {
        const auto index = static_cast<std::uint32_t>(c.files.size());
        c.files.push_back(*file);
        Container container = Container::Other;
        auto root = readFile(session, index, container);
        if (root)
            return *root;
        failed = root.problem();
    } else {
        failed = file.problem();
    }
    failed.fatal = false; // the other files of the folder are listed all the same
    c.report(std::move(failed));
    return kNone;
}

bool isPlainTensor(Value v)
{
    return v.is(ValueKind::Tensor) && v.tensor().layout == Layout::Strided && v.tensor().extra == kNone &&
           !v.tensor().wrapper && v.tensor().storage != kNone;
}

} // namespace lockstep
