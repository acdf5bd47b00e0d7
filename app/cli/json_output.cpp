#include "app/cli/json_output.h"

#include <QString>

#include <cstdio>

namespace lockstep {

JsonDocument& JsonDocument::beginObject()
{
    writer_.StartObject();
    return *this;
}

JsonDocument& JsonDocument::endObject()
{
    writer_.EndObject();
    return *this;
}

JsonDocument& JsonDocument::beginArray()
{
    writer_.StartArray();
    return *this;
}

JsonDocument& JsonDocument::endArray()
{
    writer_.EndArray();
    return *this;
}

JsonDocument& JsonDocument::key(const std::string& name)
{
    writer_.Key(name.data(), rapidjson::SizeType(name.size()));
    return *this;
}

JsonDocument& JsonDocument::text(const std::string& value)
{
    const QByteArray utf8 = QString::fromUtf8(value.data(), qsizetype(value.size())).toUtf8();
    writer_.String(utf8.constData(), rapidjson::SizeType(utf8.size()));
    return *this;
}

JsonDocument& JsonDocument::number(std::int64_t value)
{
    writer_.Int64(value);
    return *this;
}

JsonDocument& JsonDocument::unsignedNumber(std::uint64_t value)
{
    writer_.Uint64(value);
    return *this;
}

JsonDocument& JsonDocument::real(double value)
{
    writer_.Double(value);
    return *this;
}

JsonDocument& JsonDocument::null()
{
    writer_.Null();
    return *this;
}

JsonDocument& JsonDocument::raw(const std::string& json)
{
    const Result<rapidjson::Document> parsed = parseJson(json, "the stored text");
    if (parsed)
        parsed->Accept(writer_);
    else
        writer_.Null();
    return *this;
}

void JsonDocument::print()
{
    std::fwrite(buffer_.GetString(), 1, buffer_.GetSize(), stdout);
    std::fputc('\n', stdout);
}

} // namespace lockstep
