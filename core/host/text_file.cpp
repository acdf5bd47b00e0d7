#include "core/host/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace lockstep {

std::string readTextFile(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Status writeTextFile(const std::string& path, const std::string& text)
{
    std::ofstream file(path, std::ios::binary);
    file << text << std::flush;
    if (file)
        return {};
    return Error{ErrorKind::Io, path + " cannot be written", std::strerror(errno),
                 "Make the project folder writable and free some space"};
}

} // namespace lockstep
