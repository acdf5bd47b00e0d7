#include "core/ckpt/manifest.h"

#include "core/ckpt/integrity.h"
#include "core/ckpt/listing.h"
#include "core/ckpt/manifest_values.h"
#include "core/ckpt/strides.h"
#include "core/ckpt/walk.h"

#include <algorithm>

namespace lockstep {
namespace {

// Once each; a file with more problems than this is beyond help.
void addProblems(Checkpoint& c, std::vector<CkptProblem> problems)
{
    constexpr std::size_t kMaxProblems = 2000;
    for (CkptProblem& p : problems) {
        const auto same = [&](const CkptProblem& q) {
            return q.fault == p.fault && q.offset == p.offset && q.file == p.file;
        };
        if (c.problems.size() < kMaxProblems && std::none_of(c.problems.begin(), c.problems.end(), same))
            c.problems.push_back(std::move(p));
    }
}

class ManifestWriter
{
public:
    ManifestWriter(const Checkpoint& c, const Listing& listing) : c_(c), listing_(listing) {}

    std::string write()
    {
        d_.json.StartObject();
        d_.field("container", containerName(c_.container));
        if (c_.container == Container::Zip)
            d_.field("contents", c_.torchScript ? "torchscript" : "pickle");
        d_.field("result", c_.result());
        if (!c_.refusal.empty() && !c_.weightsOnly)
            d_.field("refusal", c_.refusal);
        problems();
        globals();
        safetensorsMetadata();
        files();
        if (!listing_.complete())
            d_.flag("incomplete", true);
        d_.key("entries");
        d_.json.StartArray();
        for (const Listing::Line& line : listing_.lines())
            entry(line);
        d_.json.EndArray();
        d_.json.EndObject();
        return d_.text();
    }

private:
    void problem(const CkptProblem& p)
    {
        d_.json.StartObject();
        d_.field("kind", ckptFaultName(p.fault));
        d_.field("offset", p.offset);
        if (!p.file.empty())
            d_.field("file", printable(p.file));
        if (!p.record.empty())
            d_.field("record", printable(p.record));
        d_.field("sentence", printable(p.toError().sentence()));
        d_.json.EndObject();
    }

    void problems()
    {
        if (c_.problems.empty())
            return;
        const CkptProblem* first = c_.fatal();
        d_.key("error");
        problem(first ? *first : c_.problems.front());
        d_.key("problems");
        d_.json.StartArray();
        for (const CkptProblem& p : c_.problems)
            problem(p);
        d_.json.EndArray();
    }

    void globals()
    {
        std::vector<std::string> all, blocked;
        for (const GlobalUse& g : c_.globals) {
            all.push_back(g.name);
            if (!g.allowed)
                blocked.push_back(g.name);
        }
        d_.list("globals", all);
        d_.list("blocked_globals", blocked);
    }

    void safetensorsMetadata()
    {
        if (c_.container != Container::Safetensors)
            return;
        if (c_.safetensorsMetadata.empty())
            return d_.null("st_metadata");
        d_.key("st_metadata");
        d_.json.StartObject();
        for (const auto& [name, value] : c_.safetensorsMetadata)
            d_.field(name, value);
        d_.json.EndObject();
    }

    void files()
    {
        for (const auto& [name, list] :
             {std::pair{"files", &c_.fileNames}, std::pair{"flat_keys", &c_.flatKeys},
              std::pair{"rank_local", &c_.rankLocal}})
            if (!list->empty())
                d_.list(name, *list);
    }

    void entry(const Listing::Line& line)
    {
        const Value v = c_.value(line.node);
        d_.json.StartObject();
        d_.field("path", listing_.path(line));
        if (line.cycle) {
            d_.field("kind", "other");
            d_.field("py", "cycle");
            d_.field("target", listing_.target(line));
        } else if (v.is(ValueKind::Tensor)) {
            tensor(v.tensor());
            contents(v.tensor(), listing_.contents(line));
        } else {
            const Contents* contents = listing_.contents(line);
            writePlainValue(d_, c_, v, line.packed, contents ? contents->sha256 : std::string_view());
        }
        d_.json.EndObject();
    }

    // In folders and safetensors tensors have no storages, devices or bits of their own.
    bool inFolder(const TensorInfo& t) const
    {
        switch (c_.container) {
        case Container::Safetensors:
        case Container::Dcp:
        case Container::DcpHf:
        case Container::HfIndex:
        case Container::Zero:
            return true;
        default:
            return t.pieceCount > 0;
        }
    }

