#include "core/ckpt/save_numpy.h"

#include "core/ckpt/element_decode.h"
#include "core/ckpt/strides.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

namespace lockstep {
namespace {

struct NumpyType {
    std::string_view code;
    DType dtype;
};
constexpr std::array kTypes = {
    NumpyType{"f8", DType::Float64},     NumpyType{"f4", DType::Float32},  NumpyType{"f2", DType::Float16},
    NumpyType{"i8", DType::Int64},       NumpyType{"i4", DType::Int32},    NumpyType{"i2", DType::Int16},
    NumpyType{"i1", DType::Int8},        NumpyType{"u8", DType::UInt64},   NumpyType{"u4", DType::UInt32},
    NumpyType{"u2", DType::UInt16},      NumpyType{"u1", DType::UInt8},    NumpyType{"b1", DType::Bool},
    NumpyType{"c16", DType::Complex128}, NumpyType{"c8", DType::Complex64}};

std::optional<DType> typeOf(std::string_view dtype)
{
    if (dtype.empty() || dtype[0] == '>')
        return std::nullopt;
    if (dtype[0] == '<' || dtype[0] == '|' || dtype[0] == '=')
        dtype.remove_prefix(1);
    const auto found =
        std::find_if(kTypes.begin(), kTypes.end(), [dtype](const NumpyType& t) { return t.code == dtype; });
    return found == kTypes.end() ? std::nullopt : std::optional(found->dtype);
}

SaveValue wholeNumber(DType dtype, const std::byte* bytes)
{
    SaveValue result;
    withIntegerType(dtype, [&](auto zero) {
        const auto number = loadUnaligned<decltype(zero)>(bytes);
        if constexpr (std::is_same_v<decltype(zero), std::uint64_t>) {
            if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                SaveBigInt big;
                big.bytes.assign(reinterpret_cast<const char*>(bytes), 8);
                big.bytes += '\0'; // two's complement: a positive number needs a leading zero bit
                result = std::move(big);
                return;
            }
        }
        result = static_cast<std::int64_t>(number);
    });
    return result;
}

} // namespace

std::optional<SaveTensor> tensorFromNumpy(const Checkpoint& checkpoint, const NumpyInfo& array)
{
    const auto type = typeOf(array.dtype);
    if (!type || array.objects)
        return std::nullopt;
    const auto shape = std::span<const std::int64_t>(checkpoint.dims).subspan(array.dims, array.rank);
    std::uint64_t bytes = itemSize(*type);
    for (const std::int64_t n : shape)
        if (n < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(n), &bytes))
            return std::nullopt;
    if (bytes != array.bytes.size())
        return std::nullopt;
    SaveTensor tensor = SaveTensor::dense(*type, {shape.begin(), shape.end()},
                                          std::as_bytes(std::span(array.bytes.data(), array.bytes.size())));
    if (array.fortran) {
        std::vector<std::int64_t> reversed = rowMajorStride(std::vector(shape.rbegin(), shape.rend()));
        tensor.stride.assign(reversed.rbegin(), reversed.rend());
    }
    return tensor;
}

std::optional<SaveValue> numberFromNumpy(const NumpyInfo& scalar)
{
    const auto type = typeOf(scalar.dtype);
    if (!type || scalar.bytes.size() != itemSize(*type))
        return std::nullopt;
    const auto* bytes = reinterpret_cast<const std::byte*>(scalar.bytes.data());
    if (*type == DType::Bool)
        return SaveValue(*bytes != std::byte{0});
    if (isComplex(*type)) {
        double parts[2];
        decodeComplex(*type, bytes, 1, parts);
        return SaveCall{{"__builtin__", "complex"}, {parts[0], parts[1]}};
    }
    if (isFloat(*type)) {
        double number = 0;
        decodeToDouble(*type, bytes, 1, &number);
        return number;
    }
    return wholeNumber(*type, bytes);
}

} // namespace lockstep
