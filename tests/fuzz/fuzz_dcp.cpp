// A DCP folder of two files in memory. Input: u16-LE length of .metadata, .metadata, then __0_0.distcp.
#include "core/ckpt/folder.h"
#include "core/ckpt/readers.h"
#include "tests/fuzz/fuzz_common.h"

#include <algorithm>

using namespace lockstep;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2)
        return 0;
    const auto bytes = fuzzBytes(data, size).subspan(2);
    const std::size_t first = std::min<std::size_t>(bytes.size(), data[0] | data[1] << 8);
    const Folder folder =
        Folder::inMemory({{".metadata", bytes.first(first)}, {"__0_0.distcp", bytes.subspan(first)}});
    Checkpoint c;
    c.container = Container::Dcp;
    PickleSession session(c);
    readDcp(session, folder, true);
    session.finish();
    lookThrough(c);
    return 0;
}
