// JSON documents of the command line. Numbers are JSON numbers; NaN and infinities are bare literals, as
// Python writes and reads them.
#pragma once

#include "core/config/json.h"

#include <cstdint>
#include <string>

namespace lockstep {

class JsonDocument
{
public:
    JsonWriter& writer() { return writer_; }

    // Shorthands; each returns *this so that a row of members reads as one.
    JsonDocument& beginObject();
    JsonDocument& endObject();
    JsonDocument& beginArray();
    JsonDocument& endArray();
    JsonDocument& key(const std::string& name);
    JsonDocument& text(const std::string& value); // bytes that are not UTF-8 are replaced
    JsonDocument& number(std::int64_t value);
    JsonDocument& unsignedNumber(std::uint64_t value);
    JsonDocument& real(double value);
    JsonDocument& null();
    JsonDocument& raw(const std::string& json); // a JSON value; null if it is not valid JSON

    std::string text() const { return {buffer_.GetString(), buffer_.GetSize()}; }
    // To standard output, with a newline.
    void print();

private:
    rapidjson::StringBuffer buffer_;
    JsonWriter writer_{buffer_};
};

} // namespace lockstep
