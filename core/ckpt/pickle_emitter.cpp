#include "core/ckpt/pickle_emitter.h"

#include <bit>
#include <limits>

namespace lockstep {

void PickleEmitter::le(std::uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        bytes_ += static_cast<char>(value >> (8 * i));
}

std::uint32_t PickleEmitter::put()
{
    const std::uint32_t slot = slots_++;
    op(slot < 256 ? 'q' : 'r');
    le(slot, slot < 256 ? 1 : 4);
    return slot;
}

void PickleEmitter::get(std::uint32_t slot)
{
    op(slot < 256 ? 'h' : 'j');
    le(slot, slot < 256 ? 1 : 4);
}

bool PickleEmitter::again(const void* object)
{
    const auto found = memo_.find(object);
    if (found == memo_.end())
        return false;
    get(found->second);
    return true;
}

void PickleEmitter::integer(std::int64_t value)
{
    if (value >= 0 && value < 256) {
        op('K');
        le(static_cast<std::uint64_t>(value), 1);
    } else if (value >= 0 && value < 65536) {
        op('M');
        le(static_cast<std::uint64_t>(value), 2);
    } else if (value >= std::numeric_limits<std::int32_t>::min() &&
               value <= std::numeric_limits<std::int32_t>::max()) {
        op('J');
        le(static_cast<std::uint64_t>(value), 4);
    } else {
        int bytes = 8; // LONG1 wants the shortest two's complement form
        while (bytes > 1) {
            const std::int64_t rest = value >> (8 * (bytes - 1) - 1);
            if (rest != 0 && rest != -1)
                break;
            --bytes;
        }
        op('\x8a');
        le(static_cast<std::uint64_t>(bytes), 1);
        le(static_cast<std::uint64_t>(value), bytes);
    }
}

void PickleEmitter::bigInteger(const std::string& bytes)
{
    op('\x8a');
    le(bytes.size(), 1);
    bytes_ += bytes;
}

void PickleEmitter::real(double value)
{
    op('G');
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 7; i >= 0; --i)
        bytes_ += static_cast<char>(bits >> (8 * i));
}

void PickleEmitter::text(const std::string& text)
{
    if (const auto found = texts_.find(text); found != texts_.end()) {
        get(found->second);
        return;
    }
    freshText(text);
    texts_.emplace(text, put());
}

void PickleEmitter::freshText(const std::string& text)
{
    op('X');
    le(text.size(), 4);
    bytes_ += text;
}

void PickleEmitter::global(const std::string& module, const std::string& name)
{
    const auto key = std::make_pair(module, name);
    if (const auto found = globals_.find(key); found != globals_.end()) {
        get(found->second);
        return;
    }
    op('c');
    bytes_ += module + "\n" + name + "\n";
    globals_.emplace(key, put());
}

void PickleEmitter::openTuple(std::size_t count)
{
    if (count > 3)
        op('(');
}

void PickleEmitter::closeTuple(std::size_t count)
{
    op(count == 0 ? ')' : count > 3 ? 't' : static_cast<char>(0x84 + count));
}

void PickleEmitter::sizes(std::span<const std::int64_t> sizes)
{
    openTuple(sizes.size());
    for (const std::int64_t size : sizes)
        integer(size);
    closeTuple(sizes.size());
}

} // namespace lockstep
