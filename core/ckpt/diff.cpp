#include "core/ckpt/diff.h"

#include "core/ckpt/parallel.h"
#include "core/ckpt/storage_use.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/ckpt/walk.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unordered_map>

namespace lockstep {
namespace {

// Elements handed to one thread at a time: large tensors are cut, so that two huge ones keep all cores busy.
constexpr std::uint64_t kChunk = 2 << 20;

struct Side {
    const Checkpoint* checkpoint;
    std::vector<NamedTensor> tensors;
};

// One pair of tensors that is compared element by element.
struct Job {
    KeyDiff* key;
    std::optional<TensorBytes> a;
    std::optional<TensorBytes> b;
    std::mutex mutex; // guards key->elements while parts are merged

    explicit Job(KeyDiff* k) : key(k) {}
};

struct Part {
    Job* job;
    std::uint64_t first;
    std::uint64_t count;
};

// Asks for the pages of a mapped range in one call instead of one fault for every 64 KiB.
void willRead(const std::byte* p, std::uint64_t bytes)
{
#if defined(MADV_POPULATE_READ)
    if (bytes < (256 << 10))
        return;
    const auto start = reinterpret_cast<std::uintptr_t>(p) & ~std::uintptr_t{4095};
    const auto end = reinterpret_cast<std::uintptr_t>(p) + bytes;
    ::madvise(reinterpret_cast<void*>(start), end - start,
              MADV_POPULATE_READ); // a hint: failure changes nothing
#else
    (void)p, (void)bytes;
#endif
}

// Elements [first, first + count) of a tensor: in place if they lie together, else copied block by block.
class Window
{
public:
    Window(const TensorBytes& bytes, std::uint64_t first, std::uint64_t count) : bytes_(bytes), base_(first)
    {
        size_ = bytes.elementSize();
        if (const std::byte* all = bytes.contiguous()) {
            direct_ = all + first * size_;
            willRead(direct_, count * size_);
        }
    }
    const std::byte* block(std::uint64_t offset, std::size_t count)
    {
        if (direct_)
            return direct_ + offset * size_;
        buffer_.resize(count * size_);
        bytes_.read(base_ + offset, count, buffer_.data());
        return buffer_.data();
    }
    bool direct() const { return direct_ != nullptr; }

private:
    const TensorBytes& bytes_;
    std::uint64_t base_;
    std::size_t size_ = 1;
    const std::byte* direct_ = nullptr;
    std::vector<std::byte> buffer_;
};

void comparePart(const Part& part)
{
    Job& job = *part.job;
    Window a(*job.a, part.first, part.count), b(*job.b, part.first, part.count);
    ElementDiff total;
    const std::uint64_t step = a.direct() && b.direct() ? part.count : 1 << 16;
    for (std::uint64_t done = 0; done < part.count; done += step) {
        const auto n = static_cast<std::size_t>(std::min(step, part.count - done));
        accumulateDiff(job.a->dtype(), a.block(done, n), job.b->dtype(), b.block(done, n), n, total);
    }
    const std::lock_guard lock(job.mutex);
    job.key->elements.merge(total);
}

// Whether b, of shape columns x rows, is the transpose of a, of shape rows x columns, bit by bit.
bool isTransposed(const TensorBytes& a, const TensorBytes& b, std::int64_t rows, std::int64_t columns)
{
    if (a.dtype() != b.dtype() || a.elements() != b.elements())
        return false;
    const DenseElements denseA(a), denseB(b);
    const std::byte* p = denseA.data();
    const std::byte* q = denseB.data();
    const std::size_t size = a.elementSize();
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c)
            if (std::memcmp(p + static_cast<std::size_t>(r * columns + c) * size,
                            q + static_cast<std::size_t>(c * rows + r) * size, size) != 0)
                return false;
    return true;
}

DiffStatus elementStatus(const KeyDiff& key)
{
    if (key.typeA != key.typeB)
        return DiffStatus::Type;
    if (key.elements.valuesDiffer > 0)
        return DiffStatus::Values;
    return key.elements.bitsDiffer > 0 ? DiffStatus::Bits : DiffStatus::Equal;
}

std::vector<std::int64_t> shapeOf(const Checkpoint& checkpoint, std::uint32_t tensor)
{
    const auto shape = checkpoint.shape(checkpoint.tensors[tensor]);
    return {shape.begin(), shape.end()};
}

// Groups of names that share one storage in the same way (same offset, shape and stride), named as in
// `names`.
std::vector<std::vector<std::size_t>> tiedGroups(const Side& side)
{
    std::map<std::tuple<std::uint32_t, std::int64_t, std::vector<std::int64_t>>, std::vector<std::size_t>>
        groups;
    for (std::size_t i = 0; i < side.tensors.size(); ++i) {
        const TensorInfo& tensor = side.checkpoint->tensors[side.tensors[i].tensor];
        if (tensor.storage == kNone || side.checkpoint->storages[tensor.storage].bytes == 0)
            continue;
        std::vector<std::int64_t> layout = shapeOf(*side.checkpoint, side.tensors[i].tensor);
        const auto stride = side.checkpoint->stride(tensor);
        layout.insert(layout.end(), stride.begin(), stride.end());
        groups[{tensor.storage, tensor.offset, std::move(layout)}].push_back(i);
    }
    std::vector<std::vector<std::size_t>> tied;
    for (auto& [place, members] : groups)
        if (members.size() > 1)
            tied.push_back(std::move(members));
    return tied;
}

std::vector<TieDiff> compareTies(const Side& a, const Side& b, const KeyMapping& mapping)
{
    std::map<std::vector<std::string>, std::pair<bool, bool>> found;
    for (const auto& group : tiedGroups(a)) {
        std::vector<std::string> names;
        for (const std::size_t i : group)
            names.push_back(mapping.fromA(a.tensors[i].name));
        std::sort(names.begin(), names.end());
        found[names].first = true;
    }
    for (const auto& group : tiedGroups(b)) {
        std::vector<std::string> names;
        for (const std::size_t i : group)
            names.push_back(mapping.fromB(b.tensors[i].name));
        std::sort(names.begin(), names.end());
        found[names].second = true;
    }
    std::vector<TieDiff> ties;
    for (const auto& [names, where] : found)
        ties.push_back({names, where.first, where.second});
    return ties;
}

// The tensors of one line of the diff; kNone where there is none.
struct Pair {
    std::uint32_t a = kNone;
    std::uint32_t b = kNone;

