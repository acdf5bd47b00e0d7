// DeepSpeed ZeRO folders, stages 1 to 3: the float32 parameters are put together from the ranks' flat partitions, as
// deepspeed/utils/zero_to_fp32.py does, without loading a class of DeepSpeed.
#include "core/ckpt/bytes.h"
#include "core/ckpt/folder.h"
#include "core/ckpt/readers.h"
#include "core/ckpt/zero_flat.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace lockstep {
namespace {

// Number behind "rank_" in a file name, for the natural order.
std::uint64_t rankOf(const std::string& name)
{
    const std::size_t at = name.find("pp_rank_");
    std::uint64_t rank = 0;
    for (std::size_t i = at == std::string::npos ? name.size() : at + 8;
         i < name.size() && name[i] >= '0' && name[i] <= '9' && rank < 1000000; ++i)
        rank = rank * 10 + static_cast<std::uint64_t>(name[i] - '0');
    return rank;
}

struct Shape {
    std::string_view name;
    std::vector<std::int64_t> dims;
    std::int64_t numel = 1;
};

class ZeroReader
{
public:
    ZeroReader(PickleSession& session, const Folder& step) : s_(session), c_(session.c), folder_(step) {}

    void read()
    {
        // torch's own loader would refuse DeepSpeed's classes; the merge script does not ask it.
        s_.judge = false;
        std::vector<std::string> models;
        std::vector<std::string> optimizers;
        for (const std::string& name : folder_.files()) {
            if (name.ends_with("_model_states.pt"))
                models.push_back(name);
            else if (name.ends_with("_optim_states.pt"))
                optimizers.push_back(name);
        }
        const auto natural = [](const std::string& a, const std::string& b) {
            return std::pair(rankOf(a), a) < std::pair(rankOf(b), b);
        };
        std::sort(models.begin(), models.end(), natural);
        std::sort(optimizers.begin(), optimizers.end(), natural);
        if (models.empty())
            return report(CkptFault::ZeroFiles, "", "can't find *_model_states.pt files in directory");
        if (optimizers.empty())
            return report(CkptFault::ZeroFiles, "", "can't find *_optim_states.pt files in directory");
        const std::size_t before = c_.problems.size();
        std::vector<Value> optimizerStates;
        for (const std::string& name : optimizers)
            if (const NodeId root = readMember(s_, folder_, name); root != kNone)
                optimizerStates.push_back(c_.value(root).get("optimizer_state_dict"));
        for (const std::string& name : models)
            if (const NodeId root = readMember(s_, folder_, name); root != kNone)
                models_.push_back(c_.value(root));
        if (c_.problems.size() > before)
            return;
        if (!readPartitions(optimizerStates, optimizers.size()))
            return;
        merge();
    }

private:
    void report(CkptFault fault, std::string file, std::string why, std::string_view record = {},
                bool fatal = true)
    {
        CkptProblem p;
        p.fault = fault;
        p.file = file.empty() ? folder_.prefix() : folder_.prefix() + file;
        p.why = std::move(why);
        p.record = std::string(record.substr(0, 300));
        p.fatal = fatal;
        c_.report(std::move(p));
    }

    // Name and shape of a parameter; nullopt for what is neither.
    static std::optional<Shape> shapeFrom(Value name, Value sizes)
    {
        Shape shape;
        if (!name.is(ValueKind::Str) || !sizes.valid() || !sizes.appendNumbers(shape.dims))
            return std::nullopt;
        shape.name = name.text();
        for (const std::int64_t n : shape.dims)
            if (n < 0 || !mulInto(shape.numel, n, shape.numel))
                return std::nullopt;
        return shape;
    }

