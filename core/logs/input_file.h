// A file read from front to back through a window in memory: as much of it is held as one record needs. Private to core/logs.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::logs {

class InputFile
{
public:
    // Only regular files. Errors: NotFound, Io.
    static Result<InputFile> open(const std::string& path);
    InputFile(InputFile&&) noexcept = default;
    InputFile& operator=(InputFile&&) noexcept = default;

    const std::string& path() const { return path_; }
    std::uint64_t offset() const { return offset_; } // of the next byte
    // Bytes from here to the end the file had when it was opened.
    std::uint64_t left() const { return size_ > offset_ ? size_ - offset_ : 0; }

    // The next `count` bytes, fewer only at the end of the file. Valid until the next call of any function.
    std::string_view peek(std::size_t count);
    // Passes over bytes; they need not have been looked at.
    void skip(std::uint64_t count);
    // A read that failed; the file then seems to end there.
    const Status& status() const { return status_; }

private:
    struct Descriptor { // -1: none
        int value = -1;
        explicit Descriptor(int fd) : value(fd) {}
        Descriptor(Descriptor&& other) noexcept;
        Descriptor& operator=(Descriptor&& other) noexcept;
        ~Descriptor();
    };
    InputFile(std::string path, Descriptor descriptor, std::uint64_t size)
        : path_(std::move(path)), descriptor_(std::move(descriptor)), size_(size)
    {
    }

    std::string path_;
    Descriptor descriptor_;
    std::uint64_t size_ = 0;
    std::uint64_t offset_ = 0; // in the file, of buffer_[begin_]
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    Status status_;
};

// A line without its end ("\n" or "\r\n").
struct Line {
    std::string_view text; // valid until the next call on the file
    std::uint64_t offset = 0;
    bool complete = false; // its line end is there
    bool tooLong = false;  // longer than any line of a log, and dropped
};

// False at the end of the file.
bool nextLine(InputFile& file, Line& line);

} // namespace lockstep::logs
