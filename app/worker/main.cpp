// lockstep-worker: one rank of a training. Started by lockstep-cli, torchrun --no-python, srun, or by hand.
#include "core/config/json.h"
#include "core/engine/catalogue.h"
#include "core/engine/worker.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include <unistd.h>

namespace {

using namespace lockstep;

constexpr int kExitUsage = 2;
constexpr int kExitUnusable = 3;

int refuse(const Error& error)
{
    std::fprintf(stderr, "lockstep-worker: %s\n", error.sentence().c_str());
    return kExitUnusable;
}

Result<RunConfig> readConfig(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf()))
        return Error{ErrorKind::Input, "The configuration " + path + " cannot be read",
                     "there is no such file or no right to read it", "Pass the file that lockstep-cli wrote"};
    return runConfigFromJson(text.str());
}

int checkOnce(const std::string& path)
{
    const Result<RunConfig> config = readConfig(path);
    const Status possible = config ? checkRun(*config) : Status(config.error());
    if (possible)
        return 0;
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("what"), json.String(possible.error().what);
    json.Key("why"), json.String(possible.error().why);
    json.Key("fix"), json.String(possible.error().fix);
    json.EndObject();
    std::puts(buffer.GetString());
    return kExitUnusable;
}

void writeList(JsonWriter& json, const char* key, const std::vector<std::string>& items)
{
    json.Key(key);
    json.StartArray();
    for (const std::string& item : items)
        json.String(item);
    json.EndArray();
}

void writeFault(JsonWriter& json, const FaultInfo& info)
{
    std::vector<std::string> needs;
    for (const FaultNeed need : info.needs)
        needs.push_back(faultNeedText(need));
    json.StartObject();
    json.Key("id"), json.String(info.id);
    json.Key("family"), json.String(faultFamily(info.id));
    json.Key("title"), json.String(info.title);
    json.Key("sentence"), json.String(info.sentence);
    json.Key("signs"), json.String(info.signs);
    json.Key("sources"), json.String(info.sources);
    writeList(json, "parameters", info.parameters);
    writeList(json, "needs", needs);
    json.EndObject();
}

// What this engine can do, as JSON.
void printCatalogue()
{
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("workloads");
    json.StartArray();
    for (const WorkloadInfo& info : knownWorkloads()) {
        json.StartObject();
        json.Key("name"), json.String(info.name);
        json.Key("sentence"), json.String(info.sentence);
        json.Key("default_epochs"), json.Int64(info.defaultEpochs);
        writeList(json, "options", info.options);
        json.EndObject();
    }
    json.EndArray();
    json.Key("faults");
    json.StartArray();
    for (const FaultInfo& info : knownFaults())
        writeFault(json, info);
    json.EndArray();
    json.Key("left_out");
    json.StartArray();
    for (const LeftOutFault& info : leftOutFaults()) {
        json.StartObject();
        json.Key("id"), json.String(info.id);
        json.Key("family"), json.String(faultFamily(info.id));
        json.Key("title"), json.String(info.title);
        json.Key("reason"), json.String(info.reason);
        json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    std::puts(buffer.GetString());
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Trains one rank and streams what it did. The place in the world comes from the torchrun "
                 "environment: "
                 "RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.");
    std::vector<std::string> configs;
    std::vector<std::string> streams;
    std::vector<std::string> folders;
    std::vector<std::string> times;
    bool catalogue = false;
    bool environmentOnly = false;
    bool checkOnly = false;
    app.add_option("--config", configs, "Run configuration (JSON); several are trained one after the other");
    app.add_option("--stream", streams, "Write the records to this file; one per configuration");
    app.add_option("--run-folder", folders,
                   "Folder for checkpoints, instead of LOCKSTEP_RUN_DIR; one per configuration");
    app.add_flag("--environment", environmentOnly,
                 "Print versions, determinism flags and the size of the dataset as JSON, then end");
    app.add_flag("--check", checkOnly,
                 "Say as JSON why the run of --config would be refused, without training; 3 if it would");
    app.add_option("--times", times,
                   "Write the clock after every step to this file (int64 ns); one per configuration");
    app.add_flag("--catalogue", catalogue, "Print the workloads and faults this engine knows, as JSON");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kExitUsage;
    }
    if (catalogue) {
        printCatalogue();
        return 0;
    }
    if (environmentOnly) {
        Result<RunConfig> config = configs.empty() ? RunConfig() : readConfig(configs.front());
        if (!config)
            return refuse(config.error());
        std::puts(environmentReport(*config).c_str());
        return 0;
    }
    if (checkOnly && !configs.empty())
        return checkOnce(configs.front());
    if (configs.empty())
        return refuse({ErrorKind::Usage, "There is nothing to train", "--config was not given",
                       "Pass --config FILE, or use lockstep-cli run"}),
               kExitUsage;

    const Result<RankEnvironment> environment = readRankEnvironment();
    if (!environment)
        return refuse(environment.error());
    std::vector<WorkerJob> jobs;
    for (std::size_t i = 0; i < configs.size(); ++i) {
        Result<RunConfig> config = readConfig(configs[i]);
        if (!config)
            return refuse(config.error());
        jobs.push_back({std::move(*config), i < streams.size() ? streams[i] : "",
                        i < folders.size() ? folders[i] : environment->runFolder,
                        i < times.size() ? times[i] : ""});
    }
    const int code = runWorker(jobs, *environment);
    // Everything is flushed; the destructors of torch's globals would only cost time.
    std::fflush(nullptr);
    ::_exit(code);
}
