#include "tests/fuzz/fuzz_common.h"

using namespace lockstep;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Checkpoint c = openCheckpointBytes(fuzzBytes(data, size), "x.safetensors");
    lookThrough(c);
    return 0;
}
