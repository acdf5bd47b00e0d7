#include "core/engine/worker.h"

#include "core/engine/catalogue.h"
#include "core/engine/cuda_module.h"
#include "core/engine/error_file.h"
#include "core/engine/host_facts.h"
#include "core/engine/stop_signal.h"
#include "core/engine/trainer.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <thread>

#include <malloc.h>
#include <unistd.h>

namespace lockstep {

namespace {

constexpr int kExitFinished = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUnusable = 3;
constexpr int kExitStopped = 143;
// torchrun takes the earliest whole second for the root cause: an echo must not come in the same one.
constexpr auto kEchoDelay = std::chrono::milliseconds(2000);
// The store in which this rank left its reason ends with it: the peers get the time to read it.
constexpr auto kHostDelay = std::chrono::milliseconds(250);

// Activations of a few hundred KB would otherwise be mapped, faulted in and unmapped again in every step.
void keepFreedMemory()
{
    ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
    ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

void makeDeterministic(const RunConfig& config)
{
    at::set_num_threads(config.threads);
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(true, false);
    context.setDeterministicFillUninitializedMemory(false); // fills every at::empty with NaN otherwise
    context.setDeterministicCuDNN(true);
    context.setBenchmarkCuDNN(false);
    context.setAllowTF32CuBLAS(false);
    context.setAllowTF32CuDNN(false);
}

Error notYet(const std::string& option, const std::string& fix)
{
    return {ErrorKind::Usage, option + " is not possible", "this version of the engine cannot do it", fix};
}

Status checkSupported(const RunConfig& c, const RankEnvironment& e)
{
    if (c.mode == "fsdp")
        return notYet("--mode fsdp", "Use --mode ddp");
    if (c.mode == "ddp" && c.world != e.world)
        return Error{ErrorKind::Environment, "The worker cannot start",
                     "the configuration asks for " + std::to_string(c.world) + " ranks and WORLD_SIZE is " +
                         std::to_string(e.world),
                     "Start as many ranks as the configuration names"};
    if (c.mode == "ddp" && e.masterPort == 0)
        return Error{ErrorKind::Environment, "The worker cannot find its peers", "MASTER_PORT is not set",
                     "Start it with lockstep-cli run or torchrun"};
    if (c.device == "cuda")
        return requireCuda();
    return {};
}

// Before the first step a run can still turn out to be impossible: a checkpoint of another model, nothing left to train.
int exitCodeOf(const Error& error)
{
    return error.kind == ErrorKind::Usage || error.kind == ErrorKind::Input ||
                   error.kind == ErrorKind::Corrupt
               ? kExitUnusable
               : kExitFailed;
}

// A run that names neither steps nor epochs takes the workload's own number of epochs.
RunConfig withDefaults(RunConfig config)
{
    if (config.steps == 0 && config.epochs == 0)
        for (const WorkloadInfo& info : knownWorkloads())
            if (info.name == config.workload)
                config.epochs = info.defaultEpochs;
    return config;
}

struct RunParts {
    std::unique_ptr<Workload> workload;
    FaultSet faults;
};

Result<RunParts> createParts(const RunConfig& config)
{
    RunParts parts;
    Result<std::unique_ptr<Workload>> workload = createWorkload(config);
    if (!workload)
        return workload.error();
    parts.workload = std::move(*workload);
    if (const Status shows = checkFaultNeeds(config, *parts.workload); !shows)
        return shows.error();
    Result<FaultSet> faults = FaultSet::create(config.faults);
    if (!faults)
        return faults.error();
    parts.faults = std::move(*faults);
    return parts;
}

void writeTimes(const std::string& path, const std::vector<std::int64_t>& times)
{
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(times.data()), std::streamsize(times.size() * sizeof times[0]));
    if (!file.flush())
        throw Failure{{ErrorKind::Io, "The times could not be written to " + path,
                       "the file cannot be written", "Choose another file for --times"}};
}

// One rank's work on all its jobs; keeps what the failure path needs.
class Worker
{
public:
    explicit Worker(const RankEnvironment& environment) : environment_(environment) {}

    int run(const WorkerJob& job);

private:
    Status prepare(const WorkerJob& job);
    Result<StreamSink> openSink(const WorkerJob& job) const;
    int train(const WorkerJob& job);
    int fail(const Error& error, const std::string& runFolder, int code);
    void say(const std::string& sentence) const;
    void sayGoodbye(int code, const std::string& kind, bool secondary, const std::string& sentence);