    bool both() const { return a != kNone && b != kNone; }
};

// A line for each tensor of `a`, with its partner in `b` by the mapping, then for each tensor of `b` that has none.
std::vector<Pair> pairTensors(const Side& a, const Side& b, CheckpointDiff& diff)
{
    std::unordered_map<std::string, std::size_t> placeInB;
    for (std::size_t i = 0; i < b.tensors.size(); ++i)
        placeInB.emplace(diff.mapping.fromB(b.tensors[i].name), i);
    std::vector<bool> used(b.tensors.size());
    std::vector<Pair> pairs;
    const auto describeB = [&b](KeyDiff& key, const NamedTensor& tensor) {
        key.keyB = tensor.name;
        key.typeB = b.checkpoint->tensors[tensor.tensor].dtype;
        key.shapeB = shapeOf(*b.checkpoint, tensor.tensor);
    };
    for (const NamedTensor& tensor : a.tensors) {
        KeyDiff key;
        key.keyA = tensor.name;
        key.typeA = a.checkpoint->tensors[tensor.tensor].dtype;
        key.shapeA = shapeOf(*a.checkpoint, tensor.tensor);
        key.status = DiffStatus::OnlyA;
        Pair pair{tensor.tensor, kNone};
        const auto found = placeInB.find(diff.mapping.fromA(tensor.name));
        if (found != placeInB.end() && !used[found->second]) {
            used[found->second] = true;
            describeB(key, b.tensors[found->second]);
            pair.b = b.tensors[found->second].tensor;
            key.status = key.shapeA == key.shapeB ? DiffStatus::Equal : DiffStatus::Shape;
        }
        diff.keys.push_back(std::move(key));
        pairs.push_back(pair);
    }
    for (std::size_t i = 0; i < b.tensors.size(); ++i) {
        if (used[i])
            continue;
        KeyDiff key;
        describeB(key, b.tensors[i]);
        key.status = DiffStatus::OnlyB;
        diff.keys.push_back(std::move(key));
        pairs.push_back({kNone, b.tensors[i].tensor});
    }
    return pairs;
}

// Takes pairs out that repeat the same bytes so often that nobody could go through them.
void refuseRepeats(const Checkpoint& a, const Checkpoint& b, CheckpointDiff& diff, std::vector<Pair>& pairs)
{
    RepeatBudget budgetA(a), budgetB(b);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        Pair& pair = pairs[i];
        if (!pair.both() || (budgetA.spend(a.tensors[pair.a]) && budgetB.spend(b.tensors[pair.b])))
            continue;
        diff.keys[i].status = DiffStatus::Unreadable;
        diff.keys[i].problem = "The tensor repeats its bytes more often than can be gone through.";
        pair = {};
    }
}

// Opens both tensors. Sets the status where that says it all: unreadable, or another shape.
void openPair(const Checkpoint& a, const Checkpoint& b, const Pair& pair, Job& job)
{
    KeyDiff& key = *job.key;
    auto openA = TensorBytes::open(a, a.tensors[pair.a]);
    auto openB = TensorBytes::open(b, b.tensors[pair.b]);
    if (!openA.ok() || !openB.ok()) {
        key.status = DiffStatus::Unreadable;
        key.problem = (openA.ok() ? openB : openA).problem().toError().sentence();
        return;
    }
    job.a.emplace(std::move(*openA));
    job.b.emplace(std::move(*openB));
    if (key.status == DiffStatus::Shape && key.shapeA.size() == 2 &&
        std::equal(key.shapeA.begin(), key.shapeA.end(), key.shapeB.rbegin()) &&
        isTransposed(*job.a, *job.b, key.shapeA[0], key.shapeA[1]))
        key.status = DiffStatus::Transposed;
}

