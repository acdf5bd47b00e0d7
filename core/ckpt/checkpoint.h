// A checkpoint as data: the tree of values found in a file or folder, its tensors, the storages behind them
// and where their bytes lie. Readers (open.h) fill it, everything else only looks. Nothing here was executed:
// objects of foreign classes are kept by class name with the arguments and state the file gives them.
//
// Ownership: a Checkpoint owns the mapped files and all nodes; Values, spans and string views point into it
// and live as long. Threads: const access from any number of threads.
#pragma once

#include "core/ckpt/dtype.h"
#include "core/ckpt/fault.h"
#include "core/ckpt/mapped_file.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Folder: checkpoint files that belong together (HF Trainer, accelerate), listed by file name.
enum class Container : std::uint8_t {
    Other,
    Zip,
    Legacy,
    Tar,
    Safetensors,
    Pickle,
    Dcp,
    DcpHf,
    HfIndex,
    Zero,
    Folder
};
std::string_view containerName(Container container); // as in the manifest: "zip", "dcp-hf" ...

enum class ValueKind : std::uint8_t {
    None,
    Bool,
    Int,    // fits 64 bits
    BigInt, // two's complement bytes
    Float,
    Complex,
    Str, // UTF-8; lone surrogates may be encoded like other code points
    Bytes,
    ByteArray,
    List,
    Tuple,
    Dict, // dict, OrderedDict, defaultdict, Counter
    Set,
    FrozenSet,
    Size,   // torch.Size
    Global, // a class or function mentioned by name
    Object, // instance of a class this program does not interpret
    Tensor,
    Storage,  // a bare storage
    DtypeRef, // torch.float32
    Device,
    Layout,
    QScheme,
    NumpyArray,
    NumpyScalar,
    NumpyDtype,
};

enum class DictType : std::uint8_t { Plain, Ordered, Default, Counter };

using NodeId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffffu;

// Sixteen bytes per value: a state dict of 50,000 tensors has about half a million of them.
struct Node {
    ValueKind kind = ValueKind::None;
    std::uint8_t flags = 0; // Dict: a DictType; otherwise the reader's own
    std::uint16_t spare = 0;
    std::uint32_t count = 0; // children, or bytes of text
    union {
        std::int64_t integer = 0;
        double real;
        const char* text; // Str, Bytes, Global, ...: not terminated
        struct {
            std::uint32_t first; // into the pool of children
            std::uint32_t capacity;
        } range;
        std::uint32_t index; // tensor, storage use, object
    };
};
static_assert(sizeof(Node) == 16);

enum class Layout : std::uint8_t { Strided, SparseCoo, SparseCsr, SparseCsc, SparseBsr, SparseBsc, Nested };
std::string_view layoutName(Layout layout);

