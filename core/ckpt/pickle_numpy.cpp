// Arrays, scalars and element types of numpy inside a pickle. Signatures: numpy/_core/multiarray.
#include "core/ckpt/bytes.h"
#include "core/ckpt/pickle_machine.h"
#include "core/ckpt/utf8.h"

namespace lockstep {
namespace {

bool textKind(ValueKind kind)
{
    return kind == ValueKind::Str || kind == ValueKind::Bytes;
}

} // namespace

PickleMachine::Problem PickleMachine::callNumpy(KnownCall which, NodeId callee, NodeId args)
{
    if (which == KnownCall::NumpyDtype) {
        if (argCount(args) < 1 || !textKind(kind(arg(args, 0))))
            return foreign(callee, args);
        const std::string_view name = c_.value(arg(args, 0)).text();
        // One byte has no order; numpy writes the order of wider types with BUILD.
        const bool wide = !(name.ends_with("1") && name.size() == 2) && !name.starts_with('O');
        b_.charge(48 + name.size());
        push(b_.text(ValueKind::NumpyDtype, c_.keep((wide ? "<" : "|") + std::string(name.substr(0, 64)))));
        return std::nullopt;
    }
    NumpyInfo info;
    if (which == KnownCall::NumpyScalar) {
        if (argCount(args) < 1 || kind(arg(args, 0)) != ValueKind::NumpyDtype)
            return foreign(callee, args);
        info.dtype = c_.value(arg(args, 0)).text();
        const Value bytes = argCount(args) > 1 ? c_.value(arg(args, 1)) : Value();
        info.objects = !bytes.is(ValueKind::Bytes);
        if (bytes.is(ValueKind::Bytes))
            info.bytes = bytes.text();
    }
    b_.charge(sizeof info);
    c_.numpy.push_back(info);
    push(b_.reference(which == KnownCall::NumpyScalar ? ValueKind::NumpyScalar : ValueKind::NumpyArray,
                      static_cast<std::uint32_t>(c_.numpy.size() - 1)));
    return std::nullopt;
}

PickleMachine::Problem PickleMachine::buildNumpy(NodeId target, NodeId state)
{
    const Value v = c_.value(state);
    if (!v.is(ValueKind::Tuple))
        return problem(CkptFault::PickleType, "the state of a numpy object is not a tuple");
    if (kind(target) == ValueKind::NumpyDtype) {
        // (version, byte order, subtype, names, fields, size, alignment, flags[, metadata])
        if (v.size() < 2 || !textKind(v.item(1).kind()) || v.item(1).text().size() != 1)
            return problem(CkptFault::PickleType, "a numpy element type without a byte order");
        std::string text(c_.value(target).text());
        const char order = v.item(1).text()[0];
        if (!text.empty())
            text[0] = order == '=' ? '<' : order;
        b_.charge(48 + text.size());
        c_.nodes[target].text = c_.keep(std::move(text)).data();
        return std::nullopt;
    }
    // ([version,] shape, dtype, is_fortran, data)
    const std::size_t at = v.size() == 5 ? 1 : 0;
    std::vector<std::int64_t> dims;
    if (v.size() != at + 4 || !v.item(at).appendNumbers(dims))
        return problem(CkptFault::PickleType, "a numpy array without shape, element type, order and data");
    NumpyInfo& info = c_.numpy[c_.nodes[target].index];
    if (v.item(at + 1).is(ValueKind::NumpyDtype))
        info.dtype = v.item(at + 1).text();
    info.fortran = v.item(at + 2).is(ValueKind::Bool) && v.item(at + 2).boolean();
    b_.charge(dims.size() * sizeof(std::int64_t));
    info.dims = b_.addDims(dims);
    info.rank = static_cast<std::uint32_t>(dims.size());
    const Value data = v.item(at + 3);
    info.objects = !textKind(data.kind()) && !data.is(ValueKind::ByteArray);
    if (data.is(ValueKind::Str)) { // Python 2 wrote the bytes as text
        std::string bytes;
        if (utf8ToLatin1(data.text(), bytes)) {
            b_.charge(bytes.size() + sizeof bytes);
            info.bytes = c_.keep(std::move(bytes));
        }
    } else if (!info.objects) {
        info.bytes = data.text();
    }
    return std::nullopt;
}

} // namespace lockstep
