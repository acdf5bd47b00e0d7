// One instruction of the pickle machine: operands, and what it does to the stack.
#include "core/ckpt/bytes.h"
#include "core/ckpt/pickle_machine.h"
#include "core/ckpt/pickle_text.h"
#include "core/ckpt/utf8.h"

namespace lockstep {
namespace {

// Opcodes, named as in pickletools.
// clang-format off
enum Op : std::uint8_t {
    Mark = '(', Stop = '.', Pop = '0', PopMark = '1', Dup = '2', Float = 'F', Int = 'I', BinInt = 'J', BinInt1 = 'K',
    Long = 'L', BinInt2 = 'M', None = 'N', PersId = 'P', BinPersId = 'Q', Reduce = 'R', String = 'S', BinString = 'T',
    ShortBinString = 'U', Unicode = 'V', BinUnicode = 'X', Append = 'a', Build = 'b', GlobalOp = 'c', DictOp = 'd',
    EmptyDict = '}', Appends = 'e', Get = 'g', BinGet = 'h', Inst = 'i', LongBinGet = 'j', ListOp = 'l', EmptyList = ']',
    Obj = 'o', Put = 'p', BinPut = 'q', LongBinPut = 'r', SetItem = 's', TupleOp = 't', EmptyTuple = ')', SetItems = 'u',
    BinFloat = 'G', BinBytes = 'B', ShortBinBytes = 'C', Proto = 0x80, NewObj = 0x81, Ext1 = 0x82, Ext2 = 0x83,
    Ext4 = 0x84, Tuple1 = 0x85, Tuple2 = 0x86, Tuple3 = 0x87, NewTrue = 0x88, NewFalse = 0x89, Long1 = 0x8a,
    Long4 = 0x8b, ShortBinUnicode = 0x8c, BinUnicode8 = 0x8d, BinBytes8 = 0x8e, EmptySet = 0x8f, AddItems = 0x90,
    FrozenSetOp = 0x91, NewObjEx = 0x92, StackGlobal = 0x93, Memoize = 0x94, Frame = 0x95, ByteArray8 = 0x96,
    NextBuffer = 0x97, ReadonlyBuffer = 0x98,
};

// Opcodes torch's weights_only unpickler knows.
bool knownToWeightsOnly(std::uint8_t op)
{
    switch (op) {
    case GlobalOp: case NewObj: case Reduce: case Build: case Append: case Appends: case SetItem: case SetItems:
    case Mark: case TupleOp: case Tuple1: case Tuple2: case Tuple3: case None: case NewFalse: case NewTrue:
    case EmptyTuple: case EmptyList: case EmptyDict: case EmptySet: case BinInt: case BinInt1: case BinInt2:
    case BinFloat: case BinUnicode: case ShortBinString: case BinPersId: case BinGet: case LongBinGet: case BinPut:
    case LongBinPut: case Long1: case Proto: case Stop:
        return true;
    default:
        return false;
    }
}
// clang-format on

std::string hexByte(std::uint8_t value)
{
    constexpr char digits[] = "0123456789abcdef";
    return {'0', 'x', digits[value >> 4], digits[value & 15]};
}

} // namespace

void PickleMachine::refuseOpcode(std::uint8_t opcode)
{
    s_.refuse("Unsupported operand " + std::to_string(opcode));
}

PickleMachine::Problem PickleMachine::step(std::uint8_t op)
{
    const std::byte* p = nullptr;
    std::string_view line;
    if (s_.judge && c_.weightsOnly && !knownToWeightsOnly(op))
        refuseOpcode(op);
    switch (op) {
    case Proto:
        if (!take(1, p))
            return truncated();
        if (static_cast<std::uint8_t>(*p) > 5)
            return problem(CkptFault::PickleOpcode,
                           "pickle protocol " + std::to_string(static_cast<int>(*p)) + " is not known");
        return std::nullopt;
    case Frame:
        return take(8, p) ? Problem() : truncated();
    // stack and memo
    case Mark:
        marks_.push_back(stack_.size());
        return std::nullopt;
    case Pop:
        if (has(1))
            stack_.pop_back();
        else if (!marks_.empty())
            marks_.pop_back();
        else
            return problem(CkptFault::PickleStack, "nothing to drop");
        return std::nullopt;
    case PopMark: {
        const auto first = popMark();
        if (!first)
            return problem(CkptFault::PickleStack, "no mark");
        stack_.resize(*first);
        return std::nullopt;
    }
    case Dup:
        if (!has(1))
            return problem(CkptFault::PickleStack, "nothing to repeat");
        push(stack_.back());
        return std::nullopt;
    case Put:
    case Get: {
        std::uint64_t index = 0;
        if (!takeLine(line))
            return truncated();
        if (!parseIndex(line, index))
            return problem(CkptFault::PickleText, "a memo index that is not a number");
        return op == Put ? memoPut(index) : memoGet(index);
    }
    case BinPut:
        return take(1, p) ? memoPut(static_cast<std::uint8_t>(*p)) : truncated();
    case LongBinPut:
        return take(4, p) ? memoPut(loadLe<std::uint32_t>(p)) : truncated();
    case Memoize:
        return memoPut(memoCount_);
    case BinGet:
        return take(1, p) ? memoGet(static_cast<std::uint8_t>(*p)) : truncated();
    case LongBinGet:
        return take(4, p) ? memoGet(loadLe<std::uint32_t>(p)) : truncated();
    // plain values
    case None:
        push(b_.none());
        return std::nullopt;
    case NewTrue:
    case NewFalse:
        push(b_.boolean(op == NewTrue));
        return std::nullopt;
    case Int:
    case Long:
        return takeLine(line) ? pushInteger(line, op == Long) : truncated();
    case BinInt:
        if (!take(4, p))
            return truncated();
        push(b_.integer(loadLe<std::int32_t>(p)));
        return std::nullopt;
    case BinInt1:
        if (!take(1, p))
            return truncated();
        push(b_.integer(static_cast<std::uint8_t>(*p)));
        return std::nullopt;
    case BinInt2:
        if (!take(2, p))
            return truncated();
        push(b_.integer(loadLe<std::uint16_t>(p)));
        return std::nullopt;
    case Long1:
        return take(1, p) ? pushLong(static_cast<std::uint8_t>(*p)) : truncated();
    case Long4: {
        if (!take(4, p))
            return truncated();
        const auto size = loadLe<std::int32_t>(p);
        if (size < 0)
            return problem(CkptFault::PickleText, "an integer of " + std::to_string(size) + " bytes");
        return pushLong(static_cast<std::uint64_t>(size));
    }
    case Float:
        return pushFloatText();
    case BinFloat:
        if (!take(8, p))
            return truncated();
        push(b_.real(std::bit_cast<double>(__builtin_bswap64(loadLe<std::uint64_t>(p)))));
        return std::nullopt;
    case String:
        return pushQuoted();
    case Unicode:
        return pushEscaped();
    case BinString:
    case ShortBinString: {
        if (!take(op == BinString ? 4 : 1, p))
            return truncated();
        const std::int64_t size = op == BinString ? loadLe<std::int32_t>(p) : static_cast<std::uint8_t>(*p);
        if (size < 0)
            return problem(CkptFault::PickleText, "a string of negative length");
        if (static_cast<std::uint64_t>(size) > in_.bytes.size() - at_)
            return truncated();
        // Python 2 text: bytes of unknown encoding.
        const bool utf8 = validUtf8(asText(in_.bytes.subspan(at_, static_cast<std::size_t>(size))));
        if (!utf8)
            s_.refuse("'utf-8' codec can't decode a Python 2 string");
        return pushText(utf8 ? ValueKind::Str : ValueKind::Bytes, static_cast<std::uint64_t>(size));
    }
    case ShortBinUnicode:
        return take(1, p) ? pushText(ValueKind::Str, static_cast<std::uint8_t>(*p)) : truncated();
    case BinUnicode:
        return take(4, p) ? pushText(ValueKind::Str, loadLe<std::uint32_t>(p)) : truncated();
    case BinUnicode8:
        return take(8, p) ? pushText(ValueKind::Str, loadLe<std::uint64_t>(p)) : truncated();
    case ShortBinBytes:
        return take(1, p) ? pushText(ValueKind::Bytes, static_cast<std::uint8_t>(*p)) : truncated();
    case BinBytes:
        return take(4, p) ? pushText(ValueKind::Bytes, loadLe<std::uint32_t>(p)) : truncated();
    case BinBytes8:
        return take(8, p) ? pushText(ValueKind::Bytes, loadLe<std::uint64_t>(p)) : truncated();
    case ByteArray8:
        return take(8, p) ? pushText(ValueKind::ByteArray, loadLe<std::uint64_t>(p)) : truncated();
    // containers
    case EmptyTuple:
        push(b_.emptyTuple());
        return std::nullopt;
    case Tuple1:
    case Tuple2:
    case Tuple3:
        return pushTuple(static_cast<std::size_t>(op - Tuple1 + 1));
    case EmptyList:
        push(b_.container(ValueKind::List));
        return std::nullopt;
    case EmptyDict:
        push(b_.dict(DictType::Plain));
        return std::nullopt;
    case EmptySet:
        push(b_.container(ValueKind::Set));
        return std::nullopt;
    case TupleOp:
    case ListOp:
    case DictOp:
    case FrozenSetOp: {
        const auto first = popMark();
        if (!first)
            return problem(CkptFault::PickleStack, "no mark");
        const auto items = std::span<const NodeId>(stack_).subspan(*first);
        NodeId id = kNone;
        if (op == DictOp) {
            if (items.size() % 2 != 0)
                return problem(CkptFault::PickleStack, "a key without a value");
            id = b_.dict(DictType::Plain);
            b_.append(id, items);
        } else {
            id = b_.sequence(op == TupleOp  ? ValueKind::Tuple
                             : op == ListOp ? ValueKind::List
                                            : ValueKind::FrozenSet,
                             items);
        }
        stack_.resize(*first);
        push(id);
        return std::nullopt;
    }
    case Append: {
        if (!has(2))
            return problem(CkptFault::PickleStack, "nothing to append or nothing to append to");
        const auto failed = appendItems(stack_[stack_.size() - 2], stack_.size() - 1);
        stack_.pop_back();
        return failed;
    }
    case SetItem: {
        if (!has(3))
            return problem(CkptFault::PickleStack, "no key, value or dict");
        const auto failed = setItems(stack_[stack_.size() - 3], stack_.size() - 2);
        stack_.resize(stack_.size() - 2);
        return failed;
    }
    case Appends:
    case SetItems:
    case AddItems: {
        const auto first = popMark();
        if (!first || *first <= floor())
            return problem(CkptFault::PickleStack, "no mark, or nothing in front of it");
        const NodeId target = stack_[*first - 1];
        const auto failed = op == Appends    ? appendItems(target, *first)
                            : op == SetItems ? setItems(target, *first)
                                             : addItems(target, *first);
        stack_.resize(*first);
        return failed;
    }
    // globals and calls
    case GlobalOp: {
        std::string_view name;
        if (!takeLine(line) || !takeLine(name))
            return truncated();
        return global(line, name);
    }
    case StackGlobal: {
        if (!has(2) || kind(stack_.back()) != ValueKind::Str ||
            kind(stack_[stack_.size() - 2]) != ValueKind::Str)
            return problem(CkptFault::PickleStack, "a global without module and name");
        const std::string_view name = c_.value(pop()).text();
        const std::string_view module = c_.value(pop()).text();
        return global(module, name);
    }
    case Reduce:
    case NewObj: {
        if (!has(2))
            return problem(CkptFault::PickleStack, "a call without function or arguments");
        const NodeId args = pop();
        const NodeId callee = pop();
        return call(callee, args, op == NewObj);
    }
    case NewObjEx: {
        if (!has(3))
            return problem(CkptFault::PickleStack, "a call without class or arguments");
        if (kind(pop()) != ValueKind::Dict) // keyword arguments
            return problem(CkptFault::PickleType, "keyword arguments that are not a dict");
        const NodeId args = pop();
        const NodeId callee = pop();
        return call(callee, args, true);
    }
    case Inst: {
        std::string_view name;
        if (!takeLine(line) || !takeLine(name))
            return truncated();
        const auto first = popMark();
        if (!first)
            return problem(CkptFault::PickleStack, "no mark");
        if (auto failed = global(line, name))
            return failed;
        const NodeId callee = pop();
        const NodeId args = b_.sequence(ValueKind::Tuple, std::span<const NodeId>(stack_).subspan(*first));
        stack_.resize(*first);
        return call(callee, args, true);
    }
    case Obj: {
        const auto first = popMark();
        if (!first || *first >= stack_.size())
            return problem(CkptFault::PickleStack, "no mark or no class behind it");
        const NodeId callee = stack_[*first];
        const NodeId args =
            b_.sequence(ValueKind::Tuple, std::span<const NodeId>(stack_).subspan(*first + 1));
        stack_.resize(*first);
        return call(callee, args, true);
    }
    case Build:
        return build();
    case PersId: {
        if (!takeLine(line))
            return truncated();
        return persistent(b_.text(ValueKind::Str, line));
    }
    case BinPersId:
        if (!has(1))
            return problem(CkptFault::PickleStack, "no persistent id");
        return persistent(pop());
    case Ext1:
    case Ext2:
    case Ext4:
        return problem(CkptFault::PickleOpcode,
                       "names an object of the process that wrote it (extension registry)");
    case NextBuffer:
    case ReadonlyBuffer:
        return problem(CkptFault::PickleOpcode, "needs a buffer that lies outside the pickle");
    default:
        return problem(CkptFault::PickleOpcode, "opcode " + hexByte(op) + " does not exist");
    }
}

} // namespace lockstep
