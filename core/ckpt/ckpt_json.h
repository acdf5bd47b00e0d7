// One JSON document of the checkpoint commands, written field by field. Numbers keep their bits; infinities are the texts "inf" and
// "-inf", as in the manifest.
#pragma once

#include "core/ckpt/stats.h"
#include "core/config/json.h"

#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

class CkptJson
{
public:
    CkptJson() : json(buffer_) {}
    std::string text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

    void string(std::string_view value)
    {
        json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    }
    void key(std::string_view name) { json.Key(name.data(), static_cast<rapidjson::SizeType>(name.size())); }
    void field(std::string_view name, std::string_view value)
    {
        key(name);
        string(value);
    }
    void field(std::string_view name, std::uint64_t value)
    {
        key(name);
        json.Uint64(value);
    }
    void integer(std::string_view name, std::int64_t value)
    {
        key(name);
        json.Int64(value);
    }
    void flag(std::string_view name, bool value)
    {
        key(name);
        json.Bool(value);
    }
    void null(std::string_view name)
    {
        key(name);
        json.Null();
    }
    void real(std::string_view name, double value)
    {
        key(name);
        if (std::isinf(value))
            string(value < 0 ? "-inf" : "inf");
        else
            json.Double(value);
    }
    void number(std::string_view name, const ExactNumber& value)
    {
        if (const auto* i = std::get_if<std::int64_t>(&value))
            integer(name, *i);
        else if (const auto* u = std::get_if<std::uint64_t>(&value))
            field(name, *u);
        else if (const auto* d = std::get_if<double>(&value))
            real(name, *d);
        else
            null(name);
    }
    void list(std::string_view name, std::span<const std::string> values)
    {
        key(name);
        json.StartArray();
        for (const std::string& value : values)
            string(value);
        json.EndArray();
    }
    void list(std::string_view name, std::span<const std::int64_t> values)
    {
        key(name);
        json.StartArray();
        for (const std::int64_t value : values)
            json.Int64(value);
        json.EndArray();
    }

private:
    rapidjson::StringBuffer buffer_;

public:
    JsonWriter json;
};

} // namespace lockstep
