// Little-endian bytes, written and read with bounds. Private to core/wire.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::wire {

// Every platform we build for; a big-endian port would swap in put() and get().
static_assert(std::endian::native == std::endian::little);

template<typename T>
concept Scalar = std::integral<T> || std::floating_point<T>;

class ByteWriter
{
public:
    template<Scalar T>
    void put(T value)
    {
        out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put(const std::string& text)
    {
        put(std::uint32_t(text.size()));
        out_ += text;
    }
    template<Scalar T>
    void put(const std::vector<T>& items)
    {
        put(std::uint32_t(items.size()));
        out_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
    }
    void reserve(std::size_t bytes) { out_.reserve(bytes); }
    std::string take() { return std::move(out_); }

private:
    std::string out_;
};

// Reads in order; the first read beyond the end makes the reader fail for good, gives zeros and touches
// nothing.
class ByteReader
{
public:
    explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

    template<Scalar T>
    void get(T& value)
    {
        value = T{};
        if (take(sizeof value))
            std::memcpy(&value, bytes_.data() + at_ - sizeof value, sizeof value);
    }
    void get(bool& value)
    {
        std::uint8_t byte = 0;
        get(byte);
        value = byte != 0;
    }
    void get(std::string& text)
    {
        const std::size_t size = length(1);
        text.assign(bytes_.data() + at_, size);
        at_ += size;
    }
    template<Scalar T>
    void get(std::vector<T>& items)
    {
        const std::size_t count = length(sizeof(T));
        items.resize(count);
        if (count > 0)
            std::memcpy(items.data(), bytes_.data() + at_, count * sizeof(T));
        at_ += count * sizeof(T);
    }
    // A count whose items need `itemSize` bytes each; 0 and failure where fewer bytes are left, so nothing is
    // allocated for a length the payload cannot hold.
    std::size_t length(std::size_t itemSize)
    {
        std::uint32_t count = 0;
        get(count);
        if (failed_ || count > (bytes_.size() - at_) / itemSize) {
            failed_ = true;
            return 0;
        }
        return count;
    }

    bool failed() const { return failed_; }
    std::size_t position() const { return at_; } // of the field that failed, once failed

private:
    bool take(std::size_t size)
    {
        if (failed_ || size > bytes_.size() - at_) {
            failed_ = true;
            return false;
        }
        at_ += size;
        return true;
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

} // namespace lockstep::wire
