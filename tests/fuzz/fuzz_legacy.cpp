// Legacy files and tars: the first bytes decide, as in the program.
#include "tests/fuzz/fuzz_common.h"

using namespace lockstep;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Checkpoint c = openCheckpointBytes(fuzzBytes(data, size), "x.pth");
    lookThrough(c);
    return 0;
}
