// ckpt: everything about checkpoint files. Here: ls, what a file or folder holds.
#include "app/cli/ckpt_commands.h"
#include "app/cli/table.h"
#include "core/ckpt/integrity.h"
#include "core/ckpt/manifest.h"
#include "core/ckpt/open.h"
#include "core/ckpt/stats.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/ckpt/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <unordered_map>

namespace lockstep {
namespace {

struct LsCommand {
    std::string path;
    bool hash = false;   // read every byte, also for people
    bool noHash = false; // read the structure only, also for --json
};

std::string shapeText(const Checkpoint& c, const TensorInfo& t)
{
    return t.shapeKnown ? fmt::format("[{}]", fmt::join(c.shape(t), ", ")) : "ragged";
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
std::string noteText(const Checkpoint& c, const TensorInfo& t,
                     std::unordered_map<std::uint32_t, std::string>& firstOf, const std::string& name)
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
        if (const auto [it, fresh] = firstOf.try_emplace(t.storage, name); !fresh)
            notes.push_back("shares memory with " + it->second);
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
    return fmt::format("{}", fmt::join(notes, "; "));
}

void addStatistics(const Checkpoint& c, const TensorInfo& t, std::vector<std::string>& cells)
{
    ElementStats stats;
    auto bytes = TensorBytes::open(c, t);
    const auto n = c.elements(t);
    const bool countable = n && (t.storage == kNone || static_cast<std::uint64_t>(*n) <=
                                                           64 * (c.storages[t.storage].bytes + 65536));
    if (!bytes || !countable || !hasStatistics(t.dtype)) {
        cells.insert(cells.end(), 5, "-");
        return;
    }
    bytes->forEachBlock([&](std::span<const std::byte> block) {
        accumulate(t.dtype, block, stats);
        return true;
    });
    for (std::string cell : {std::to_string(stats.nan), std::to_string(stats.inf), numberText(stats.min),
                             numberText(stats.max), fmt::format("{:.6g}", stats.l2())})
        cells.push_back(std::move(cell));
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

void printTree(const Checkpoint& c, bool statistics)
{
    std::vector<Column> columns = {{"key"}, {"dtype"}, {"shape"}, {"elements", Align::Right}};
    if (statistics)
        for (const char* title : {"NaN", "Inf", "min", "max", "norm"})
            columns.push_back({title, Align::Right});
    columns.push_back({""});
    Table table(std::move(columns));
    std::unordered_map<std::uint32_t, std::string> firstOf;
    std::uint64_t total = 0;
    const std::vector<TensorLeaf> tensors = listTensors(c);
    for (const TensorLeaf& leaf : tensors) {
        const TensorInfo& t = *leaf.tensor;
        const auto n = t.shapeKnown ? c.elements(t) : std::nullopt;
        total += static_cast<std::uint64_t>(n.value_or(0));
        std::vector<std::string> cells = {leaf.name.empty() ? "(the file)" : leaf.name,
                                          std::string(dtypeInfo(t.dtype).name), shapeText(c, t),
                                          std::to_string(n.value_or(0))};
        if (!n)
            cells.back() = "-";
        if (statistics)
            addStatistics(c, t, cells);
        cells.push_back(noteText(c, t, firstOf, leaf.name));
        table.row(std::move(cells));
    }
    printHead(c, tensors.size(), total);
    if (!tensors.empty())
        fmt::print("{}", table.text());
}

int list(const LsCommand& command, bool json)
{
    Result<Checkpoint> opened = openCheckpoint(command.path);
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
    CLI::App* command =
        context.command(ckpt, "ls", "List what a checkpoint file or folder holds; nothing in it is run",
                        [&context, options] { return list(*options, context.json); });
    command->add_option("path", options->path, "checkpoint file or folder")->required()->option_text("PATH");
    CLI::Option* hash = command->add_flag(
        "--hash", options->hash,
        "read every byte: checksums and statistics, with --json also SHA-256 (with --json the default)");
    command->add_flag("--no-hash", options->noHash, "read the structure only (the default without --json)")
        ->excludes(hash);
}

} // namespace

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
