#include "core/ckpt/dtype.h"

#include <array>
#include <cassert>

namespace lockstep {
namespace {

using K = DTypeClass;

// In the order of the enum. Storage classes: torch.storage._dtype_to_storage_type_map. safetensors names:
// tensor.rs.
constexpr std::array<DTypeInfo, kDTypeCount> kInfo = {{
    {"float64", "DoubleStorage", "F64", 8, K::Float},
    {"float32", "FloatStorage", "F32", 4, K::Float},
    {"float16", "HalfStorage", "F16", 2, K::Float},
    {"bfloat16", "BFloat16Storage", "BF16", 2, K::Float},
    {"float8_e4m3fn", "", "F8_E4M3", 1, K::Float},
    {"float8_e5m2", "", "F8_E5M2", 1, K::Float},
    {"float8_e4m3fnuz", "", "F8_E4M3FNUZ", 1, K::Float},
    {"float8_e5m2fnuz", "", "F8_E5M2FNUZ", 1, K::Float},
    {"float8_e8m0fnu", "", "F8_E8M0", 1, K::Float},
    {"float4_e2m1fn_x2", "", "F4", 1, K::Packed},
    {"complex128", "ComplexDoubleStorage", "", 16, K::Complex},
    {"complex64", "ComplexFloatStorage", "C64", 8, K::Complex},
    {"complex32", "", "", 4, K::Complex},
    {"int64", "LongStorage", "I64", 8, K::SignedInteger},
    {"int32", "IntStorage", "I32", 4, K::SignedInteger},
    {"int16", "ShortStorage", "I16", 2, K::SignedInteger},
    {"int8", "CharStorage", "I8", 1, K::SignedInteger},
    {"uint64", "", "U64", 8, K::UnsignedInteger},
    {"uint32", "", "U32", 4, K::UnsignedInteger},
    {"uint16", "", "U16", 2, K::UnsignedInteger},
    {"uint8", "ByteStorage", "U8", 1, K::UnsignedInteger},
    {"bool", "BoolStorage", "BOOL", 1, K::Bool},
    {"qint32", "QInt32Storage", "", 4, K::Quantised},
    {"qint8", "QInt8Storage", "", 1, K::Quantised},
    {"quint8", "QUInt8Storage", "", 1, K::Quantised},
    {"quint4x2", "QUInt4x2Storage", "", 1, K::Packed},
    {"quint2x4", "QUInt2x4Storage", "", 1, K::Packed},
}};

std::optional<DType> find(std::string_view wanted, std::string_view DTypeInfo::*field)
{
    if (wanted.empty())
        return std::nullopt;
    for (std::size_t i = 0; i < kInfo.size(); ++i)
        if (kInfo[i].*field == wanted)
            return static_cast<DType>(i);
    return std::nullopt;
}

} // namespace

const DTypeInfo& dtypeInfo(DType dtype)
{
    assert(static_cast<std::size_t>(dtype) < kDTypeCount);
    return kInfo[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtypeFromName(std::string_view torchName)
{
    return find(torchName, &DTypeInfo::name);
}

std::optional<DType> dtypeFromStorageClass(std::string_view storageClass)
{
    return find(storageClass, &DTypeInfo::storageClass);
}

std::optional<DType> dtypeFromSafetensors(std::string_view name)
{
    return find(name, &DTypeInfo::safetensors);
}

} // namespace lockstep
