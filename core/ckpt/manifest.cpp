#include "core/ckpt/manifest.h"

#include "core/ckpt/integrity.h"
#include "core/ckpt/numpy_bytes.h"
#include "core/ckpt/parallel.h"
#include "core/ckpt/sha256.h"
#include "core/ckpt/stats.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/ckpt/utf8.h"
#include "core/ckpt/walk.h"
#include "core/config/json.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>

namespace lockstep {
namespace {

constexpr std::size_t kLongText = 200;
constexpr std::uint64_t kHashAlways =
    32u << 20; // logical bytes hashed even if the file is tiny: views repeat elements

// One line of the listing; paths lie one behind the other in an arena.
struct Line {
    std::size_t path;
    std::uint32_t pathSize;
    NodeId node;
    std::size_t target = 0;
    std::uint32_t targetSize = 0;
    bool cycle = false;
    bool packed = false;
};

struct Computed {
    std::string sha256; // empty: not computed
    ElementStats stats;
    bool done = false;
};

class ManifestWriter
{
public:
    ManifestWriter(Checkpoint& c, const ManifestOptions& options) : c_(c), options_(options), json_(buffer_)
    {
    }

    std::string write()
    {
        collect();
        if (options_.hash) {
            IntegrityReport report = checkIntegrity(c_, options_.threads);
            for (CkptProblem& p : report.problems)
                addProblem(std::move(p));
            computeAll();
        }
        json_.StartObject();
        field("container", containerName(c_.container));
        if (c_.container == Container::Zip)
            field("contents", c_.torchScript ? "torchscript" : "pickle");
        field("result", c_.result());
        if (!c_.refusal.empty() && !c_.weightsOnly)
            field("refusal", c_.refusal);
        problems();
        globals();
        extras();
        if (!complete_) {
            json_.Key("incomplete");
            json_.Bool(true);
        }
        json_.Key("entries");
        json_.StartArray();
        for (std::size_t i = 0; i < lines_.size(); ++i)
            entry(lines_[i], computed_.empty() ? nullptr : &computed_[i]);
        json_.EndArray();
        json_.EndObject();
        return {buffer_.GetString(), buffer_.GetSize()};
    }

private:
    void text(std::string_view t) { json_.String(t.data(), static_cast<rapidjson::SizeType>(t.size())); }
    void key(const char* name) { json_.Key(name); }
    void field(const char* name, std::string_view value)
    {
        json_.Key(name);
        text(value);
    }
    void field(const char* name, std::uint64_t value)
    {
        json_.Key(name);
        json_.Uint64(value);
    }

    std::string_view pathOf(const Line& l) const
    {
        return std::string_view(paths_).substr(l.path, l.pathSize);
    }

    void collect()
    {
        const WalkResult result = walkLeaves(c_, [this](const Leaf& leaf) {
            Line l;
            l.path = paths_.size();
            l.pathSize = static_cast<std::uint32_t>(leaf.path.size());
            paths_ += leaf.path;
            l.node = leaf.value.id();
            l.cycle = leaf.cycle;
            l.packed = leaf.packed;
            if (leaf.cycle) {
                l.target = paths_.size();
                l.targetSize = static_cast<std::uint32_t>(leaf.target.size());
                paths_ += leaf.target;
            }
            lines_.push_back(l);
        });
        complete_ = result.complete;
        std::sort(lines_.begin(), lines_.end(),
                  [this](const Line& a, const Line& b) { return pathOf(a) < pathOf(b); });
    }

    void addProblem(CkptProblem p)
    {
        constexpr std::size_t kMaxProblems = 2000;
        const auto same = [&](const CkptProblem& q) {
            return q.fault == p.fault && q.offset == p.offset && q.file == p.file;
        };
        if (c_.problems.size() < kMaxProblems && std::none_of(c_.problems.begin(), c_.problems.end(), same))
            c_.problems.push_back(std::move(p));
    }

