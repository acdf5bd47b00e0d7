#include "ui/support/project_fixture.h"

#include "core/config/run_config.h"
#include "core/config/run_extras.h"
#include "core/config/script_words.h"

#include <QDateTime>

#include <cmath>
#include <cstdlib>

namespace lockstep::test {

namespace {

// A fixture that cannot be made is a broken test environment, not a result.
template<typename T>
T must(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "fixture: %s\n", result.error().sentence().c_str());
        std::abort();
    }
    return std::move(result).value();
}
void must(const Status& status)
{
    if (!status) {
        std::fprintf(stderr, "fixture: %s\n", status.error().sentence().c_str());
        std::abort();
    }
}

} // namespace

double plainLoss(int rank, std::int64_t step)
{
    return 2.3 * std::exp(-double(step) / 20) + 0.01 * rank;
}

RecordedRun::RecordedRun(ProjectStore& store, RunInfo info, RunWriter writer, int ranks)
    : store_(store), info_(std::move(info)), writer_(std::move(writer)), ranks_(ranks)
{
}

void RecordedRun::record(std::int64_t first, std::int64_t last,
                         const std::function<double(int, std::int64_t)>& loss)
{
    for (std::int64_t step = first; step <= last; ++step) {
        for (int rank = 0; rank < ranks_; ++rank) {
            StepRecord record;
            record.rank = rank;
            record.step = step;
            record.values = {{Quantity::Loss, 0, bitsOf(loss(rank, step))},
                             {Quantity::GradNorm, 0, bitsOf(1 + loss(0, step))},
                             {Quantity::SampleIds, 0, std::uint64_t(step) * 7919}};
            must(writer_->append(record));
        }
    }
    must(writer_->commit());
    info_.lastStep = last;
    info_.lastLoss = loss(0, last);
    must(store_.updateRun(info_));
}

void RecordedRun::finish(RunState state)
{
    must(writer_->finish());
    writer_.reset();
    info_.state = state;
    info_.endedUnixMs = info_.startedUnixMs + 2500;
    if (state == RunState::Finished)
        info_.exitCodes.assign(std::size_t(ranks_), 0);
    must(store_.updateRun(info_));
}

ProjectFixture::ProjectFixture(const std::string& workload)
{
    store_.emplace(must(ProjectStore::create(folder().toStdString(), workload)));
}

std::unique_ptr<RecordedRun> ProjectFixture::start(const std::string& mode, int world,
                                                   const std::function<void(RunConfig&)>& change,
                                                   const std::function<void(RunInfo&)>& changeInfo)
{
    RunConfig config;
    config.mode = mode;
    config.world = mode == "single" ? 1 : world;
    config.alignWorld = mode == "single" ? world : 1;
    config.steps = 40;
    if (change)
        change(config);
    RunInfo info;
    info.name = config.name.empty() ? mode + "-w" + std::to_string(world) : config.name;
    info.configJson = toJson(config);
    info.environmentJson = "{}";
    info.startedUnixMs = QDateTime::currentMSecsSinceEpoch();
    if (changeInfo)
        changeInfo(info);
    info = must(store_->addRun(info));
    return std::make_unique<RecordedRun>(*store_, info, must(RunWriter::create(info.folder)), config.world);
}

QString ProjectFixture::script(const std::vector<std::string>& words, int world)
{
    const auto named = [&](RunConfig& config) {
        config.name = scriptName(words);
        config.workload = config.name;
        config.workloadOptions["script"] = config.name + ".py";
    };
    const auto started = [&](RunInfo& info) {
        ScriptCommand command;
        command.words = words;
        command.program = "/opt/venv/bin/" + words.front();
        command.folder = "/data/work";
        command.world = world;
        command.ddp = world > 1;
        info.configJson = withScriptCommand(info.configJson, command);
    };
    const auto run = start(world > 1 ? "ddp" : "single", world, named, started);
    run->record(1, 40, plainLoss);
    run->finish();
    return run->id();
}

QString ProjectFixture::finished(const std::string& mode, int world, double offset, std::int64_t from,
                                 const std::function<void(RunConfig&)>& change)
{
    const auto run = start(mode, world, change);
    run->record(1, 40, [=](int rank, std::int64_t step) {
        return plainLoss(mode == "single" ? 0 : rank, step) + (step >= from ? offset : 0);
    });
    run->finish();
    return run->id();
}

} // namespace lockstep::test
