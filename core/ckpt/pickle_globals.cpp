#include "core/ckpt/pickle_globals.h"

#include <algorithm>
#include <array>

namespace lockstep {
namespace {

struct Known {
    std::string_view name;
    KnownCall call;
};
using C = KnownCall;

constexpr std::array kKnown = {
    Known{"torch._utils._rebuild_tensor", C::RebuildTensor},
    Known{"torch._utils._rebuild_tensor_v2", C::RebuildTensorV2},
    Known{"torch._utils._rebuild_tensor_v3", C::RebuildTensorV3},
    Known{"torch._utils._rebuild_parameter", C::RebuildParameter},
    Known{"torch._utils._rebuild_parameter_with_state", C::RebuildParameterWithState},
    Known{"torch._utils._rebuild_qtensor", C::RebuildQTensor},
    Known{"torch._utils._rebuild_sparse_tensor", C::RebuildSparse},
    Known{"torch._utils._rebuild_sparse_csr_tensor", C::RebuildSparse},
    Known{"torch._utils._rebuild_meta_tensor_no_storage", C::RebuildMeta},
    Known{"torch._utils._rebuild_nested_tensor", C::RebuildNested},
    Known{"torch._utils._rebuild_wrapper_subclass", C::RebuildWrapper},
    Known{"torch._tensor._rebuild_from_type_v2", C::RebuildFromTypeV2},
    Known{"torch.jit._pickle.build_intlist", C::JitValue},
    Known{"torch.jit._pickle.build_doublelist", C::JitValue},
    Known{"torch.jit._pickle.build_boollist", C::JitValue},
    Known{"torch.jit._pickle.build_tensorlist", C::JitValue},
    Known{"torch.jit._pickle.restore_type_tag", C::JitValue},
    Known{"torch.jit._pickle.build_tensor_from_id", C::JitValue},
    Known{"torch.serialization._maybe_decode_ascii", C::JitValue},
    Known{"torch.storage._load_from_bytes", C::LoadFromBytes},
    Known{"torch.Size", C::Size},
    Known{"torch.device", C::Device},
    Known{"torch.serialization._get_layout", C::GetLayout},
    Known{"collections.OrderedDict", C::OrderedDict},
    Known{"collections.defaultdict", C::DefaultDict},
    Known{"collections.Counter", C::Counter},
    Known{"_codecs.encode", C::Encode},
    Known{"builtins.set", C::Set},
    Known{"builtins.frozenset", C::FrozenSet},
    Known{"builtins.complex", C::Complex},
    Known{"builtins.bytearray", C::ByteArray},
    Known{"builtins.bytes", C::Bytes},
    Known{"builtins.getattr", C::GetAttr},
    Known{"copyreg._reconstructor", C::Reconstructor},
    Known{"numpy.core.multiarray._reconstruct", C::NumpyReconstruct},
    Known{"numpy._core.multiarray._reconstruct", C::NumpyReconstruct},
    Known{"numpy.core.multiarray.scalar", C::NumpyScalar},
    Known{"numpy._core.multiarray.scalar", C::NumpyScalar},
    Known{"numpy.dtype", C::NumpyDtype},
};

// Element types torch writes by name but keeps no tensor of in practice, beside those of dtype.h.
constexpr std::array<std::string_view, 20> kOtherTypes = {
    "bcomplex32", "bits16", "bits1x8", "bits2x4", "bits4x2", "bits8", "int1",  "int2",  "int3",  "int4",
    "int5",       "int6",   "int7",    "uint1",   "uint2",   "uint3", "uint4", "uint5", "uint6", "uint7"};

// Other names of element types. torch writes the first column's meaning; scripts may name the second.
struct Alias {
    std::string_view alias;
    std::string_view name;
};
constexpr std::array kAliases = {
    Alias{"float", "float32"},    Alias{"double", "float64"},     Alias{"half", "float16"},
    Alias{"int", "int32"},        Alias{"long", "int64"},         Alias{"short", "int16"},
    Alias{"cfloat", "complex64"}, Alias{"cdouble", "complex128"}, Alias{"chalf", "complex32"},
};

constexpr std::array<std::string_view, 5> kSchemes = {"per_tensor_affine", "per_tensor_symmetric",
                                                      "per_channel_affine", "per_channel_symmetric",
                                                      "per_channel_affine_float_qparams"};

constexpr std::array<std::string_view, 26> kAllowed = {
    "_codecs.encode",
    "builtins.bytearray",
    "builtins.complex",
    "builtins.set",
    "collections.Counter",
    "collections.OrderedDict",
    "torch.Size",
    "torch.Tensor",
    "torch._tensor._rebuild_from_type_v2",
    "torch._utils._rebuild_device_tensor_from_cpu_tensor",
    "torch._utils._rebuild_device_tensor_from_numpy",
    "torch._utils._rebuild_meta_tensor_no_storage",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
    "torch._utils._rebuild_qtensor",
    "torch._utils._rebuild_sparse_tensor",
    "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_wrapper_subclass",
    "torch.device",
    "torch.nn.parameter.Parameter",
    "torch.serialization._get_layout",
    "torch.storage.TypedStorage",
    "torch.storage.UntypedStorage",
    "torch.BFloat16Tensor",
};

bool in(std::string_view word, std::initializer_list<std::string_view> words)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

// "Float" of FloatTensor and FloatStorage classes that exist in module `module`.
bool tensorClassAllowed(std::string_view module, std::string_view stem)
{
    const bool plain =
        in(stem, {"Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long"});
    if (in(module, {"torch", "torch.cuda"}))
        return plain || stem == "Bool";
    return in(module, {"torch.sparse", "torch.cuda.sparse"}) && plain;
}

bool storageClassAllowed(std::string_view module, std::string_view stem)
{
    if (module == "torch")
        return true;
    return module == "torch.cuda" && !stem.starts_with('Q');
}

bool endsOff(std::string_view& name, std::string_view tail)
{
    if (!name.ends_with(tail))
        return false;
    name.remove_suffix(tail.size());
    return true;
}

} // namespace

GlobalMeaning meaningOfGlobal(std::string_view module, std::string_view name)
{
    if (module == "__builtin__")
        module = "builtins";
    else if (module == "copy_reg")
        module = "copyreg";
    if (module == "builtins") {
        if (name == "long")
            name = "int";
        else if (name == "unicode")
            name = "str";
        else if (name == "xrange")
            name = "range";
    }
    GlobalMeaning meaning;
    meaning.name.reserve(module.size() + 1 + name.size());
    meaning.name.append(module).append(1, '.').append(name);

    const auto known =
        std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.name == meaning.name; });
    if (known != kKnown.end())
        meaning.call = known->call;
    meaning.allowed = std::find(kAllowed.begin(), kAllowed.end(), meaning.name) != kAllowed.end();

    if (in(module, {"torch", "torch.storage", "torch.cuda"}) && name.ends_with("Storage")) {
        std::string_view stem = name;
        endsOff(stem, "Storage");
        const auto type = dtypeFromStorageClass(name);
        if (type || stem == "Untyped") {
            meaning.storageClass = true;
            meaning.storageType = type;
            meaning.allowed = meaning.allowed || (type && storageClassAllowed(module, stem));
        }
    }
    if (std::string_view stem = name; endsOff(stem, "Tensor") && tensorClassAllowed(module, stem))
        meaning.allowed = true;
    if (module == "torch") {
        const auto alias = std::find_if(kAliases.begin(), kAliases.end(),
                                        [name](const Alias& a) { return a.alias == name; });
        if (const auto type = dtypeFromName(name))
            meaning.dtype = dtypeInfo(*type).name;
        else if (const auto other = std::find(kOtherTypes.begin(), kOtherTypes.end(), name);
                 other != kOtherTypes.end())
            meaning.dtype = *other;
        else if (alias != kAliases.end())
            meaning.dtype = alias->name;
        if (!meaning.dtype.empty())
            meaning.allowed = alias == kAliases.end();
        if (const auto scheme = std::find(kSchemes.begin(), kSchemes.end(), name); scheme != kSchemes.end()) {
            meaning.scheme = *scheme;
            meaning.allowed = true;
        }
    }
    return meaning;
}

} // namespace lockstep
