#include "core/host/rank_files.h"

#include "core/config/json.h"
#include "core/host/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace lockstep {

std::string rankLogFile(const std::string& runFolder, int rank)
{
    return fmt::format("{}/rank{}.log", runFolder, rank);
}

std::string rankErrorFile(const std::string& runFolder, int rank)
{
    return fmt::format("{}/rank{}.error.json", runFolder, rank);
}

std::optional<ErrorFile> readErrorFile(const std::string& path)
{
    const std::string text = readTextFile(path);
    if (text.empty())
        return std::nullopt;
    const Result<rapidjson::Document> json = parseJson(text, path);
    if (!json || !json->IsObject() || !json->HasMember("message"))
        return std::nullopt;
    const rapidjson::Value& outer = json.value()["message"];
    if (outer.IsString())
        return ErrorFile{outer.GetString()};
    if (outer.IsObject() && outer.HasMember("message") && outer["message"].IsString())
        return ErrorFile{outer["message"].GetString()};
    return std::nullopt;
}

std::string lastLogLine(const std::string& path)
{
    constexpr std::streamoff kTail = 4096;
    constexpr std::size_t kLongest = 300;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file)
        return {};
    const std::streamoff size = file.tellg();
    file.seekg(std::max<std::streamoff>(0, size - kTail));
    std::ostringstream rest;
    rest << file.rdbuf();
    std::string tail = rest.str();
    const std::size_t end = tail.find_last_not_of(" \t\r\n");
    if (end == std::string::npos)
        return {};
    const std::size_t begin = tail.find_last_of('\n', end);
    const std::size_t start = begin == std::string::npos ? 0 : begin + 1;
    return tail.substr(start, std::min(end + 1 - start, kLongest));
}

} // namespace lockstep
