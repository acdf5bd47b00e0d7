#include "core/engine/error_file.h"

#include "core/config/json.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace lockstep {

Status writeErrorFile(const std::string& path, const std::string& sentence)
{
    if (path.empty())
        return {};
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    json.Key("message");
    json.StartObject();
    json.Key("message"), json.String(sentence);
    json.Key("extraInfo");
    json.StartObject();
    json.Key("py_callstack"), json.String(sentence);
    json.Key("timestamp"), json.String(std::to_string(std::time(nullptr)));
    json.EndObject();
    json.EndObject();
    json.EndObject();

    std::FILE* file = std::fopen(path.c_str(), "wb");
    const bool written =
        file && std::fwrite(buffer.GetString(), 1, buffer.GetSize(), file) == buffer.GetSize();
    const int error = errno;
    if ((file && std::fclose(file) != 0) || !written)
        return Error{ErrorKind::Io, "The error file " + path + " could not be written", std::strerror(error),
                     "Check TORCHELASTIC_ERROR_FILE"};
    return {};
}

} // namespace lockstep