    void computeAll()
    {
        computed_.resize(lines_.size());
        std::uint64_t allowed = kHashAlways;
        for (const StorageInfo& s : c_.storages)
            allowed += 4 * std::min<std::uint64_t>(s.bytes, 1ULL << 50);
        for (const Piece& p : c_.pieces)
            allowed += 4 * std::min<std::uint64_t>(p.length, 1ULL << 50);
        std::vector<std::size_t> wanted;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const Value v = c_.value(lines_[i].node);
            if (lines_[i].cycle || !(v.is(ValueKind::Tensor) || v.is(ValueKind::Storage)))
                continue;
            std::uint64_t bytes = 0;
            if (v.is(ValueKind::Tensor)) {
                const TensorInfo& t = v.tensor();
                const auto n = c_.elements(t);
                if (t.meta || (t.storage == kNone && t.pieceCount == 0) ||
                    (t.storage != kNone && c_.storages[t.storage].meta))
                    continue;
                if (!n || static_cast<std::uint64_t>(*n) > allowed / itemSize(t.dtype))
                    continue; // a view that repeats elements beyond all measure: shown, not summed up
                bytes = static_cast<std::uint64_t>(*n) * itemSize(t.dtype);
            } else {
                bytes = std::min(c_.storages[v.storageUse().storage].bytes, allowed);
            }
            allowed -= bytes;
            wanted.push_back(i);
        }
        std::mutex mutex;
        parallelFor(wanted.size(), options_.threads, [&](std::size_t k) {
            const Value v = c_.value(lines_[wanted[k]].node);
            auto bytes = v.is(ValueKind::Tensor) ? TensorBytes::open(c_, v.tensor())
                                                 : TensorBytes::openStorage(c_, v.storageUse().storage);
            if (!bytes) {
                const std::lock_guard lock(mutex);
                addProblem(bytes.problem());
                return;
            }
            Computed& result = computed_[wanted[k]];
            Sha256 sha;
            bytes->forEachBlock([&](std::span<const std::byte> block) {
                sha.update(block);
                if (v.is(ValueKind::Tensor))
                    accumulate(bytes->dtype(), block, result.stats);
                return true;
            });
            result.sha256 = sha.hex();
            result.done = true;
        });
    }

    void problem(const CkptProblem& p)
    {
        json_.StartObject();
        field("kind", ckptFaultName(p.fault));
        field("offset", p.offset);
        if (!p.file.empty())
            field("file", printable(p.file));
        if (!p.record.empty())
            field("record", printable(p.record));
        field("sentence", printable(p.toError().sentence()));
        json_.EndObject();
    }

    void problems()
    {
        if (c_.problems.empty())
            return;
        const CkptProblem* first = c_.fatal();
        key("error");
        problem(first ? *first : c_.problems.front());
        key("problems");
        json_.StartArray();
        for (const CkptProblem& p : c_.problems)
            problem(p);
        json_.EndArray();
    }

    void globals()
    {
        key("globals");
        json_.StartArray();
        for (const GlobalUse& g : c_.globals)
            text(g.name);
        json_.EndArray();
        key("blocked_globals");
        json_.StartArray();
        for (const GlobalUse& g : c_.globals)
            if (!g.allowed)
                text(g.name);
        json_.EndArray();
    }

    void extras()
    {
        if (c_.container == Container::Safetensors) {
            key("st_metadata");
            if (c_.safetensorsMetadata.empty()) {
                json_.Null();
            } else {
                json_.StartObject();
                for (const auto& [name, value] : c_.safetensorsMetadata) {
                    json_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
                    text(value);
                }
                json_.EndObject();
            }
        }
        strings("files", c_.fileNames);
        strings("flat_keys", c_.flatKeys);
        strings("rank_local", c_.rankLocal);
    }

    void strings(const char* name, const std::vector<std::string>& list)
    {
        if (list.empty())
            return;
        key(name);
        json_.StartArray();
        for (const std::string& s : list)
            text(s);
        json_.EndArray();
    }

    void numbers(const char* name, std::span<const std::int64_t> values)
    {
        key(name);
        json_.StartArray();
        for (const std::int64_t v : values)
            json_.Int64(v);
        json_.EndArray();
    }

    void null(const char* name)
    {
        key(name);
        json_.Null();
    }

    void number(const char* name, double value)
    {
        key(name);
        if (std::isinf(value))
            text(value < 0 ? "-inf" : "inf");
        else
            json_.Double(value);
    }

    void exact(const char* name, const ExactNumber& value)
    {
        if (const auto* i = std::get_if<std::int64_t>(&value)) {
            key(name);
            json_.Int64(*i);
        } else if (const auto* u = std::get_if<std::uint64_t>(&value)) {
            field(name, *u);
        } else if (const auto* d = std::get_if<double>(&value)) {
            number(name, *d);
        } else {
            null(name);
        }
    }

