#include "core/logs/read_logs.h"

#include "core/logs/hidden_nan.h"
#include "core/logs/number_text.h"
#include "core/logs/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

namespace lockstep {

using namespace logs;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100000;
constexpr std::size_t kMostLookedAt = 100;

struct Candidate {
    std::string path;
    Format format = Format::None;
    Origin origin;
    double begin = 0; // see tfEventsBegin; of a launcher's file its attempt

    // Files of one run one after the other, those of a launcher by attempt.
    bool operator<(const Candidate& other) const
    {
        return std::tie(origin.run, begin, path) < std::tie(other.origin.run, other.begin, other.path);
    }
};

std::vector<std::string> partsOf(const fs::path& path)
{
    std::vector<std::string> parts;
    for (const fs::path& part : path)
        parts.push_back(part.string());
    return parts;
}

// The N of a folder "rank_N", the innermost first.
std::optional<int> rankOfFolders(const std::vector<std::string>& folders)
{
    for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
        if (!folder->starts_with("rank"))
            continue;
        std::string_view number = std::string_view(*folder).substr(4);
        if (number.starts_with('_') || number.starts_with('-'))
            number.remove_prefix(1);
        const std::optional<std::int64_t> rank = parseInteger(number);
        if (rank && *rank >= 0 && *rank < 1 << 20)
            return int(*rank);
    }
    return std::nullopt;
}

// The launcher of torch writes FOLDER/attempt_K/N/stdout.log for local rank N. The run is what of FOLDER is below the input
// (`inner`).
bool launcherPlace(const std::vector<std::string>& folders, const std::vector<std::string>& inner,
                   Candidate& file)
{
    if (folders.size() < 2 || !folders[folders.size() - 2].starts_with("attempt_"))
        return false;
    const std::optional<std::int64_t> number = parseInteger(folders.back());
    if (!number || *number < 0 || *number >= 1 << 20)
        return false;
    file.origin.rank = int(*number);
    file.origin.run.clear();
    for (std::size_t i = 0; i + 2 < inner.size(); ++i)
        file.origin.run += (i > 0 ? "/" : "") + inner[i];
    file.begin = double(parseInteger(folders[folders.size() - 2].substr(8)).value_or(0));
    return true;
}

// `root`: what was named; `file`: it, or a file below it.
Candidate candidateOf(const fs::path& root, const fs::path& file, bool rootIsFile)
{
    Candidate made;
    made.path = file.string();
    made.origin.file = made.path;
    const fs::path below = rootIsFile ? fs::path() : file.lexically_relative(root).parent_path();
    std::vector<std::string> folders =
        partsOf(rootIsFile ? root.lexically_normal().parent_path() : root.lexically_normal());
    std::erase_if(folders, [](const std::string& part) { return part.empty() || part == "."; });
    const std::vector<std::string> inner = partsOf(below);
    folders.insert(folders.end(), inner.begin(), inner.end());
    made.origin.rank = rankOfFolders(folders);
    Result<InputFile> opened = InputFile::open(made.path);
    if (!opened)
        return made;
    made.format = formatOf(*opened, rootIsFile);
    made.origin.run = below.generic_string();
    if (made.format == Format::Text && !launcherPlace(folders, inner, made) && !rootIsFile)
        made.origin.run = (below / file.stem()).generic_string();
    if (made.format == Format::TfEvents || made.format == Format::Wandb)
        if (Result<InputFile> again = InputFile::open(made.path))
            made.begin = made.format == Format::TfEvents ? tfEventsBegin(*again) : wandbBegin(*again);
    // Runs of W&B are told by their ids: the folder must not part two files of one.
    if (made.format == Format::Wandb)
        made.origin.run.clear();
    return made;
}

void readOne(const Candidate& candidate, Collector& out)
{
    const Origin& origin = candidate.origin;
    if (candidate.format == Format::Trackio)
        return readTrackio(candidate.path, origin, out);
    Result<InputFile> file = InputFile::open(candidate.path);
    if (!file)
        return out.problem(origin.file, std::nullopt, file.error().sentence());
    switch (candidate.format) {
    case Format::TfEvents:
        readTfEvents(*file, origin, out);
        break;
    case Format::Wandb:
        readWandb(*file, origin, out);
        break;
    case Format::HfState:
        readHfState(*file, origin, out);
        break;
    case Format::LightningCsv:
        readLightningCsv(*file, origin, out);
        break;
    case Format::Text:
        readTextLog(*file, origin, out);
        break;
    case Format::Trackio:
    case Format::None:
        break;
    }
    if (!file->status().ok())
        out.problem(origin.file, file->offset(), file->status().error().sentence());
}

Error nothingFound(const std::string& path, bool folder)
{
    return {ErrorKind::Input, fmt::format("Nothing in {} can be imported", path),
            fmt::format("{} log of TensorBoard, W&B, Trackio, the Hugging Face Trainer, Lightning, "
                        "Megatron-LM or torchtitan",
                        folder ? "no file below it is a" : "it is no"),
            "Name a log file, or the folder that holds it"};
}

// Everything below `root`, links to folders not followed. With more files than `most`: an error, or the first of them.
Result<std::vector<fs::path>> filesBelow(const fs::path& root, std::size_t most, bool some)
{
    std::vector<fs::path> files;
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (auto at = fs::recursive_directory_iterator(root, options, error);
         !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        std::error_code ignored;
        if (at->is_regular_file(ignored))
            files.push_back(at->path());
        if (files.size() == most && some)
            return files;
        if (files.size() > most)
            return Error{ErrorKind::Input, "Cannot import " + root.string(),
                         fmt::format("there are more than {} files below it", most), "Name a smaller folder"};
    }
    if (error)
        return Error{ErrorKind::Io, "Cannot read the folder " + root.string(), error.message(),
                     "Check the path and its permissions"};
    return files;
}

bool isLog(const fs::path& path)
{
    Result<InputFile> file = InputFile::open(path.string());
    return file && formatOf(*file, false) != Format::None;
}

} // namespace

bool holdsLogs(const std::string& path)
{
    std::error_code error;
    if (!fs::is_directory(path, error))
        return isLog(path);
    const Result<std::vector<fs::path>> files = filesBelow(path, kMostLookedAt, true);
    return files && std::any_of(files->begin(), files->end(), isLog);
}

Result<LogData> readLogs(const std::string& path)
{
    std::error_code error;
    const fs::path root(path);
    const bool folder = fs::is_directory(root, error);
    std::vector<Candidate> candidates;
    if (folder) {
        Result<std::vector<fs::path>> files = filesBelow(root, kMostFiles, false);
        if (!files)
            return files.error();
        for (const fs::path& file : *files)
            candidates.push_back(candidateOf(root, file, false));
    } else {
        if (Result<InputFile> file = InputFile::open(path); !file)
            return file.error();
        candidates.push_back(candidateOf(root, root, true));
    }
    std::erase_if(candidates, [](const Candidate& one) { return one.format == Format::None; });
    std::sort(candidates.begin(), candidates.end());
    Collector collector;
    for (const Candidate& candidate : candidates)
        readOne(candidate, collector);
    if (collector.runs() == 0 && !collector.hasProblems())
        return nothingFound(path, folder);
    LogData data = collector.take();
    std::vector<const LogSeries*> all;
    for (const LogSeries& series : data.series)
        all.push_back(&series);
    data.hiddenNanSteps = hiddenNanSteps(all);
    return data;
}

} // namespace lockstep
