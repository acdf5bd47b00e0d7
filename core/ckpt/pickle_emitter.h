// Writes the instructions of a protocol 2 pickle, with the memo that Python's own pickler keeps. Only opcodes that
// weights_only=True of every torch since 1.13 understands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>

namespace lockstep {

class PickleEmitter
{
public:
    PickleEmitter() : bytes_("\x80\x02") {}

    void op(char code) { bytes_ += code; }
    void ops(const char* codes) { bytes_ += codes; }
    void none() { op('N'); }
    void boolean(bool value) { op(value ? '\x88' : '\x89'); }
    void integer(std::int64_t value);
    // Little-endian two's complement; at most 255 bytes.
    void bigInteger(const std::string& bytes);
    void real(double value);
    void text(const std::string& text);      // the second time a reference to the first
    void freshText(const std::string& text); // not remembered, for texts that are used once
    void global(const std::string& module, const std::string& name);
    void orderedDict() // an empty one
    {
        global("collections", "OrderedDict");
        ops(")R");
    }
    // A tuple of `count` values is openTuple, the values, closeTuple.
    void openTuple(std::size_t count);
    void closeTuple(std::size_t count);
    void sizes(std::span<const std::int64_t> sizes); // a tuple of integers

    // Remembers the value on top under the address of `object`.
    void remember(const void* object) { memo_.emplace(object, put()); }
    // Writes a reference if `object` was remembered.
    bool again(const void* object);

    std::string take() { return std::move(bytes_); }

private:
    void le(std::uint64_t value, int bytes);
    std::uint32_t put();
    void get(std::uint32_t slot);

    std::string bytes_;
    std::uint32_t slots_ = 0;
    std::unordered_map<const void*, std::uint32_t> memo_;
    std::unordered_map<std::string, std::uint32_t> texts_;
    std::map<std::pair<std::string, std::string>, std::uint32_t> globals_;
};

} // namespace lockstep