    RankEnvironment environment_;
    std::unique_ptr<Communicator> communicator_; // shared by the jobs
    std::unique_ptr<Recorder> recorder_;         // of the current job
    std::unique_ptr<Workload> workload_;
    FaultSet faults_;
    std::optional<ResumePoint> resume_; // of the current job
    std::int64_t step_ = -1;
};

void Worker::say(const std::string& sentence) const
{
    std::fprintf(stderr, "lockstep-worker: rank %d: %s\n", environment_.rank, sentence.c_str());
}

void Worker::sayGoodbye(int code, const std::string& kind, bool secondary, const std::string& sentence)
{
    if (!recorder_)
        return;
    wire::Goodbye goodbye;
    goodbye.rank = environment_.rank;
    goodbye.step = step_;
    goodbye.exitCode = code;
    goodbye.secondary = secondary;
    goodbye.monotonicNs = monotonicNs();
    goodbye.kind = kind;
    goodbye.sentence = sentence;
    recorder_->finish(goodbye);
    recorder_.reset();
}

int Worker::fail(const Error& error, const std::string& runFolder, int code)
{
    const bool secondary = isPeerFailure(error.why);
    const std::string sentence =
        (secondary && communicator_ ? communicator_->explainLoss(error) : error).sentence();
    if (!secondary && communicator_)
        communicator_->leave(sentence);
    say(sentence);
    if (const Status written = writeErrorFile(environment_.errorFile, sentence); !written)
        say(written.error().sentence());
    if (communicator_ && !runFolder.empty())
        Communicator::dumpFlightRecorder(runFolder + "/flight_rank" + std::to_string(environment_.rank) +
                                         ".json");
    sayGoodbye(code, "error", secondary, sentence);
    if (secondary)
        std::this_thread::sleep_for(kEchoDelay);
    else if (communicator_ && environment_.rank == 0 && !environment_.agentStore)
        std::this_thread::sleep_for(kHostDelay);
    return code;
}

Result<StreamSink> Worker::openSink(const WorkerJob& job) const
{
    if (!environment_.connect.empty())
        return StreamSink::connectTo(environment_.connect);
    if (!job.streamFile.empty())
        return StreamSink::openFile(job.streamFile);
    return StreamSink();
}

Status Worker::prepare(const WorkerJob& job)
{
    const RunConfig& config = job.config;
    Result<StreamSink> sink = openSink(job);
    if (!sink)
        return sink.error();
    if (sink->connected() && config.record != "off") {
        wire::Hello hello;
        hello.rank = environment_.rank;
        hello.world = config.mode == "twin" ? config.world : environment_.world;
        hello.pid = ::getpid();
        hello.token = environment_.token;
        hello.host = hostName();
        hello.environmentJson = environmentReport(config);
        hello.configJson = toJson(config);
        recorder_ = std::make_unique<Recorder>(std::move(*sink), hello);
    }
    for (const Status& check : {validate(config), checkSupported(config, environment_)})
        if (!check)
            return check;
    Result<RunParts> parts = createParts(config);
    if (!parts)
        return parts.error();
    workload_ = std::move(parts->workload);
    faults_ = std::move(parts->faults);
    resume_.reset();
    if (config.resume.empty())
        return {};
    Result<ResumePoint> point = ResumePoint::open(withDefaults(config), workload_->size());
    if (!point)
        return point.error();
    resume_ = std::move(*point);
    step_ = resume_->step();
    return {};
}

int Worker::train(const WorkerJob& job)
{
    makeDeterministic(job.config);
    TrainingSetup setup;
    setup.config = resume_ ? resume_->config() : withDefaults(job.config);
    setup.resume = resume_ ? &*resume_ : nullptr;
    setup.workload = workload_.get();
    setup.faults = &faults_;
    setup.rank = environment_.rank;
    setup.runFolder = job.runFolder;
    setup.recorder = recorder_.get();
    if (job.config.mode == "ddp") {
        setup.world = environment_.world;
        setup.communicator = communicator_.get();
    } else if (job.config.mode == "twin") {
        setup.world = job.config.world;
    }
    std::vector<std::int64_t> stepEnds;
    if (!job.timesFile.empty())
        setup.stepEnds = &stepEnds;
    const TrainingEnd end = job.config.mode == "twin" ? trainTwin(setup) : trainRank(setup);
    step_ = end.step;
    if (!job.timesFile.empty())
        writeTimes(job.timesFile, stepEnds);
    const int code = end.stopped ? kExitStopped : kExitFinished;
    sayGoodbye(code, end.stopped ? "stopped" : "finished", false, "");
    return code;
}

int Worker::run(const WorkerJob& job)
{
    if (const Status ready = prepare(job); !ready)
        return fail(ready.error(), job.runFolder, kExitUnusable);
    if (job.config.mode == "ddp" && !communicator_) {
        Result<std::unique_ptr<Communicator>> connected = Communicator::connect(job.config, environment_);
        if (!connected)
            return fail(connected.error(), job.runFolder,
                        connected.error().kind == ErrorKind::Environment ? kExitUnusable : kExitFailed);
        communicator_ = std::move(*connected);
    }
    const std::string what = "Rank " + std::to_string(environment_.rank) + " failed in training";
    try {
        return train(job);
    } catch (const Failure& failure) {
        return fail(failure.error, job.runFolder, exitCodeOf(failure.error));
    } catch (const c10::Error& error) {
        return fail({ErrorKind::RunFailed, what, error.what_without_backtrace(), ""}, job.runFolder,
                    kExitFailed);
    } catch (const std::exception& error) {
        return fail({ErrorKind::RunFailed, what, error.what(), ""}, job.runFolder, kExitFailed);
    }
}

} // namespace

Status checkRun(const RunConfig& config)
{
    if (Status valid = validate(config); !valid)
        return valid;
    const Result<RunParts> parts = createParts(config);
    return parts ? Status() : Status(parts.error());
}

std::string environmentReport(const RunConfig& config)
{
    makeDeterministic(config);
    const Result<std::unique_ptr<Workload>> workload = createWorkload(config);
    return environmentJson(workload ? (*workload)->size() : -1);
}

int runWorker(const std::vector<WorkerJob>& jobs, const RankEnvironment& environment)
{
    installStopSignals();
    keepFreedMemory();
    Worker worker(environment);
    int code = kExitFinished;
    for (const WorkerJob& job : jobs) {
        code = worker.run(job);
        if (code != kExitFinished)
            break;
    }
    return code;
}

} // namespace lockstep