// Part of a tensor whose elements lie somewhere else: a chunk of a DCP shard, a range of a ZeRO partition, a
// tensor of a shard.
struct Piece {
    enum class Place : std::uint8_t {
        Box,   // offsets and sizes in the whole tensor, one of each per dimension
        Range, // `first` and `count` of the row-major elements
    };
    Place place = Place::Box;
    std::uint32_t tensor = kNone; // source tensor in this checkpoint, or kNone: a whole file item (below)
    std::uint32_t dims = 0;       // Box: offsets, then sizes, in Checkpoint::dims
    std::int64_t first = 0;       // Range
    std::int64_t count = 0;
    std::int64_t sourceFirst = 0; // Range: first row-major element of the source
    // DCP: a torch.save archive of its own inside a file, opened when the bytes are asked for.
    std::uint32_t file = kNone;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

struct TensorInfo {
    DType dtype = DType::Float32;
    Layout layout = Layout::Strided;
    std::uint8_t rank = 0;
    bool requiresGrad = false;
    bool conj = false;
    bool neg = false;
    bool parameter = false; // saved as torch.nn.Parameter
    bool wrapper = false;   // DTensor, ShardedTensor: global shape, local tensors among the attributes
    bool strides = true;    // false: the layout has neither strides nor offset
    bool meta = false;      // no bytes exist
    bool shapeKnown = true; // false: nested tensors
    std::uint32_t dims = 0; // shape, then strides (elements), in Checkpoint::dims
    std::uint32_t storage = kNone;
    std::int64_t offset = 0; // elements from the start of the storage
    std::uint32_t firstPiece = 0;
    std::uint32_t pieceCount = 0; // > 0: put together from pieces; storage is kNone
    NodeId pyClass = kNone;       // subclass (a Global node)
    NodeId attributes = kNone;    // state given to a subclass or a tensor with attributes
    NodeId device = kNone;        // Str; for tensors without a storage of their own
    std::uint32_t extra = kNone;  // index into tensorExtras(): quantisation, sparse parts
};

struct TensorExtra {
    std::string_view scheme; // "per_tensor_affine" ...; empty: not quantised
    double scale = 0;
    std::int64_t zeroPoint = 0;
    std::int64_t axis = 0;
    std::vector<std::pair<std::string_view, NodeId>> parts; // "indices", "values", "scales" ...
};

// The bytes behind tensors. Two tensors share memory exactly if their storage index is equal.
struct StorageInfo {
    std::string_view key;       // as written in the file; may be empty
    std::string_view device;    // location tag as written: "cpu", "cuda:0"; empty for formats without one
    std::optional<DType> dtype; // nullopt: UntypedStorage, a storage of bytes
    bool bigEndian = false;
    bool meta = false;             // location tag "meta": no bytes
    std::uint32_t file = 0;        // index into Checkpoint::files; kNone: the bytes are missing
    std::uint32_t archive = kNone; // zip: index into Checkpoint::archives
    std::uint32_t record = kNone;  // zip: record in that archive; kNone together with an archive: missing
    std::int64_t elements = 0;     // as announced
    std::uint64_t bytes = 0;       // size uncompressed
    std::uint64_t offset = 0;      // first byte in the file, where that is known without a zip header
};

// A global named by a pickle. Not resolved, never called.
struct GlobalUse {
    std::string name;         // module.name after the renames of the manifest
    bool allowed = false;     // torch 2.15.0 accepts it with weights_only=True
    std::uint64_t offset = 0; // of the first opcode that names it
    std::uint32_t uses = 0;
};

// A numpy array or scalar kept inside a pickle.
struct NumpyInfo {
    std::string_view dtype; // as numpy writes it: "<f8", "|b1"
    std::string_view bytes;
    std::uint32_t dims = 0;
    std::uint32_t rank = 0;
    bool fortran = false; // `bytes` in column order
    bool objects = false; // elements are Python objects: no bytes
};

// The compressed storage that was inflated last (storage_bytes.cpp).
struct InflatedStorage {
    std::mutex mutex;
    std::uint32_t storage = kNone;
    std::shared_ptr<const std::byte[]> bytes;
};

class ZipArchive;
class Value;

class Checkpoint
{
public:
    Checkpoint();
    ~Checkpoint();
    Checkpoint(Checkpoint&&) noexcept;
    Checkpoint& operator=(Checkpoint&&) noexcept;

    // What it is
    std::string path;
    Container container = Container::Other;
    bool torchScript = false;
    // Whether torch 2.15.0 would load it with weights_only=True; `refusal` is the reason in torch's words.
    bool weightsOnly = true;
    std::string refusal;
    // Damage found so far. Empty: the structure is sound; the bytes of records are checked by integrity.h.
    std::vector<CkptProblem> problems;
    bool damaged() const { return !problems.empty(); }
    // Adds a problem. Beyond 1,000 only fatal ones are kept: a file with that many is beyond help.
    void report(CkptProblem problem);
    const CkptProblem* fatal() const; // the first fatal problem, or nullptr
    // A file that somebody cut short while it was read; asked after reading bytes.
    std::optional<CkptProblem> cutFile() const;
    std::string_view result() const; // "ok", "refused" or "damaged", as in the manifest

    std::vector<GlobalUse> globals; // sorted by name
    std::vector<std::pair<std::string, std::string>> safetensorsMetadata;
    std::vector<std::string> flatKeys;  // DCP
    std::vector<std::string> rankLocal; // DCP: rank-local metadata files
    std::vector<std::string> fileNames; // folders: what it holds, sorted, relative
    std::uint64_t pickleBytes = 0;      // of all pickles and headers read; bounds the listing

    // The tree. `root` is kNone if nothing could be read.
    NodeId root = kNone;
    Value rootValue() const;
    Value value(NodeId id) const;

