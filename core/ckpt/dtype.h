// The element types torch has on disk. Names and sizes are torch's own (torch.float32 -> "float32").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep {

enum class DType : std::uint8_t {
    Float64,
    Float32,
    Float16,
    BFloat16,
    Float8E4M3FN,
    Float8E5M2,
    Float8E4M3FNUZ,
    Float8E5M2FNUZ,
    Float8E8M0FNU,
    Float4E2M1FNx2, // two elements per byte; counted as one
    Complex128,
    Complex64,
    Complex32,
    Int64,
    Int32,
    Int16,
    Int8,
    UInt64,
    UInt32,
    UInt16,
    UInt8,
    Bool,
    QInt32,
    QInt8,
    QUInt8,
    QUInt4x2,
    QUInt2x4,
};
inline constexpr std::size_t kDTypeCount = static_cast<std::size_t>(DType::QUInt2x4) + 1;

enum class DTypeClass : std::uint8_t {
    Float,
    Complex,
    SignedInteger,
    UnsignedInteger,
    Bool,
    Quantised,
    Packed
};

struct DTypeInfo {
    std::string_view name; // torch name without "torch."
    std::string_view
        storageClass; // "FloatStorage"; empty: torch has only UntypedStorage for it (torch >= 2.1)
    std::string_view safetensors; // name in a safetensors header; empty: the format has none
    std::uint8_t itemSize;        // bytes
    DTypeClass kind;
};

const DTypeInfo& dtypeInfo(DType dtype);
inline std::size_t itemSize(DType dtype)
{
    return dtypeInfo(dtype).itemSize;
}

std::optional<DType> dtypeFromName(std::string_view torchName);            // "float32"
std::optional<DType> dtypeFromStorageClass(std::string_view storageClass); // "FloatStorage"
std::optional<DType> dtypeFromSafetensors(std::string_view name);          // "F32"

} // namespace lockstep
