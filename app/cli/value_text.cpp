#include "app/cli/value_text.h"

#include "core/base/hexfloat.h"
#include "core/base/records.h"

#include <fmt/format.h>

namespace lockstep {

namespace {

ValueType valueType(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info ? info->type : ValueType::U64; // of a newer version: at least its bits are right
}

std::string hexInteger(std::uint64_t value)
{
    return fmt::format("0x{:016x}", value);
}

} // namespace

std::string quantityName(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info ? std::string(info->name) : fmt::format("quantity_{}", unsigned(quantity));
}

Result<std::vector<Quantity>> quantitiesByName(const std::vector<std::string>& names)
{
    std::vector<Quantity> quantities;
    for (const std::string& name : names) {
        const QuantityInfo* info = quantityByName(name);
        if (info) {
            quantities.push_back(info->id);
            continue;
        }
        std::string known;
        for (const QuantityInfo& quantity : allQuantities())
            known += (known.empty() ? "" : ", ") + std::string(quantity.name);
        return Error{ErrorKind::Usage, fmt::format("There is no series {}", name),
                     fmt::format("the names are {}", known), "Choose from these names"};
    }
    return quantities;
}

void writeValue(JsonDocument& json, Quantity quantity, std::uint64_t bits)
{
    switch (valueType(quantity)) {
    case ValueType::F64:
        json.real(doubleOf(bits));
        break;
    case ValueType::I64:
        json.number(std::int64_t(bits));
        break;
    case ValueType::U64:
        json.unsignedNumber(bits);
        break;
    }
}

void writeDecimals(JsonDocument& json, const PrintedDigits& printed)
{
    json.beginObject().key("notation").text(printed.scientific ? "scientific" : "fixed");
    json.key("digits").number(printed.digits).endObject();
}

std::string valueHex(Quantity quantity, std::uint64_t bits)
{
    return valueType(quantity) == ValueType::F64 ? hexFloat(doubleOf(bits)) : hexInteger(bits);
}

std::string valueDigits(Quantity quantity, std::uint64_t bits)
{
    switch (valueType(quantity)) {
    case ValueType::F64:
        return fmt::format("{:.17g}", doubleOf(bits));
    case ValueType::I64:
        return fmt::format("{}", std::int64_t(bits));
    case ValueType::U64:
        break;
    }
    return fmt::format("{}", bits);
}

std::string valueText(Quantity quantity, std::uint64_t bits)
{
    switch (valueType(quantity)) {
    case ValueType::F64:
        return fmt::format("{:.9g}", doubleOf(bits));
    case ValueType::I64:
        return fmt::format("{}", std::int64_t(bits));
    case ValueType::U64:
        break;
    }
    return hexInteger(bits);
}

} // namespace lockstep
