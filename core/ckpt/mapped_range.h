// Keeps the process alive when somebody else cuts a file short while it is mapped: touching a page behind the new end raises SIGBUS.
// The signal handler puts zeros in the place of what is gone and remembers the range, whose reader then reports the file as cut.
#pragma once

#include <cstddef>

namespace lockstep {

class MappedRange
{
public:
    // Watches [begin, begin + size), which is mapped for reading. The first one installs the handler; a SIGBUS anywhere else goes
    // to the handler that was there before. Beyond a few thousand ranges at a time further ones are not watched.
    MappedRange(const void* begin, std::size_t size);
    ~MappedRange(); // before the range is unmapped
    MappedRange(const MappedRange&) = delete;
    MappedRange& operator=(const MappedRange&) = delete;

    // Whether bytes were missing that somebody wanted to read. From then on they read as zeros.
    bool cut() const;

private:
    int slot_ = -1;
};

} // namespace lockstep