    void tensor(const TensorInfo& t)
    {
        const bool folder = inFolder(t);
        d_.field("kind", "tensor");
        d_.field("dtype", dtypeInfo(t.dtype).name);
        if (t.shapeKnown)
            d_.list("shape", c_.shape(t));
        else
            d_.null("shape");
        d_.flag("grad", !folder && t.requiresGrad);
        if (t.pyClass != kNone)
            d_.field("py", c_.value(t.pyClass).text());
        if (t.layout != Layout::Strided)
            d_.field("layout", layoutName(t.layout));
        for (const auto& [name, set] :
             {std::pair{"param", t.parameter}, std::pair{"wrapper", t.wrapper},
              std::pair{"conj", t.conj && !folder}, std::pair{"neg", t.neg && !folder}})
            if (set)
                d_.flag(name, true);
        if (t.extra != kNone && !c_.extras[t.extra].scheme.empty())
            quantised(c_.extras[t.extra]);
        place(t, folder);
        if (t.pieceCount > 0)
            pieces(t);
    }

    void place(const TensorInfo& t, bool folder)
    {
        if (!t.strides) {
            d_.null("stride");
            d_.null("offset");
        } else if (folder) {
            d_.list("stride", rowMajorStride(c_.shape(t)));
            d_.integer("offset", 0);
        } else {
            d_.list("stride", c_.stride(t));
            d_.integer("offset", t.offset);
        }
        if (folder || (t.storage == kNone && t.device == kNone)) {
            d_.null("storage");
            d_.null("device");
        } else if (t.storage == kNone) {
            d_.null("storage");
            d_.field("device", c_.value(t.device).text());
        } else {
            d_.field("storage", std::uint64_t{t.storage});
            d_.field("device", c_.storages[t.storage].device);
        }
    }

    void quantised(const TensorExtra& extra)
    {
        d_.key("q");
        d_.json.StartObject();
        d_.field("scheme", extra.scheme);
        if (extra.parts.empty()) {
            d_.real("scale", extra.scale);
            d_.integer("zero_point", extra.zeroPoint);
        } else {
            d_.integer("axis", extra.axis);
        }
        d_.json.EndObject();
    }

    void pieces(const TensorInfo& t)
    {
        d_.key("chunks");
        d_.json.StartArray();
        for (std::uint32_t i = 0; i < t.pieceCount; ++i) {
            const Piece& p = c_.pieces[t.firstPiece + i];
            d_.json.StartObject();
            if (p.place == Piece::Place::Box) {
                const auto box = std::span<const std::int64_t>(c_.dims).subspan(p.dims, 2u * t.rank);
                d_.list("offsets", box.first(t.rank));
                d_.list("sizes", box.last(t.rank));
            } else {
                d_.integer("first", p.first);
                d_.integer("count", p.count);
            }
            if (p.file != kNone) {
                d_.field("file", c_.files[p.file]->name());
                d_.field("offset", p.offset);
                d_.field("length", p.length);
            }
            d_.json.EndObject();
        }
        d_.json.EndArray();
    }

    void contents(const TensorInfo& t, const Contents* contents)
    {
        if (!contents)
            return d_.null("sha256");
        d_.field("sha256", contents->sha256);
        if (!hasStatistics(t.dtype))
            return;
        const ElementStats& stats = contents->stats;
        d_.field("nan", stats.nan);
        d_.field("inf", stats.inf);
        d_.number("min", stats.min);
        d_.number("max", stats.max);
        d_.real("l2", stats.l2());
    }

    const Checkpoint& c_;
    const Listing& listing_;
    CkptJson d_;
};

} // namespace

std::string manifestJson(Checkpoint& checkpoint, const ManifestOptions& options)
{
    Listing listing(checkpoint);
    if (options.hash) {
        addProblems(checkpoint, checkIntegrity(checkpoint, options.threads).problems);
        std::vector<CkptProblem> unread;
        listing.readContents(checkpoint, options.threads, unread);
        if (auto cut = checkpoint.cutFile())
            unread.insert(unread.begin(), std::move(*cut));
        addProblems(checkpoint, std::move(unread));
    }
    return ManifestWriter(checkpoint, listing).write();
}

} // namespace lockstep
