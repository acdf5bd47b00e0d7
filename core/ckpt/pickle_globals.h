// What the names in a pickle mean: which globals this program turns into plain values, and which ones torch 2.15.0 accepts with
// weights_only=True (torch/_weights_only_unpickler.py, _get_allowed_globals). Names are never resolved to code.
#pragma once

#include "core/ckpt/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

// Functions and classes whose calls build plain values; everything else becomes an Object with its arguments.
enum class KnownCall : std::uint8_t {
    None,
    RebuildTensor,
    RebuildTensorV2,
    RebuildTensorV3,
    RebuildParameter,
    RebuildParameterWithState,
    RebuildQTensor,
    RebuildSparse,
    RebuildMeta,
    RebuildNested,
    RebuildWrapper,
    RebuildFromTypeV2,
    JitValue, // torch.jit._pickle.build_*: gives back its first argument
    OrderedDict,
    DefaultDict,
    Counter,
    Size,
    Device,
    GetLayout,
    Encode,
    Set,
    FrozenSet,
    Complex,
    ByteArray,
    Bytes,
    NumpyReconstruct,
    NumpyScalar,
    NumpyDtype,
    GetAttr,
    Reconstructor,
    LoadFromBytes,
};

struct GlobalMeaning {
    std::string name; // as the manifest writes it: Python 2 names replaced
    KnownCall call = KnownCall::None;
    bool allowed = false;
    bool storageClass = false;
    std::optional<DType> storageType; // storage class: its element type, nullopt for UntypedStorage
    std::string_view dtype;           // "float32" for torch.float32; empty: not an element type
    std::string_view scheme;          // "per_tensor_affine"; empty: not a quantisation scheme
};

GlobalMeaning meaningOfGlobal(std::string_view module, std::string_view name);

} // namespace lockstep
