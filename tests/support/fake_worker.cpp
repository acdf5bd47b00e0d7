// A rank without torch: speaks the worker's interface (configuration file, environment, stream, exit codes) and does on
// order what a real rank does only by accident. Orders stand in the configuration's workload_options:
//
// - fake.rank1 = "crash@5": what rank 1 does in step 5; fake.all is for every rank; several orders are joined by ';'
// - fake.step_us = "2000": pace of a step, default 0
//
// Orders: crash (SIGSEGV), kill (SIGKILL to itself), exit:N (without Goodbye), error (Goodbye, exit 1), unusable (Goodbye,
// exit 3), echo (secondary Goodbye, 2 s, exit 1), errorfile (only the error file, exit 1), hang (never goes on),
// ignoreterm (SIGTERM does nothing from here on), stop (as if it had got SIGTERM), wrong (a wrong loss), garbage (breaks
// the frame stream), back (a step that goes backwards), foreign (a record of another rank), silent (exit 0 without
// Goodbye), stranger (a wrong token), child (leaves a sleeping child process behind). Step 0 orders happen before the
// first step.
#include "core/config/run_config.h"
#include "core/wire/codec.h"
#include "tests/support/fake_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace lockstep;

namespace {

volatile std::sig_atomic_t stopWanted = 0;

int envNumber(const char* name, int fallback)
{
    const char* text = std::getenv(name);
    return text ? std::atoi(text) : fallback;
}

std::string envText(const char* name)
{
    const char* text = std::getenv(name);
    return text ? text : "";
}

std::int64_t nowNs()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

class Stream
{
public:
    explicit Stream(bool wanted)
    {
        if (!wanted)
            return;
        const std::string address = envText("LOCKSTEP_CONNECT");
        const std::size_t colon = address.find(':');
        if (colon == std::string::npos)
            return;
        fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in host{};
        host.sin_family = AF_INET;
        host.sin_port = htons(std::uint16_t(std::stoi(address.substr(colon + 1))));
        inet_pton(AF_INET, address.substr(0, colon).c_str(), &host.sin_addr);
        if (connect(fd_, reinterpret_cast<sockaddr*>(&host), sizeof host) != 0)
            std::exit(3);
        bytes(wire::streamHeader());
    }
    void bytes(const std::string& data) const
    {
        for (std::size_t sent = 0; fd_ >= 0 && sent < data.size();) {
            const ssize_t n = send(fd_, data.data() + sent, data.size() - sent, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                std::exit(1); // the host is gone
            sent += std::size_t(n);
        }
    }
    template<typename Record>
    void send(wire::FrameKind kind, const Record& record) const
    {
        std::string out;
        wire::appendFrame(out, kind, wire::encode(record));
        bytes(out);
    }

private:
    static ssize_t send(int fd, const void* data, std::size_t size, int flags)
    {
        return ::send(fd, data, size, flags);
    }
    int fd_ = -1;
};

struct FakeRank {
    RunConfig config;
    int rank = envNumber("RANK", 0);
    int world = envNumber("WORLD_SIZE", 1);
    Stream stream{config.record != "off"}; // a rank that records nothing does not report either

    void hello(const std::string& token) const
    {
        wire::Hello hello;
        hello.rank = rank;
        hello.world = world;
        hello.pid = getpid();
        hello.token = token;
        hello.environmentJson = R"({"torch":"none","engine":"fake"})";
        hello.configJson = toJson(config);
        stream.send(wire::FrameKind::Hello, hello);
    }

    // `error` is added to the loss.
    void step(std::int64_t number, double error = 0) const
    {
        wire::Heartbeat beat;
        beat.rank = rank;
        beat.step = number;
        beat.stage = wire::Stage::Forward;
        beat.monotonicNs = nowNs();
        stream.send(wire::FrameKind::Heartbeat, beat);
        StepRecord record;
        record.rank = rank;
        record.step = number;
        record.values = {{Quantity::ParamFingerprint, 0, std::uint64_t(number) * 7919u}};
        if (number > 0)
            record.values.push_back({Quantity::Loss, 0, bitsOf(fakeLoss(rank, number) + error)});
        stream.send(wire::FrameKind::Step, record);
    }

    [[noreturn]] void leave(std::int64_t step, int code, const char* kind, const std::string& sentence = {},
                            bool secondary = false) const
    {
        wire::Goodbye goodbye;
        goodbye.rank = rank;
        goodbye.step = step;
        goodbye.exitCode = code;
        goodbye.secondary = secondary;
        goodbye.monotonicNs = nowNs();
        goodbye.kind = kind;
        goodbye.sentence = sentence;
        stream.send(wire::FrameKind::Goodbye, goodbye);
        if (secondary)
            sleep(2);
        std::exit(code);
    }

    [[noreturn]] void stop(std::int64_t step) const
    {
        if (rank == 0) {
            const std::string folder = envText("LOCKSTEP_RUN_DIR") + "/checkpoints";
            mkdir(folder.c_str(), 0777);
            const std::string path = fmt::format("{}/step_{:08}.pt", folder, step);
            std::ofstream(path) << "fake";
            EventRecord saved;
            saved.rank = rank;
            saved.step = step;
            saved.kind = "checkpoint";
            saved.monotonicNs = nowNs();
            saved.detail = fmt::format(R"({{"path":"{}","bytes":4}})", path);
            stream.send(wire::FrameKind::Event, saved);
        }
        leave(step, 143, "stopped");
    }

