#include "core/engine/host_facts.h"

#include "core/config/json.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <cstdlib>

#include <unistd.h>

namespace lockstep {

namespace {

// They decide which kernels ATen, MKL and oneDNN take, or how many threads: the same program gives other last
// bits.
constexpr const char* kVariables[] = {"ATEN_CPU_CAPABILITY",    "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR",
                                      "ONEDNN_MAX_CPU_ISA",     "OMP_NUM_THREADS",         "MKL_NUM_THREADS",
                                      "CUBLAS_WORKSPACE_CONFIG"};

} // namespace

std::string hostName()
{
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string environmentJson(std::int64_t datasetSize)
{
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("torch"), json.String(TORCH_VERSION);
    json.Key("cpu_capability"), json.String(at::get_cpu_capability());
    json.Key("threads"), json.Int(at::get_num_threads());
    json.Key("deterministic"), json.Bool(at::globalContext().deterministicAlgorithms());
    json.Key("tf32_matmul"), json.Bool(at::globalContext().allowTF32CuBLAS());
    json.Key("tf32_cudnn"), json.Bool(at::globalContext().allowTF32CuDNN());
    if (datasetSize >= 0) {
        json.Key("dataset_size");
        json.Int64(datasetSize);
    }
    json.Key("host"), json.String(hostName());
    json.Key("cores"), json.Int64(::sysconf(_SC_NPROCESSORS_ONLN));
    json.Key("program"), json.String("lockstep-worker");
    for (const char* name : kVariables) {
        if (const char* value = std::getenv(name)) {
            json.Key(name);
            json.String(value);
        }
    }
    json.EndObject();
    return buffer.GetString();
}

} // namespace lockstep
