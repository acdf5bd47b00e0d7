#include "core/ckpt/manifest_values.h"

#include "core/ckpt/numpy_bytes.h"
#include "core/ckpt/sha256.h"

#include <bit>
#include <cstdio>

namespace lockstep {
namespace {

constexpr std::size_t kLongText = 200;

std::string hexBits(double value)
{
    char digits[20];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)));
    return digits;
}

std::string decimals(Value sequence)
{
    std::string text;
    for (std::size_t i = 0; i < sequence.size(); ++i)
        text += (i > 0 ? "," : "") + sequence.item(i).decimal();
    return text;
}

void scalar(CkptJson& d, const char* py, std::string_view value)
{
    d.field("kind", "scalar");
    d.field("py", py);
    d.field("value", value);
}

void other(CkptJson& d, std::string_view py)
{
    d.field("kind", "other");
    d.field("py", py);
}

void named(CkptJson& d, std::string_view py, std::string_view value)
{
    other(d, py);
    d.field("value", value);
}

void length(CkptJson& d, std::size_t size)
{
    d.field("len", static_cast<std::uint64_t>(size));
}

void hashed(CkptJson& d, std::string_view bytes)
{
    length(d, bytes.size());
    d.field("sha256", Sha256::hexOf(bytes));
}

void storage(CkptJson& d, const Checkpoint& c, const Checkpoint::StorageUse& use, std::string_view sha256)
{
    other(d, "torch.storage");
    d.field("dtype", use.dtype ? dtypeInfo(*use.dtype).name : std::string_view("untyped"));
    d.integer("numel", use.elements);
    d.field("storage", static_cast<std::uint64_t>(use.storage));
    d.field("device", c.storages[use.storage].device);
    if (sha256.empty())
        d.null("sha256");
    else
        d.field("sha256", sha256);
}

void numpy(CkptJson& d, const Checkpoint& c, const NumpyInfo& n, bool array)
{
    other(d, array ? "numpy.ndarray" : "numpy.scalar");
    d.field("np_dtype", numpyDtype(n));
    if (array)
        d.list("shape", std::span<const std::int64_t>(c.dims).subspan(n.dims, n.rank));
    if (const auto bytes = numpyBytes(c, n))
        d.field("sha256", Sha256::hexOf(*bytes));
    else
        d.null("sha256");
}

} // namespace

void writePlainValue(CkptJson& d, const Checkpoint& checkpoint, Value v, bool packed, std::string_view sha256)
{
    switch (v.kind()) {
    case ValueKind::None:
        return scalar(d, "NoneType", "None");
    case ValueKind::Bool:
        return scalar(d, "bool", v.boolean() ? "True" : "False");
    case ValueKind::Int:
    case ValueKind::BigInt:
        return scalar(d, "int", v.decimal());
    case ValueKind::Float:
        return scalar(d, "float", hexBits(v.real()));
    case ValueKind::Complex:
        return scalar(d, "complex", hexBits(v.complexValue().real()) + hexBits(v.complexValue().imag()));
    case ValueKind::Str:
        d.field("kind", "str");
        return v.text().size() > kLongText ? hashed(d, v.text()) : d.field("value", v.text());
    case ValueKind::Bytes:
    case ValueKind::ByteArray:
        other(d, v.is(ValueKind::Bytes) ? "bytes" : "bytearray");
        return hashed(d, v.text());
    case ValueKind::List:
    case ValueKind::Tuple:
        other(d, v.is(ValueKind::List) ? "list" : "tuple");
        length(d, v.size());
        if (packed)
            d.field("sha256", Sha256::hexOf(decimals(v)));
        return;
    case ValueKind::Dict:
        other(d, "dict");
        return length(d, 0);
    case ValueKind::Set:
    case ValueKind::FrozenSet:
        other(d, v.is(ValueKind::Set) ? "set" : "frozenset");
        return length(d, v.size());
    case ValueKind::Size:
        return named(d, "torch.Size", decimals(v));
    case ValueKind::Global:
        return named(d, "global", v.text());
    case ValueKind::Object:
        return other(d, v.className());
    case ValueKind::DtypeRef:
        return named(d, "torch.dtype", v.text());
    case ValueKind::Device:
        return named(d, "torch.device", v.text());
    case ValueKind::Layout:
        return named(d, "torch.layout", v.text());
    case ValueKind::QScheme:
        return named(d, "torch.qscheme", v.text());
    case ValueKind::NumpyDtype:
        return named(d, "numpy.dtype", v.text());
    case ValueKind::NumpyArray:
    case ValueKind::NumpyScalar:
        return numpy(d, checkpoint, v.numpy(), v.is(ValueKind::NumpyArray));
    case ValueKind::Storage:
        return storage(d, checkpoint, v.storageUse(), sha256);
    case ValueKind::Tensor:
        return;
    }
}

} // namespace lockstep
