#include "core/config/json.h"

#include <fmt/format.h>
#include <rapidjson/error/en.h>

namespace lockstep {

namespace {

// Far above what any document here has. RapidJSON reads, copies and writes nested values by recursion, so a text made of
// brackets would use up the stack.
constexpr int kMaxDepth = 200;

// The byte at which `text` is nested deeper than that; npos: nowhere. Brackets inside strings do not count.
std::size_t tooDeepAt(const std::string& text)
{
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            i += c == '\\'; // what it escapes ends nothing
        else if (c == '{' || c == '[')
            ++depth;
        else if (c == '}' || c == ']')
            --depth;
        if (depth > kMaxDepth)
            return i;
    }
    return std::string::npos;
}

} // namespace

Result<rapidjson::Document> parseJson(const std::string& text, const std::string& source)
{
    if (const std::size_t at = tooDeepAt(text); at != std::string::npos)
        return Error{ErrorKind::Input, fmt::format("{} cannot be read", source),
                     fmt::format("at byte {} it is nested deeper than {} levels", at, kMaxDepth),
                     "Check the file, or write it again"};
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

std::string jsonText(const rapidjson::Value& value)
{
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    value.Accept(writer);
    return {buffer.GetString(), buffer.GetSize()};
}

std::string jsonObject(std::initializer_list<std::pair<const char*, std::string>> members)
{
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    for (const auto& [name, value] : members) {
        writer.Key(name);
        writer.String(value);
    }
    writer.EndObject();
    return {buffer.GetString(), buffer.GetSize()};
}

std::string memberText(const rapidjson::Value& object, const char* name)
{
    const auto at = object.FindMember(name);
    return at != object.MemberEnd() && at->value.IsString()
               ? std::string(at->value.GetString(), at->value.GetStringLength())
               : std::string();
}

} // namespace lockstep