std::vector<std::string> namesOf(const Side& side)
{
    std::vector<std::string> names;
    names.reserve(side.tensors.size());
    for (const NamedTensor& tensor : side.tensors)
        names.push_back(tensor.name);
    return names;
}

} // namespace

std::string_view diffStatusName(DiffStatus status)
{
    switch (status) {
    case DiffStatus::Equal:
        return "equal";
    case DiffStatus::Bits:
        return "bits";
    case DiffStatus::Values:
        return "values";
    case DiffStatus::Type:
        return "dtype";
    case DiffStatus::Shape:
        return "shape";
    case DiffStatus::Transposed:
        return "transposed";
    case DiffStatus::OnlyA:
        return "only_a";
    case DiffStatus::OnlyB:
        return "only_b";
    case DiffStatus::Unreadable:
        return "unreadable";
    }
    return "";
}

bool CheckpointDiff::equal() const
{
    return std::all_of(keys.begin(), keys.end(),
                       [](const KeyDiff& k) { return k.status == DiffStatus::Equal; });
}

std::vector<NamedTensor> namedTensors(const Checkpoint& checkpoint)
{
    const std::vector<TensorLeaf> leaves = listTensors(checkpoint);
    const bool plain = std::all_of(leaves.begin(), leaves.end(), [](const TensorLeaf& leaf) {
        for (std::size_t i = 0; i + 1 < leaf.path.size(); ++i)
            if (leaf.path[i] == '/' && leaf.path[i + 1] != 's')
                return false;
        return true;
    });
    std::vector<NamedTensor> named;
    for (const TensorLeaf& leaf : leaves) {
        if (leaf.tensor->wrapper || leaf.tensor->meta || leaf.tensor->layout != Layout::Strided)
            continue;
        named.push_back({plain ? leaf.name : leaf.path,
                         static_cast<std::uint32_t>(leaf.tensor - checkpoint.tensors.data())});
    }
    return named;
}

CheckpointDiff diffCheckpoints(const Checkpoint& a, const Checkpoint& b, const DiffOptions& options)
{
    const Side sideA{&a, namedTensors(a)}, sideB{&b, namedTensors(b)};
    CheckpointDiff diff;
    diff.mapping = findMapping(namesOf(sideA), namesOf(sideB));
    std::vector<Pair> pairs = pairTensors(sideA, sideB, diff);
    refuseRepeats(a, b, diff, pairs);
    std::deque<Job> jobs;
    for (KeyDiff& key : diff.keys)
        jobs.emplace_back(&key);
    parallelFor(jobs.size(), options.threads, [&](std::size_t i) {
        if (pairs[i].both())
            openPair(a, b, pairs[i], jobs[i]);
    });

    // The pairs are cut into parts for the threads.
    std::vector<Part> parts;
    for (Job& job : jobs) {
        if (job.key->status != DiffStatus::Equal)
            continue;
        for (std::uint64_t first = 0; first < job.a->elements(); first += kChunk)
            parts.push_back({&job, first, std::min(kChunk, job.a->elements() - first)});
        diff.bytesRead += job.a->byteCount() + job.b->byteCount();
    }
    parallelFor(parts.size(), options.threads, [&](std::size_t i) { comparePart(parts[i]); });

    for (Job& job : jobs) {
        if (job.key->status != DiffStatus::Equal)
            continue;
        job.key->status = elementStatus(*job.key);
        const auto& shape = job.key->shapeA;
        if (job.key->status == DiffStatus::Values && shape.size() == 2 && shape[0] == shape[1] &&
            shape[0] > 1)
            job.key->transposedValues = isTransposed(*job.a, *job.b, shape[0], shape[1]);
    }
    for (const Checkpoint* side : {&a, &b})
        if (const auto cut = side->cutFile())
            for (KeyDiff& key : diff.keys)
                if (key.compared()) {
                    key.status = DiffStatus::Unreadable;
                    key.problem = cut->toError().sentence();
                }
    diff.ties = compareTies(sideA, sideB, diff.mapping);
    return diff;
}

std::string shownName(const std::string& name)
{
    const bool path = name.size() > 2 && name[0] == '/' && name[2] == ':';
    return path ? displayName(name) : printable(name);
}

std::string shownPrefix(const std::string& prefix)
{
    constexpr std::string_view step = "/s:";
    if (!prefix.ends_with(step))
        return shownName(prefix);
    const std::string above = displayName(prefix.substr(0, prefix.size() - step.size()));
    return above.empty() ? above : above + ".";
}

} // namespace lockstep
