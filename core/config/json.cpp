#include "core/config/json.h"

#include <fmt/format.h>
#include <rapidjson/error/en.h>

namespace lockstep {

Result<rapidjson::Document> parseJson(const std::string& text, const std::string& source)
{
    rapidjson::Document document;
    document.Parse<rapidjson::kParseNanAndInfFlag | rapidjson::kParseFullPrecisionFlag>(text.c_str(),
                                                                                        text.size());
    if (document.HasParseError())
        return Error{ErrorKind::Input, fmt::format("{} is not valid JSON", source),
                     fmt::format("at byte {}: {}", document.GetErrorOffset(),
                                 rapidjson::GetParseError_En(document.GetParseError())),
                     "Check the file, or write it again"};
    return document;
}

} // namespace lockstep
