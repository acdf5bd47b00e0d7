// A thin door to RapidJSON for the folders that only need to read a few fields or write one document. NaN,
// Infinity and -Infinity are accepted and written as bare literals, as Python's json does; Qt's reader
// refuses them.
#pragma once

#include "core/base/status.h"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace lockstep {

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>,
                                     rapidjson::CrtAllocator, rapidjson::kWriteNanAndInfFlag>;

// `source` is named in the error together with the byte offset. Errors: not JSON, or nested deeper than 200 levels, so that
// whoever walks the document may do so by recursion.
Result<rapidjson::Document> parseJson(const std::string& text, const std::string& source);

// A value as text. NaN and infinities become bare literals, which parseJson reads again.
std::string jsonText(const rapidjson::Value& value);

// An object of texts, for the details of events.
std::string jsonObject(std::initializer_list<std::pair<const char*, std::string>> members);

// The text that member `name` of an object holds; empty where it is absent or something else.
std::string memberText(const rapidjson::Value& object, const char* name);

} // namespace lockstep