    void obey(const std::string& order, std::int64_t step) const
    {
        std::fprintf(stderr, "rank %d obeys %s in step %lld\n", rank, order.c_str(), (long long)step);
        if (order == "crash") {
            std::signal(SIGSEGV, SIG_DFL); // a sanitizer would turn it into an exit code
            std::raise(SIGSEGV);
        } else if (order == "kill")
            std::raise(SIGKILL);
        else if (order.starts_with("exit:"))
            std::exit(std::stoi(order.substr(5)));
        else if (order == "error")
            leave(step, 1, "error",
                  fmt::format("Rank {} cannot go on. The test wants it. Change the test.", rank));
        else if (order == "unusable")
            leave(step, 3, "error",
                  "The fault Q9 is unknown. It is not in the catalogue. Choose another one.");
        else if (order == "echo")
            leave(step, 1, "error", "Connection closed by peer [127.0.0.1]:1234", true);
        else if (order == "errorfile")
            errorFile();
        else if (order == "hang")
            for (;;)
                pause();
        else if (order == "ignoreterm")
            std::signal(SIGTERM, SIG_IGN);
        else if (order == "stop")
            stop(step);
        else if (order == "garbage")
            stream.bytes(std::string(64, '\xff'));
        else if (order == "back")
            this->step(step > 2 ? step - 2 : 0);
        else if (order == "foreign") {
            StepRecord record;
            record.rank = rank + 1;
            record.step = step;
            stream.send(wire::FrameKind::Step, record);
        } else if (order == "silent")
            std::exit(0);
        else if (order == "child" && fork() == 0)
            for (;;)
                pause();
    }

    [[noreturn]] static void errorFile()
    {
        std::ofstream(envText("TORCHELASTIC_ERROR_FILE"))
            << R"({"message":{"message":"ValueError: the loader is empty","extraInfo":{"timestamp":"1"}}})";
        std::exit(1);
    }

    void obeyAll(std::int64_t step) const
    {
        forOrders(step, [&](const std::string& order) { obey(order, step); });
    }

    bool has(const std::string& wanted, std::int64_t step) const
    {
        bool found = false;
        forOrders(step, [&](const std::string& order) { found = found || order == wanted; });
        return found;
    }

    template<typename Visit>
    void forOrders(std::int64_t step, Visit&& visit) const
    {
        for (const std::string& key : {std::string("fake.all"), fmt::format("fake.rank{}", rank)}) {
            const auto orders = config.workloadOptions.find(key);
            if (orders == config.workloadOptions.end())
                continue;
            for (std::size_t begin = 0; begin < orders->second.size();) {
                const std::size_t end = std::min(orders->second.find(';', begin), orders->second.size());
                const std::string order = orders->second.substr(begin, end - begin);
                const std::size_t at = order.find('@');
                if (at != std::string::npos && std::stoll(order.substr(at + 1)) == step)
                    visit(order.substr(0, at));
                begin = end + 1;
            }
        }
    }

    [[noreturn]] void train() const
    {
        const auto pace = config.workloadOptions.find("fake.step_us");
        const unsigned stepUs = pace == config.workloadOptions.end() ? 0 : unsigned(std::stoul(pace->second));
        obeyAll(0);
        step(0);
        for (std::int64_t number = 1; number <= config.steps; ++number) {
            if (stepUs > 0)
                usleep(stepUs);
            obeyAll(number);
            step(number, has("wrong", number) ? 1 : 0);
            if (stopWanted)
                stop(number);
        }
        leave(config.steps, 0, "finished");
    }
};

} // namespace

int main(int argc, char** argv)
{
    if (argc == 4 && std::string(argv[1]) == "--check")
        return 0; // takes every run
    if (argc == 2 && std::string(argv[1]) == "--catalogue") {
        std::puts(R"({"workloads":[{"name":"toy-mlp"},{"name":"digits-cnn"}],"faults":[],"left_out":[]})");
        return 0;
    }
    if (argc != 3 || std::string(argv[1]) != "--config")
        return 3;
    struct sigaction action {
    };
    action.sa_handler = [](int) { stopWanted = 1; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &action, nullptr);
    std::ifstream file(argv[2]);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const Result<RunConfig> config = runConfigFromJson(text);
    if (!config) {
        std::fprintf(stderr, "%s\n", config.error().sentence().c_str());
        return 3;
    }
    std::fprintf(stderr, "fake rank\n");
    const FakeRank rank{config.value()};
    const auto orders = config->workloadOptions.find(fmt::format("fake.rank{}", rank.rank));
    const bool stranger =
        orders != config->workloadOptions.end() && orders->second.find("stranger") != std::string::npos;
    rank.hello(stranger ? "wrong" : envText("LOCKSTEP_TOKEN"));
    rank.train();
}
