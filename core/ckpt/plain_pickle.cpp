#include "core/ckpt/legacy_reader.h"
#include "core/ckpt/readers.h"

namespace lockstep {

CkptResult<NodeId> readPlainPickle(PickleSession& session, std::uint32_t file)
{
    Checkpoint& c = session.c;
    PickleInput input;
    input.bytes = c.files[file]->bytes();
    input.file = file;
    session.builder.allow(input.bytes.size());
    PickleMachine machine(session, input, nullptr);
    auto root = machine.run();
    // torch.load wants its magic number first; everything else it calls corrupt.
    session.refuse("Invalid magic number; corrupt file?");
    return root;
}

} // namespace lockstep
