#include "core/gates/environment_checks.h"

#include "core/config/json.h"
#include "core/gates/gate_check.h"
#include "core/gates/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <ifaddrs.h>
#include <net/if.h>

namespace lockstep {

namespace {

// Both runs must have the same value; they decide which kernels run, or how sums are split.
constexpr std::array<std::pair<const char*, const char*>, 8> kSame = {{
    {"torch", "preflight.torch"},
    {"cpu_capability", "preflight.cpu_capability"},
    {"threads", "preflight.threads"},
    {"ATEN_CPU_CAPABILITY", "preflight.ATEN_CPU_CAPABILITY"},
    {"MKL_ENABLE_INSTRUCTIONS", "preflight.MKL_ENABLE_INSTRUCTIONS"},
    {"MKL_CBWR", "preflight.MKL_CBWR"},
    {"ONEDNN_MAX_CPU_ISA", "preflight.ONEDNN_MAX_CPU_ISA"},
    {"dataset_size", "preflight.dataset_size"},
}};

// `fix` is of use where the check fails only.
GateCheck& add(std::vector<GateCheck>& checks, const std::string& id, bool holds, std::string value,
               std::string limit, std::string sentence, std::string fix = {})
{
    GateCheck& check = addCheck(checks, id, holds, std::move(value), std::move(limit), std::move(sentence));
    if (!holds)
        check.fix = std::move(fix);
    return check;
}

void compareEnvironments(std::vector<GateCheck>& checks, const EnvironmentReport& single,
                         const EnvironmentReport& ddp)
{
    for (const auto& [key, id] : kSame) {
        const std::string a = single.value(key), b = ddp.value(key);
        const bool mustBeKnown = std::string_view(key) == "torch" || std::string_view(key) == "threads";
        if (a.empty() && b.empty() && !mustBeKnown)
            continue;
        if (a.empty() && b.empty()) {
            GateCheck& unknown = addUnjudged(checks, id, fmt::format("The ranks did not report {}.", key));
            unknown.value = "not reported";
            unknown.fix = "Run once with --record step, or check that lockstep-worker starts";
            continue;
        }
        add(checks, id, a == b, b.empty() ? "not set" : b, a.empty() ? "not set" : a,
            a == b ? "The same for the single process and for every rank."
                   : fmt::format("{} is {} in the single run and {} in DDP.", key, a.empty() ? "not set" : a,
                                 b.empty() ? "not set" : b),
            fmt::format("Start both runs with the same {}", key));
    }
}

// A switch of torch that should be set alike in both runs. On the CPU it matters little: then `onCpu` is said and nothing fails.
struct Flag {
    const char* key;
    const char* id;
    const char* wanted;
    const char* cause;
    const char* holds;
    const char* fails;
    const char* onCpu;
    const char* fix;
};
constexpr const char* kNoTf32 = "TF32 is of GPUs only; these runs use the CPU.";
constexpr std::array kFlags = {
    Flag{"deterministic", "preflight.deterministic", "true", "E4", "Deterministic algorithms are on.",
         "Two identical runs may differ: deterministic algorithms are off.",
         "Deterministic algorithms are off. Of what runs on the CPU hardly anything needs them; if two "
         "identical runs differ, call torch.use_deterministic_algorithms(True).",
         "Switch on deterministic algorithms in both runs"},
    Flag{"tf32_matmul", "preflight.tf32_matmul", "false", "E1", "TF32 is off for matrix products.",
         "TF32 rounds the inputs of matrix products to 10 bits: differences of 1e-4 to 1e-3 that are no "
         "fault.",
         kNoTf32, "Set torch.backends.cuda.matmul.allow_tf32 = False in both runs"},
    Flag{"tf32_cudnn", "preflight.tf32_cudnn", "false", "E1", "TF32 is off for convolutions.",
         "TF32 rounds the inputs of convolutions to 10 bits: differences of 1e-4 to 1e-3 that are no fault.",
         kNoTf32, "Set torch.backends.cudnn.allow_tf32 = False in both runs"}};

void judgeFlags(std::vector<GateCheck>& checks, const EnvironmentReport& single, const EnvironmentReport& ddp,
                bool cuda)
{
    for (const Flag& flag : kFlags) {
        const std::string a = single.value(flag.key), b = ddp.value(flag.key);
        if (a.empty() && b.empty())
            continue;
        const bool set = a == flag.wanted && b == flag.wanted;
        add(checks, flag.id, set || !cuda, a == b ? a : fmt::format("single {}, ddp {}", a, b), flag.wanted,
            set    ? flag.holds
            : cuda ? flag.fails
                   : flag.onCpu,
            flag.fix);
        if (!set)
            checks.back().cause = flag.cause;
    }
}

void judgeMachine(std::vector<GateCheck>& checks, const MachineFacts& machine, const EnvironmentNeed& need,
                  bool cuda)
{
    const bool gpus = !machine.devices.empty();
    add(checks, "preflight.devices", !cuda || gpus,
        gpus ? fmt::format("cpu, {}", fmt::join(machine.devices, ", ")) : std::string("cpu"), need.device,
        cuda && !gpus            ? "DDP asks for a GPU, this machine shows none."
        : machine.driver.empty() ? "No GPU driver is loaded; none is asked for."
                                 : machine.driver,
        "Use --device cpu --backend gloo, or a machine with a GPU");
    const bool backend = need.backend == "gloo" || (cuda && gpus);
    add(checks, "preflight.backend", backend, need.backend, gpus ? "gloo, nccl" : "gloo",
        backend ? "The backend can be used on this machine." : "NCCL needs a GPU.", "Use --backend gloo");
    add(checks, "preflight.interfaces", machine.loopback,
        !machine.loopback            ? std::string("no loopback")
        : machine.interfaces.empty() ? std::string("loopback")
                                     : fmt::format("loopback, {}", fmt::join(machine.interfaces, ", ")),
        "loopback",
        machine.loopback ? "The ranks of this machine reach each other."
                         : "The ranks meet at 127.0.0.1, which is down.",
        "Bring the loopback interface up");
    const std::int64_t threads = std::int64_t(need.ranks) * need.threads;
    add(checks, "preflight.cores", true, counted(threads, "thread", "threads"),
        counted(machine.cores, "core", "cores"),
        threads <= machine.cores ? "Every rank has a core of its own."
                                 : "The ranks share cores: slower, with the same results.");
}

} // namespace

Result<EnvironmentReport> EnvironmentReport::fromJson(const std::string& text)
{
    auto json = parseJson(text, "The environment report");
    if (!json)
        return json.error();
    if (!json->IsObject())
        return Error{ErrorKind::Input, "The environment report cannot be read", "it is not a JSON object",
                     "Record the run again"};
    EnvironmentReport report;
    for (const auto& member : json->GetObject()) {
        std::string value;
        if (member.value.IsString())
            value = member.value.GetString();
        else if (member.value.IsBool())
            value = member.value.GetBool() ? "true" : "false";
        else if (member.value.IsInt64())
            value = std::to_string(member.value.GetInt64());
        else if (member.value.IsNumber())
            value = fmt::format("{}", member.value.GetDouble());
        else
            continue;
        report.keys_.emplace_back(member.name.GetString(), std::move(value));
    }
    return report;
}

std::string EnvironmentReport::value(const std::string& key) const
{
    const auto it = std::find_if(keys_.begin(), keys_.end(), [&](const auto& k) { return k.first == key; });
    return it == keys_.end() ? std::string() : it->second;
}

std::optional<std::int64_t> EnvironmentReport::number(const std::string& key) const
{
    const std::string text = value(key);
    char* end = nullptr;
    const long long n = std::strtoll(text.c_str(), &end, 10);
    return text.empty() || *end != '\0' ? std::nullopt : std::optional<std::int64_t>(n);
}

MachineFacts readMachine()
{
    MachineFacts facts;
    facts.cores = int(std::thread::hardware_concurrency());
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) == 0) {
        for (const ifaddrs* i = list; i; i = i->ifa_next) {
            if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP))
                continue;
            if (i->ifa_flags & IFF_LOOPBACK)
                facts.loopback = true;
            else if (std::find(facts.interfaces.begin(), facts.interfaces.end(), i->ifa_name) ==
                     facts.interfaces.end())
                facts.interfaces.emplace_back(i->ifa_name);
        }
        freeifaddrs(list);
    }
    std::error_code error;
    for (int i = 0; i < 64; ++i)
        if (const std::string device = fmt::format("/dev/nvidia{}", i);
            std::filesystem::exists(device, error))
            facts.devices.push_back(device);
    std::ifstream version("/proc/driver/nvidia/version");
    std::getline(version, facts.driver);
    return facts;
}

std::vector<GateCheck> environmentChecks(const EnvironmentReport& single, const EnvironmentReport& ddp,
                                         const MachineFacts& machine, const EnvironmentNeed& need)
{
    const bool cuda = need.device == "cuda" || need.backend == "nccl";
    std::vector<GateCheck> checks;
    compareEnvironments(checks, single, ddp);
    judgeFlags(checks, single, ddp, cuda);
    judgeMachine(checks, machine, need, cuda);
    return checks;
}

} // namespace lockstep
