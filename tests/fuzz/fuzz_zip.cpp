// Any bytes as a file; seeds are torch zips.
#include "tests/fuzz/fuzz_common.h"

using namespace lockstep;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Checkpoint c = openCheckpointBytes(fuzzBytes(data, size), "x.pt");
    lookThrough(c);
    return 0;
}