    std::vector<TensorInfo> tensors;
    std::vector<TensorExtra> extras;
    std::vector<StorageInfo> storages;
    std::vector<Piece> pieces;
    std::vector<NumpyInfo> numpy;
    std::vector<std::int64_t> dims;                       // shapes, strides and boxes of all tensors
    std::vector<std::shared_ptr<const MappedFile>> files; // fileOf(storage) etc.
    std::vector<std::shared_ptr<const ZipArchive>> archives;

    std::span<const std::int64_t> shape(const TensorInfo& t) const { return {dims.data() + t.dims, t.rank}; }
    std::span<const std::int64_t> stride(const TensorInfo& t) const
    {
        return {dims.data() + t.dims + t.rank, t.strides ? t.rank : std::size_t{0}};
    }
    // Number of elements; nullopt if it does not fit 63 bits (legal for broadcast views).
    std::optional<std::int64_t> elements(const TensorInfo& t) const;

    // Node storage; readers only.
    struct ObjectRec {
        NodeId cls = kNone;  // Global
        NodeId args = kNone; // Tuple
        NodeId state = kNone;
        NodeId items = kNone; // Dict
        NodeId list = kNone;  // List
    };
    struct StorageUse {
        std::uint32_t storage = 0;
        std::optional<DType> dtype;
        std::int64_t elements = 0;
    };
    std::vector<Node> nodes;
    std::vector<NodeId> pool;
    std::vector<ObjectRec> objects;
    std::vector<StorageUse> storageUses;
    // State given to OrderedDicts by BUILD ({"_metadata": ...}): not part of the listing, needed to save them
    // again.
    std::vector<std::pair<NodeId, NodeId>> dictStates;
    // Text that had to be decoded or made; a deque so that views stay valid.
    std::deque<std::string> texts;
    std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
    std::shared_ptr<InflatedStorage> inflated = std::make_shared<InflatedStorage>();
    // Inflated pickles and records that views point into.
    std::vector<std::unique_ptr<std::byte[]>> buffers;
};

// A light handle on one value. Accessors may be called only for the kinds named; everything else is our own
// mistake.
class Value
{
public:
    Value() = default;
    Value(const Checkpoint* checkpoint, NodeId id) : c_(checkpoint), id_(id) {}
    bool valid() const { return c_ && id_ != kNone; }
    NodeId id() const { return id_; }
    ValueKind kind() const { return node().kind; }
    bool is(ValueKind kind) const { return valid() && node().kind == kind; }

    bool boolean() const { return node().integer != 0; }
    std::int64_t integer() const { return node().integer; } // Int, Bool
    std::string decimal() const;                            // Int, BigInt
    double real() const { return node().real; }             // Float
    std::complex<double> complexValue() const;
    // Str, Bytes, ByteArray, Global, Device, Layout, QScheme, DtypeRef, NumpyDtype: the characters or bytes.
    std::string_view text() const { return {node().text, node().count}; }

    // List, Tuple, Set, FrozenSet, Size, Dict: number of elements.
    std::size_t size() const;
    Value item(std::size_t i) const; // element, or the value of the i-th dict entry
    Value key(std::size_t i) const;  // Dict
    // Dict: value of a string key; invalid Value if absent. Linear; the last of equal keys wins.
    Value get(std::string_view key) const;

    // Appends the whole numbers of a Size, Tuple or List of at most 255 (a shape, a stride); false for anything else.
    bool appendNumbers(std::vector<std::int64_t>& numbers) const;

    DictType dictType() const { return static_cast<DictType>(node().flags); }
    Value dictState() const; // Dict: state an OrderedDict was given; invalid if none

    // Object: class name and what the file gave it. Absent parts are invalid.
    std::string_view className() const;
    Value args() const;
    Value state() const;
    Value items() const;
    Value list() const;

    const TensorInfo& tensor() const;
    std::uint32_t tensorIndex() const { return node().index; }
    const Checkpoint::StorageUse& storageUse() const;
    const NumpyInfo& numpy() const; // NumpyArray, NumpyScalar

    const Node& node() const { return c_->nodes[id_]; }
    const Checkpoint* checkpoint() const { return c_; }

private:
    const Checkpoint* c_ = nullptr;
    NodeId id_ = kNone;
};

} // namespace lockstep
