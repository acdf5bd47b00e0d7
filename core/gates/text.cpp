#include "core/gates/text.h"

#include "core/config/json.h"

namespace lockstep {

std::string grouped(std::int64_t number)
{
    std::string text = std::to_string(number);
    const std::size_t sign = number < 0 ? 1 : 0;
    for (std::size_t place = text.size(); place > sign + 3;) {
        place -= 3;
        text.insert(place, 1, ',');
    }
    return text;
}

std::string counted(std::int64_t number, const char* singular, const char* plural)
{
    return grouped(number) + ' ' + (number == 1 ? singular : plural);
}

std::string titleOf(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info ? std::string(info->title) : std::string("an unknown quantity");
}

std::string evidenceJson(const std::vector<EvidenceRow>& rows)
{
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartArray();
    for (const EvidenceRow& row : rows) {
        writer.StartObject();
        writer.Key("label"), writer.String(row.label);
        writer.Key("text"), writer.String(row.text);
        writer.EndObject();
    }
    writer.EndArray();
    return buffer.GetString();
}

} // namespace lockstep