    static std::string hexBits(double value)
    {
        char digits[20];
        std::snprintf(digits, sizeof digits, "%016llx",
                      static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)));
        return digits;
    }

    void entry(const Line& l, const Computed* computed)
    {
        const Value v = c_.value(l.node);
        json_.StartObject();
        field("path", pathOf(l));
        if (l.cycle) {
            field("kind", "other");
            field("py", "cycle");
            field("target", std::string_view(paths_).substr(l.target, l.targetSize));
        } else if (v.is(ValueKind::Tensor)) {
            tensor(v.tensor(), computed);
        } else {
            plain(v, l.packed, computed);
        }
        json_.EndObject();
    }

    void tensor(const TensorInfo& t, const Computed* computed)
    {
        const bool own = t.storage != kNone;
        const bool folder = c_.container == Container::Safetensors || t.pieceCount > 0 || isFolder();
        field("kind", "tensor");
        field("dtype", dtypeInfo(t.dtype).name);
        if (t.shapeKnown)
            numbers("shape", c_.shape(t));
        else
            null("shape");
        key("grad");
        json_.Bool(!folder && t.requiresGrad);
        if (t.pyClass != kNone)
            field("py", c_.value(t.pyClass).text());
        if (t.parameter)
            flag("param");
        if (t.layout != Layout::Strided)
            field("layout", layoutName(t.layout));
        if (t.wrapper)
            flag("wrapper");
        const TensorExtra* extra = t.extra == kNone ? nullptr : &c_.extras[t.extra];
        if (extra && !extra->scheme.empty())
            quantised(*extra);
        if (t.conj && !folder)
            flag("conj");
        if (t.neg && !folder)
            flag("neg");
        if (!t.strides) {
            null("stride");
            null("offset");
        } else if (folder) {
            rowMajor(t);
        } else {
            numbers("stride", c_.stride(t));
            key("offset");
            json_.Int64(t.offset);
        }
        if (own && !folder)
            field("storage", static_cast<std::uint64_t>(t.storage));
        else
            null("storage");
        if (folder)
            null("device");
        else if (own)
            field("device", c_.storages[t.storage].device);
        else if (t.device != kNone)
            field("device", c_.value(t.device).text());
        else
            null("device");
        if (t.pieceCount > 0)
            pieces(t);
        if (!computed || !computed->done) {
            null("sha256");
            return;
        }
        field("sha256", computed->sha256);
        if (!hasStatistics(t.dtype))
            return;
        const ElementStats& s = computed->stats;
        field("nan", s.nan);
        field("inf", s.inf);
        exact("min", s.min);
        exact("max", s.max);
        number("l2", s.l2());
    }

    bool isFolder() const
    {
        return c_.container == Container::Dcp || c_.container == Container::DcpHf ||
               c_.container == Container::HfIndex || c_.container == Container::Zero;
    }

    void flag(const char* name)
    {
        key(name);
        json_.Bool(true);
    }

    void quantised(const TensorExtra& extra)
    {
        key("q");
        json_.StartObject();
        field("scheme", extra.scheme);
        if (extra.parts.empty()) {
            number("scale", extra.scale);
            key("zero_point");
            json_.Int64(extra.zeroPoint);
        } else {
            key("axis");
            json_.Int64(extra.axis);
        }
        json_.EndObject();
    }

    void rowMajor(const TensorInfo& t)
    {
        const auto shape = c_.shape(t);
        std::vector<std::int64_t> stride(shape.size());
        std::uint64_t step = 1;
        for (std::size_t d = shape.size(); d-- > 0;) {
            stride[d] = static_cast<std::int64_t>(step);
            step *= static_cast<std::uint64_t>(std::max<std::int64_t>(shape[d], 1));
        }
        numbers("stride", stride);
        key("offset");
        json_.Int64(0);
    }

    void pieces(const TensorInfo& t)
    {
        key("chunks");
        json_.StartArray();
        for (std::uint32_t i = 0; i < t.pieceCount; ++i) {
            const Piece& p = c_.pieces[t.firstPiece + i];
            json_.StartObject();
            if (p.place == Piece::Place::Box) {
                const auto box = std::span<const std::int64_t>(c_.dims).subspan(p.dims, 2u * t.rank);
                numbers("offsets", box.first(t.rank));
                numbers("sizes", box.last(t.rank));
            } else {
                key("first");
                json_.Int64(p.first);
                key("count");
                json_.Int64(p.count);
            }
            if (p.file != kNone) {
                field("file", c_.files[p.file]->name());
                field("offset", p.offset);
                field("length", p.length);
            }
            json_.EndObject();
        }
        json_.EndArray();
    }

    void scalar(const char* py, std::string_view value)
    {
        field("kind", "scalar");
        field("py", py);
        field("value", value);
    }

    void other(std::string_view py)
    {
        field("kind", "other");
        field("py", py);
    }

    void withLength(std::string_view bytes)
    {
        field("len", static_cast<std::uint64_t>(bytes.size()));
        field("sha256", Sha256::hexOf(bytes));
    }

    void plain(Value v, bool packed, const Computed* computed)
    {
        switch (v.kind()) {
        case ValueKind::None:
            return scalar("NoneType", "None");
        case ValueKind::Bool:
            return scalar("bool", v.boolean() ? "True" : "False");
        case ValueKind::Int:
        case ValueKind::BigInt:
            return scalar("int", v.decimal());
        case ValueKind::Float:
            return scalar("float", hexBits(v.real()));
        case ValueKind::Complex:
            return scalar("complex", hexBits(v.complexValue().real()) + hexBits(v.complexValue().imag()));
        case ValueKind::Str:
            field("kind", "str");
            if (v.text().size() > kLongText)
                withLength(v.text());
            else
                field("value", v.text());
            return;
        case ValueKind::Bytes:
        case ValueKind::ByteArray:
            other(v.is(ValueKind::Bytes) ? "bytes" : "bytearray");
            return withLength(v.text());
        case ValueKind::List:
        case ValueKind::Tuple: {
            other(v.is(ValueKind::List) ? "list" : "tuple");
            field("len", static_cast<std::uint64_t>(v.size()));
            if (!packed)
                return;
            Sha256 sha;
            std::string decimal;
            for (std::size_t i = 0; i < v.size(); ++i) {
                decimal = i > 0 ? "," : "";
                decimal += v.item(i).decimal();
                sha.update(decimal);
            }
            field("sha256", sha.hex());
            return;
        }
        case ValueKind::Dict:
            other("dict");
            return field("len", std::uint64_t{0});
        case ValueKind::Set:
        case ValueKind::FrozenSet:
            other(v.is(ValueKind::Set) ? "set" : "frozenset");
            return field("len", static_cast<std::uint64_t>(v.size()));
        case ValueKind::Size: {
            other("torch.Size");
            std::string value;
            for (std::size_t i = 0; i < v.size(); ++i)
                value += (i > 0 ? "," : "") + v.item(i).decimal();
            return field("value", value);
        }
        case ValueKind::Global:
            other("global");
            return field("value", v.text());
        case ValueKind::Object:
            return other(v.className());
        case ValueKind::DtypeRef:
            other("torch.dtype");
            return field("value", v.text());
        case ValueKind::Device:
            other("torch.device");
            return field("value", v.text());
        case ValueKind::Layout:
            other("torch.layout");
            return field("value", v.text());
        case ValueKind::QScheme:
            other("torch.qscheme");
            return field("value", v.text());
        case ValueKind::NumpyDtype:
            other("numpy.dtype");
            return field("value", v.text());
        case ValueKind::NumpyArray:
        case ValueKind::NumpyScalar:
            other(v.is(ValueKind::NumpyArray) ? "numpy.ndarray" : "numpy.scalar");
            return numpy(v.numpy(), v.is(ValueKind::NumpyArray));
        case ValueKind::Storage: {
            const auto& use = v.storageUse();
            const StorageInfo& s = c_.storages[use.storage];
            other("torch.storage");
            field("dtype", use.dtype ? dtypeInfo(*use.dtype).name : std::string_view("untyped"));
            key("numel");
            json_.Int64(use.elements);
            field("storage", static_cast<std::uint64_t>(use.storage));
            field("device", s.device);
            if (computed && computed->done)
                return field("sha256", computed->sha256);
            return null("sha256");
        }
        case ValueKind::Tensor:
            return;
        }
    }

    void numpy(const NumpyInfo& n, bool array)
    {
        field("np_dtype", numpyDtype(n));
        if (array)
            numbers("shape", std::span<const std::int64_t>(c_.dims).subspan(n.dims, n.rank));
        if (const auto bytes = numpyBytes(c_, n))
            field("sha256", Sha256::hexOf(*bytes));
        else
            null("sha256");
    }

    Checkpoint& c_;
    const ManifestOptions& options_;
    rapidjson::StringBuffer buffer_;
    JsonWriter json_;
    std::string paths_;
    std::vector<Line> lines_;
    std::vector<Computed> computed_;
    bool complete_ = true;
};

} // namespace

std::string manifestJson(Checkpoint& checkpoint, const ManifestOptions& options)
{
    return ManifestWriter(checkpoint, options).write();
}

} // namespace lockstep
