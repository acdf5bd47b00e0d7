// ckpt diff FILE --run DIR RUN: a checkpoint against what a run recorded of its model.
#include "app/cli/ckpt_commands.h"
#include "app/cli/table.h"
#include "core/ckpt/open.h"
#include "core/ckpt/report_json.h"
#include "core/ckpt/walk.h"
#include "core/store/project_store.h"
#include "core/store/run_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

namespace {

// What a run recorded of its parameters as a whole, step by step, of one rank.
Result<SeriesData> parameterSeries(RunReader& reader, int rank, const std::string& run)
{
    Result<SeriesData> series = reader.read({rank, Quantity::ParamFingerprint, 0});
    if (series && series->size() == 0)
        return Error{ErrorKind::NotFound,
                     fmt::format("The run {} holds no record of the parameters of rank {}", run, rank),
                     "it was recorded with --record off, or has not begun",
                     "Choose another run or rank, or record the run anew"};
    return series;
}

// The step asked for; without one the last step whose parameters are those of the checkpoint, else the last step.
std::int64_t chooseStep(const SeriesData& series, const RunDiffRequest& request,
                        std::optional<std::uint64_t> fingerprint)
{
    if (request.step >= 0)
        return request.step;
    for (std::size_t i = series.size(); i-- > 0 && fingerprint;)
        if (series.bits[i] == *fingerprint)
            return series.steps[i];
    return series.steps.back();
}

Result<RunDiff> compare(const Checkpoint& checkpoint, const RunDiffRequest& request)
{
    Result<ProjectStore> project = ProjectStore::open(request.folder);
    if (!project)
        return project.error();
    const Result<RunInfo> info = project->run(request.run);
    if (!info)
        return info.error();
    Result<RunReader> reader = RunReader::open(info->folder);
    if (!reader)
        return reader.error();
    const Result<SeriesData> series = parameterSeries(*reader, request.rank, info->id);
    if (!series)
        return series.error();
    const std::optional<std::uint64_t> fingerprint = parameterFingerprint(checkpoint);
    const std::int64_t step = chooseStep(*series, request, fingerprint);
    const Result<std::vector<TensorRecord>> records = reader->tensors(request.rank, step, step + 1);
    if (!records)
        return records.error();
    const auto place = std::lower_bound(series->steps.begin(), series->steps.end(), step);
    const bool known = place != series->steps.end() && *place == step;
    if (records->empty() && !known)
        return Error{ErrorKind::NotFound,
                     fmt::format("The run {} holds no record of its parameters at step {}", info->id, step),
                     fmt::format("its steps go from {} to {}", series->steps.front(), series->steps.back()),
                     "Choose another --step"};
    RunDiff diff = diffAgainstRecords(checkpoint, *records);
    diff.run = info->id;
    diff.rank = request.rank;
    diff.step = step;
    if (known && fingerprint)
        diff.parametersEqual =
            series->bits[static_cast<std::size_t>(place - series->steps.begin())] == *fingerprint;
    return diff;
}

void print(const RunDiff& diff, bool all)
{
    printMapping(diff.mapping, "the run");
    Table table({{"key"}, {"status"}, {"norm", Align::Right}, {"recorded", Align::Right}});
    std::size_t equal = 0, shown = 0;
    for (const RecordedKeyDiff& key : diff.keys) {
        equal += key.status == DiffStatus::Equal;
        if (key.status == DiffStatus::Equal && !all)
            continue;
        ++shown;
        table.row({printable(key.key ? *key.key : *key.recorded), std::string(diffStatusName(key.status)),
                   key.key && key.problem.empty() ? fmt::format("{:.9g}", key.norm) : "-",
                   key.recorded ? fmt::format("{:.9g}", key.recordedNorm) : "-"});
    }
    if (shown > 0)
        fmt::print("{}", table.text());
    const std::string where = fmt::format("run {}, rank {}, step {}", diff.run, diff.rank, diff.step);
    if (!diff.keys.empty())
        fmt::print("{} of {} keys are equal to those of {}.\n", equal, diff.keys.size(), where);
    else
        fmt::print("The parameters {} those of {}. Single ones are compared for runs recorded with --record "
                   "tensor.\n",
                   diff.equal() ? "are" : "are not", where);
}

} // namespace

int diffWithRun(const RunDiffRequest& request, bool json)
{
    const Result<Checkpoint> checkpoint = openCheckpoint(request.file);
    if (!checkpoint)
        return fail(checkpoint.error());
    if (const int code = failIfUnreadable(*checkpoint))
        return code;
    const Result<RunDiff> diff = compare(*checkpoint, request);
    if (!diff)
        return fail(diff.error());
    if (json)
        fmt::print("{}\n", runDiffJson(*diff));
    else
        print(*diff, request.all);
    return diff->equal() ? 0 : 1;
}

} // namespace lockstep