    bool readPartitions(const std::vector<Value>& states, std::size_t files)
    {
        const Value first = states.front();
        if (!first.is(ValueKind::Dict) || !first.get("zero_stage").valid()) {
            report(CkptFault::ZeroFiles, "", "not a ZeRO checkpoint: the optimizer state names no stage");
            return false;
        }
        std::int64_t world = 0;
        const Value count = first.get("partition_count");
        if (count.is(ValueKind::Int))
            world = count.integer();
        for (std::size_t i = 0; count.is(ValueKind::List) && i < count.size(); ++i)
            if (count.item(i).is(ValueKind::Int))
                world = std::max(world, count.item(i).integer());
        if (world != static_cast<std::int64_t>(files)) {
            report(CkptFault::ZeroFiles, "",
                   "Expected " + std::to_string(world) + " of '*_optim_states.pt' but found " +
                       std::to_string(files) +
                       " files. Possibly due to an overwrite of an old checkpoint, or a checkpoint didn't "
                       "get saved by one or more processes.");
            return false;
        }
        stage3_ = first.get("fp32_flat_groups").valid();
        for (const Value& state : states) {
            const Value groups = state.get(stage3_ ? "fp32_flat_groups" : "single_partition_of_fp32_groups");
            if (!groups.is(ValueKind::List)) {
                report(CkptFault::ZeroFiles, "", "an optimizer file without float32 partitions");
                return false;
            }
            ranks_.emplace_back();
            for (std::size_t g = 0; g < groups.size(); ++g) {
                if (!stage3_ || ranks_.back().empty())
                    ranks_.back().emplace_back();
                if (!ranks_.back().back().append(groups.item(g))) {
                    report(CkptFault::ZeroFiles, "", "a partition that is not a tensor");
                    return false;
                }
            }
            if (ranks_.back().size() != ranks_.front().size()) {
                report(CkptFault::ZeroFiles, "", "the ranks have different numbers of parameter groups");
                return false;
            }
        }
        return true;
    }

    void begin() { firstPiece_ = c_.pieces.size(); }

    // Ends a tensor whose pieces were added since begin().
    void add(const Shape& shape, DType dtype)
    {
        if (c_.pieces.size() == firstPiece_) {
            Piece piece; // no elements: an empty range of any partition keeps it a tensor with bytes
            piece.place = Piece::Place::Range;
            piece.tensor = ranks_.front().front().anyTensor();
            c_.pieces.push_back(piece);
        }
        set(shape.name, s_.builder.piecedTensor(dtype, shape.dims, firstPiece_));
    }

    void set(std::string_view name, NodeId node)
    {
        if (!values_.contains(name))
            order_.push_back(name);
        values_[name] = node;
    }

    void merge()
    {
        if (ranks_.front().empty() || ranks_.front().front().anyTensor() == kNone) {
            report(CkptFault::ZeroFiles, "", "no partitions");
            return;
        }
        const Value model = models_.front();
        const Value module = model.get("module");
        const Value names = model.get("buffer_names");
        if (!names.is(ValueKind::List) || !model.get("param_shapes").is(ValueKind::List)) {
            report(CkptFault::ZeroFiles, "", "a model file without buffer_names or param_shapes");
            return;
        }
        std::set<std::string_view> buffers;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names.item(i).is(ValueKind::Str))
                buffers.insert(names.item(i).text());
        for (std::size_t i = 0; module.is(ValueKind::Dict) && i < module.size(); ++i) {
            const Value key = module.key(i);
            const Value value = module.item(i);
            ZeroFlat flat;
            if (!key.is(ValueKind::Str) || !buffers.contains(key.text()) || !flat.append(value))
                continue;
            begin();
            flat.addPieces(c_, 0, flat.size(), 0);
            add(shapeOf(key.text(), value.tensor()), DType::Float32); // the script calls .float() on buffers
        }
        frozen();
        if (stage3_ ? trainable3() : trainable2())
            shared();
        const NodeId root = s_.builder.dict(DictType::Plain);
        for (const std::string_view name : order_) {
            const NodeId key = s_.builder.text(ValueKind::Str, name);
            s_.builder.append(root, {key, values_[name]});
        }
        c_.root = root;
    }

    Shape shapeOf(std::string_view name, const TensorInfo& t) const
    {
        const auto shape = c_.shape(t);
        return {name, {shape.begin(), shape.end()}, c_.elements(t).value_or(0)};
    }

    void frozen()
    {
        const Value shapes = models_.front().get("frozen_param_shapes");
        for (std::size_t i = 0; shapes.is(ValueKind::Dict) && i < shapes.size(); ++i) {
            const auto shape = shapeFrom(shapes.key(i), shapes.item(i));
            if (!shape)
                continue;
            ZeroFlat flat;
            const std::size_t files = stage3_ ? models_.size() : 1;
            DType dtype = DType::Float32;
            bool whole = true;
            for (std::size_t r = 0; r < files; ++r) {
                const Value fragment = models_[r].get("frozen_param_fragments").get(shape->name);
                whole = whole && flat.append(fragment);
                if (whole)
                    dtype = fragment.tensor().dtype;
            }
            if (!whole || flat.size() < shape->numel) {
                report(CkptFault::ZeroPartition, "", "a frozen parameter is not whole", shape->name, false);
                continue;
            }
            begin();
            flat.addPieces(c_, 0, shape->numel, 0);
            add(*shape, dtype);
        }
    }

