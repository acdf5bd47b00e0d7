// ckpt: everything about checkpoint files. Here: ls, what a file or folder holds.
#include "app/cli/ckpt_commands.h"
#include "core/ckpt/integrity.h"
#include "core/ckpt/manifest.h"
#include "core/ckpt/open.h"
#include "core/ckpt/stats.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/ckpt/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unordered_map>

namespace lockstep {
namespace {

struct LsCommand {
    std::vector<std::string> paths;
    bool hash = false;   // read every byte, also for people
    bool noHash = false; // read the structure only, also for --json
};

std::string shapeText(const Checkpoint& c, const TensorInfo& t)
{
    if (!t.shapeKnown)
        return "ragged";
    std::string text = "[";
    for (const std::int64_t n : c.shape(t))
        text += (text.size() > 1 ? ", " : "") + std::to_string(n);
    return text + "]";
}

std::string numberText(const ExactNumber& number)
{
    if (const auto* i = std::get_if<std::int64_t>(&number))
        return std::to_string(*i);
    if (const auto* u = std::get_if<std::uint64_t>(&number))
        return std::to_string(*u);
    if (const auto* d = std::get_if<double>(&number))
        return fmt::format("{:.6g}", *d);
    return "-";
}

// What is worth a word beside the numbers: other layouts, shared memory, views, placement.
std::string noteText(const Checkpoint& c, const TensorInfo& t, const std::string& sharesWith)
{
    std::vector<std::string> notes;
    if (t.layout != Layout::Strided)
        notes.emplace_back(layoutName(t.layout));
    if (t.wrapper)
        notes.push_back("global shape of a " + std::string(c.value(t.pyClass).text()));
    if (t.extra != kNone && !c.extras[t.extra].scheme.empty())
        notes.emplace_back(c.extras[t.extra].scheme);
    if (t.meta)
        notes.emplace_back("no bytes");
    if (t.storage != kNone) {
        const StorageInfo& s = c.storages[t.storage];
        if (!sharesWith.empty())
            notes.push_back("shares memory with " + sharesWith);
        const auto n = c.elements(t);
        if (n && s.bytes > 0 && static_cast<std::uint64_t>(*n) < s.bytes / itemSize(t.dtype))
            notes.push_back(
                fmt::format("{:.3g} % of its storage", 100.0 * static_cast<double>(*n) *
                                                           static_cast<double>(itemSize(t.dtype)) /
                                                           static_cast<double>(s.bytes)));
        if (!s.device.empty() && s.device != "cpu")
            notes.push_back("on " + printable(s.device));
    }
    if (t.pieceCount > 1)
        notes.push_back(fmt::format("{} parts", t.pieceCount));
    std::string text;
    for (const std::string& note : notes)
        text += (text.empty() ? "" : "; ") + note;
    return text;
}

void printHead(const Checkpoint& c, std::size_t tensors, std::uint64_t elements)
{
    std::string kind(containerName(c.container));
    if (c.container == Container::Zip)
        kind = c.torchScript ? "TorchScript archive" : "torch zip";
    fmt::print("{}: {}, {} tensors, {} elements\n", printable(c.path), kind, tensors, elements);
    if (c.result() == "refused")
        fmt::print("torch refuses it with weights_only=True: {}\n", printable(c.refusal));
    std::vector<std::string> blocked;
    for (const GlobalUse& g : c.globals)
        if (!g.allowed)
            blocked.push_back(printable(g.name.substr(0, 200)));
    if (!blocked.empty())
        fmt::print("Names code that was not run: {}\n", fmt::join(blocked, ", "));
}

void printProblems(const Checkpoint& c)
{
    constexpr std::size_t kShown = 20;
    for (std::size_t i = 0; i < c.problems.size() && i < kShown; ++i)
        warn(printable(c.problems[i].toError().sentence()));
    if (c.problems.size() > kShown)
        warn(fmt::format("{} further problems; see --json", c.problems.size() - kShown));
}

// A table of up to a million rows: the text of all cells lies in one string. A cell wider than kWidest sticks out.
class LongTable
{
public:
    LongTable(std::vector<std::string_view> head, std::size_t leftColumns, std::size_t rows)
        : columns_(head.size()), left_(leftColumns), widths_(head.size(), 0)
    {
        ends_.reserve((rows + 1) * columns_);
        text_.reserve((rows + 1) * 64);
        for (const std::string_view cell : head)
            add(cell);
    }

    void add(std::string_view cell)
    {
        constexpr std::size_t kWidest = 60;
        std::size_t& width = widths_[ends_.size() % columns_];
        width = std::max(width, std::min(cell.size(), kWidest));
        text_ += cell;
        ends_.push_back(text_.size());
    }

