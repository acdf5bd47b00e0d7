// Rows of a JSON lines id list: {"epoch":0,"rank":1,"position":2,"id":3}. Other keys are skipped, whatever they hold.
// Errors name line and column. Internal to core/gates.
#pragma once

#include "core/gates/id_list_builder.h"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <cstdint>
#include <string>

namespace lockstep {

class IdJsonRows : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, IdJsonRows>
{
public:
    explicit IdJsonRows(IdListBuilder& builder) : builder_(builder) {}

    // One line without its line end.
    bool row(const char* p, const char* end, std::int64_t line, Error& error);

    // SAX events; false ends the parse with problem_.
    bool Key(const char* name, rapidjson::SizeType size, bool copy);
    bool Uint(unsigned v) { return value(v, false); }
    bool Uint64(std::uint64_t v) { return value(v, false); }
    bool Int(int v) { return value(std::uint64_t(std::int64_t(v)), v < 0); }
    bool Int64(std::int64_t v) { return value(std::uint64_t(v), v < 0); }
    bool String(const char* text, rapidjson::SizeType size, bool copy);
    bool Default();
    bool StartObject();
    bool EndObject(rapidjson::SizeType)
    {
        --depth_;
        return true;
    }
    bool StartArray();
    bool EndArray(rapidjson::SizeType)
    {
        --depth_;
        return true;
    }

private:
    bool value(std::uint64_t v, bool negative);

    IdListBuilder& builder_;
    rapidjson::Reader reader_;
    rapidjson::MemoryStream* stream_ = nullptr;
    IdRow row_;
    IdField field_ = IdField::Count;
    int depth_ = 0;
    std::string problem_;
};

} // namespace lockstep