    // In the words of torch and of DeepSpeed's script.
    void reportExceeded(const Shape& shape, std::int64_t start, std::int64_t length, std::int64_t size)
    {
        report(CkptFault::ZeroPartition, "",
               "start (" + std::to_string(start) + ") + length (" + std::to_string(length) +
                   ") exceeds dimension size (" + std::to_string(size) + ").",
               shape.name, false);
    }
    void reportConsumed(std::int64_t consumed, std::int64_t available)
    {
        report(CkptFault::ZeroPartition, "",
               "consumed " + std::to_string(consumed) + " numels out of " + std::to_string(available) +
                   " - something is wrong",
               {}, false);
    }

    // Stages 1 and 2: per group the ranks' partitions one behind the other are the parameters one behind the other.
    bool trainable2()
    {
        const Value groups = models_.front().get("param_shapes");
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (g >= ranks_.front().size()) {
                report(CkptFault::ZeroPartition, "", "more groups of shapes than partitions", {}, false);
                return false;
            }
            ZeroFlat flat;
            for (const auto& rank : ranks_)
                flat.append(rank[g]);
            std::int64_t offset = 0;
            const Value shapes = groups.item(g);
            for (std::size_t i = 0; shapes.is(ValueKind::Dict) && i < shapes.size(); ++i) {
                const auto shape = shapeFrom(shapes.key(i), shapes.item(i));
                if (!shape)
                    continue;
                std::int64_t end = 0;
                if (!addInto(offset, shape->numel, end) || end > flat.size()) {
                    reportExceeded(*shape, offset, shape->numel, flat.size());
                    return false;
                }
                begin();
                flat.addPieces(c_, offset, shape->numel, 0);
                add(*shape, DType::Float32);
                offset = end;
            }
            // Padded to a multiple of twice the number of ranks.
            const std::int64_t align = 2 * static_cast<std::int64_t>(ranks_.size());
            const auto padded = [align](std::int64_t n) { return (n + align - 1) / align * align; };
            if (padded(offset) != padded(flat.size())) {
                reportConsumed(padded(offset), padded(flat.size()));
                return false;
            }
        }
        return true;
    }

    // Stage 3: every parameter is cut into as many equal parts as there are ranks, the last one padded.
    bool trainable3()
    {
        const auto world = static_cast<std::int64_t>(ranks_.size());
        const Value groups = models_.front().get("param_shapes");
        std::int64_t offset = 0;
        const std::int64_t size = ranks_.front().front().size();
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const Value shapes = groups.item(g);
            for (std::size_t i = 0; shapes.is(ValueKind::Dict) && i < shapes.size(); ++i) {
                const auto shape = shapeFrom(shapes.key(i), shapes.item(i));
                if (!shape)
                    continue;
                const std::int64_t part = shape->numel / world + (shape->numel % world != 0 ? 1 : 0);
                std::int64_t end = 0;
                bool fits = addInto(offset, part, end);
                for (const auto& rank : ranks_)
                    fits = fits && end <= rank.front().size();
                if (!fits) {
                    reportExceeded(*shape, offset, part, size);
                    return false;
                }
                begin();
                for (std::int64_t r = 0; r < world; ++r) {
                    const std::int64_t count =
                        std::min(part, shape->numel - std::min(shape->numel, r * part));
                    if (count > 0)
                        ranks_[static_cast<std::size_t>(r)].front().addPieces(c_, offset, count, r * part);
                }
                add(*shape, DType::Float32);
                offset = end;
            }
        }
        if (offset != size) {
            reportConsumed(offset * world, size * world);
            return false;
        }
        return true;
    }

    void shared()
    {
        const Value pairs = models_.front().get("shared_params");
        for (std::size_t i = 0; pairs.is(ValueKind::Dict) && i < pairs.size(); ++i)
            if (pairs.key(i).is(ValueKind::Str) && pairs.item(i).is(ValueKind::Str))
                if (const auto it = values_.find(pairs.item(i).text()); it != values_.end())
                    set(pairs.key(i).text(), it->second);
    }

    PickleSession& s_;
    Checkpoint& c_;
    const Folder& folder_;
    bool stage3_ = false;
    std::vector<Value> models_;
    std::vector<std::vector<ZeroFlat>> ranks_; // per rank and group; stage 3 has one
    std::size_t firstPiece_ = 0;
    std::vector<std::string_view> order_;
    std::map<std::string_view, NodeId> values_;
};

} // namespace

void readZero(PickleSession& session, const Folder& folder, const Folder& step)
{
    if (&folder != &step)
        for (const std::string& name : step.files())
            session.c.fileNames.push_back(step.prefix() + name);
    ZeroReader(session, step).read();
}

} // namespace lockstep