    void print() const
    {
        std::string out;
        std::size_t start = 0;
        for (std::size_t i = 0; i < ends_.size(); ++i) {
            const std::size_t column = i % columns_;
            const std::string_view cell = std::string_view(text_).substr(start, ends_[i] - start);
            const std::size_t padding = widths_[column] > cell.size() ? widths_[column] - cell.size() : 0;
            start = ends_[i];
            const bool last = column + 1 == columns_;
            const bool right = column >= left_ && !last;
            out.append(column > 0 && !(last && cell.empty()) ? 2 : 0, ' ');
            out.append(right ? padding : 0, ' ');
            out += cell;
            out.append(right || last ? 0 : padding, ' ');
            if (last)
                out += '\n';
            if (out.size() > (1u << 16)) {
                std::fwrite(out.data(), 1, out.size(), stdout);
                out.clear();
            }
        }
        std::fwrite(out.data(), 1, out.size(), stdout);
    }

private:
    std::size_t columns_;
    std::size_t left_;
    std::vector<std::size_t> widths_;
    std::vector<std::size_t> ends_;
    std::string text_;
};

void addStatistics(const Checkpoint& c, const TensorInfo& t, LongTable& table)
{
    ElementStats stats;
    auto bytes = TensorBytes::open(c, t);
    const auto n = c.elements(t);
    const bool countable = n && (t.storage == kNone || static_cast<std::uint64_t>(*n) <=
                                                           64 * (c.storages[t.storage].bytes + 65536));
    if (!bytes || !countable || !hasStatistics(t.dtype)) {
        for (int i = 0; i < 5; ++i)
            table.add("-");
        return;
    }
    bytes->forEachBlock([&](std::span<const std::byte> block) {
        accumulate(t.dtype, block, stats);
        return true;
    });
    for (const std::string& cell :
         {std::to_string(stats.nan), std::to_string(stats.inf), numberText(stats.min), numberText(stats.max),
          fmt::format("{:.6g}", stats.l2())})
        table.add(cell);
}

void printTree(const Checkpoint& c, bool statistics)
{
    std::vector<std::string_view> head = {"key", "dtype", "shape", "elements"};
    if (statistics)
        head.insert(head.end(), {"NaN", "Inf", "min", "max", "norm"});
    head.emplace_back();
    LongTable table(head, 3, c.tensors.size());
    std::unordered_map<std::uint32_t, std::string> shared; // storages of several tensors: name of the first
    std::vector<std::uint8_t> uses(c.storages.size(), 0);
    for (const TensorInfo& t : c.tensors)
        if (t.storage != kNone && uses[t.storage] < 2)
            ++uses[t.storage];
    std::uint64_t total = 0;
    std::size_t count = 0;
    walkLeaves(c, [&](const Leaf& leaf) {
        if (leaf.cycle || !leaf.value.is(ValueKind::Tensor))
            return;
        const TensorInfo& t = leaf.value.tensor();
        const std::int64_t elements = t.shapeKnown ? c.elements(t).value_or(-1) : -1; // -1: not known
        total += static_cast<std::uint64_t>(std::max<std::int64_t>(0, elements));
        ++count;
        const std::string name = leaf.path.empty() ? "(the file)" : displayName(leaf.path);
        table.add(name);
        table.add(dtypeInfo(t.dtype).name);
        table.add(shapeText(c, t));
        table.add(elements < 0 ? "-" : std::to_string(elements));
        if (statistics)
            addStatistics(c, t, table);
        std::string sharesWith;
        if (t.storage != kNone && uses[t.storage] > 1)
            if (const auto [first, fresh] = shared.try_emplace(t.storage, name); !fresh)
                sharesWith = first->second;
        table.add(noteText(c, t, sharesWith));
    });
    printHead(c, count, total);
    if (count > 0)
        table.print();
}

int list(const LsCommand& command, const std::string& path, bool json)
{
    Result<Checkpoint> opened = openCheckpoint(path);
    if (!opened)
        return fail(opened.error());
    Checkpoint& c = *opened;
    const bool hash = command.hash || (json && !command.noHash);
    if (json) {
        ManifestOptions options;
        options.hash = hash;
        const std::string document = manifestJson(c, options);
        std::fwrite(document.data(), 1, document.size(), stdout);
        std::fputc('\n', stdout);
    } else {
        if (hash) {
            IntegrityReport report = checkIntegrity(c);
            c.problems.insert(c.problems.end(), report.problems.begin(), report.problems.end());
        }
        printTree(c, hash);
        printProblems(c);
    }
    return c.fatal() ? 3 : c.damaged() ? 1 : 0;
}

void addCkptLs(CLI::App& ckpt, CliContext& context)
{
    auto options = std::make_shared<LsCommand>();
    CLI::App* command = context.command(
        ckpt, "ls", "List what a checkpoint file or folder holds; nothing in it is run", [&context, options] {
            return eachPath(options->paths, context.json,
                            [&](const std::string& path) { return list(*options, path, context.json); });
        });
    command->add_option("path", options->paths, "checkpoint files or folders")
        ->required()
        ->option_text("PATH...");
    CLI::Option* hash = command->add_flag(
        "--hash", options->hash,
        "read every byte: checksums and statistics, with --json also SHA-256 (with --json the default)");
    command->add_flag("--no-hash", options->noHash, "read the structure only (the default without --json)")
        ->excludes(hash);
}

} // namespace

int eachPath(const std::vector<std::string>& paths, bool json,
             const std::function<int(const std::string&)>& look)
{
    if (json && paths.size() > 1)
        return fail(Error{ErrorKind::Usage, "There is one document for one checkpoint",
                          fmt::format("{} paths are named with --json", paths.size()),
                          "Name one, or leave out --json"});
    int worst = 0;
    for (const std::string& path : paths) {
        if (&path != &paths.front())
            fmt::print("\n");
        std::fflush(stdout);
        worst = std::max(worst, look(path));
    }
    return worst;
}

void addCkptCommand(CLI::App& app, CliContext& context)
{
    CLI::App* ckpt = app.add_subcommand("ckpt", "Look into checkpoints, compare, repair and convert them");
    ckpt->require_subcommand(1);
    ckpt->fallthrough();
    addCkptLs(*ckpt, context);
    addCkptVerify(*ckpt, context);
    addCkptDiff(*ckpt, context);
    addCkptConvert(*ckpt, context);
    addCkptSalvage(*ckpt, context);
    addCkptLoadCheck(*ckpt, context);
}

} // namespace lockstep
