// A pickle as data.pkl would be, without the zip around it: every persistent id is given a storage over the input itself.
#include "core/ckpt/pickle_machine.h"
#include "tests/fuzz/fuzz_common.h"

using namespace lockstep;

namespace {

class AnyStorage : public PersistentLoader
{
public:
    AnyStorage(PickleSession& session, std::size_t size) : s_(session), size_(size) {}

    CkptResult<NodeId> load(NodeId id) override
    {
        StorageInfo info;
        info.key = "0";
        info.device = "cpu";
        info.dtype = DType::Float32;
        info.bytes = size_;
        info.elements = static_cast<std::int64_t>(size_ / 4);
        const Value v = s_.c.value(id);
        if (v.is(ValueKind::Tuple) && v.size() > 1)
            if (const auto cls = s_.byNode.find(v.item(1).id());
                cls != s_.byNode.end() && cls->second->meaning.storageClass)
                info.dtype = cls->second->meaning.storageType;
        s_.builder.charge(sizeof info);
        s_.c.storages.push_back(info);
        s_.c.storageUses.push_back(
            {static_cast<std::uint32_t>(s_.c.storages.size() - 1), info.dtype,
             static_cast<std::int64_t>(size_ / (info.dtype ? itemSize(*info.dtype) : 1))});
        return s_.builder.reference(ValueKind::Storage,
                                    static_cast<std::uint32_t>(s_.c.storageUses.size() - 1));
    }

private:
    PickleSession& s_;
    std::size_t size_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Checkpoint c;
    c.container = Container::Pickle;
    c.files.push_back(MappedFile::view(fuzzBytes(data, size), "x.pkl"));
    PickleSession session(c);
    session.builder.allow(size);
    AnyStorage loader(session, size);
    PickleInput input;
    input.bytes = fuzzBytes(data, size);
    PickleMachine machine(session, input, &loader);
    if (auto root = machine.run())
        c.root = *root;
    session.finish();
    lookThrough(c);
    return 0;
}
