#include "core/ckpt/salvage.h"

#include "core/ckpt/integrity.h"
#include "core/ckpt/open.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/ckpt/walk.h"
#include "core/ckpt/zip_scan.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_set>

namespace lockstep {
namespace {

// A file with bytes added behind its end, in memory only: its pages are mapped and a private page takes the addition.
class Extended
{
public:
    static std::unique_ptr<Extended> make(const std::string& path, std::uint64_t fileSize,
                                          const std::string& addition)
    {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return nullptr;
        auto image = std::unique_ptr<Extended>(new Extended);
        image->size_ = fileSize + addition.size();
        void* base = ::mmap(nullptr, image->size_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED) {
            image->base_ = base;
            if (::mmap(base, fileSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
                image.reset();
            else
                std::memcpy(static_cast<std::byte*>(base) + fileSize, addition.data(), addition.size());
        } else {
            image.reset();
        }
        ::close(fd);
        return image;
    }
    ~Extended()
    {
        if (base_)
            ::munmap(base_, size_);
    }
    std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(base_), size_}; }

private:
    Extended() = default;
    void* base_ = nullptr;
    std::size_t size_ = 0;
};

void le(std::string& text, std::uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        text += i < 8 ? static_cast<char>(value >> (8 * i)) : '\0';
}

// A central directory over the records that are whole, for an archive that lost its own.
std::string directoryFor(const ZipScan& scan, std::uint64_t at)
{
    std::string text;
    std::uint64_t count = 0;
    for (const ScannedRecord& record : scan.records) {
        if (!record.whole)
            continue;
        text += std::string_view("PK\x01\x02", 4);
        le(text, 45, 2);
        le(text, 45, 2);
        le(text, record.flags, 2);
        le(text, record.deflated ? 8 : 0, 2);
        le(text, 0, 2 + 2);
        le(text, record.crc, 4);
        le(text, 0xffffffff, 4);
        le(text, 0xffffffff, 4);
        le(text, record.name.size(), 2);
        le(text, 28, 2);
        le(text, 0, 2 + 2 + 2 + 4);
        le(text, 0xffffffff, 4);
        text += record.name;
        le(text, 1, 2);
        le(text, 24, 2);
        le(text, record.inflated, 8);
        le(text, record.size, 8);
        le(text, record.header, 8);
        ++count;
    }
    const std::uint64_t size = text.size();
    text += std::string_view("PK\x06\x06", 4);
    le(text, 44, 8);
    le(text, 45, 2);
    le(text, 45, 2);
    le(text, 0, 8);
    le(text, count, 8);
    le(text, count, 8);
    le(text, size, 8);
    le(text, at, 8);
    text += std::string_view("PK\x06\x07", 4);
    le(text, 0, 4);
    le(text, at + size, 8);
    le(text, 1, 4);
    text += std::string_view("PK\x05\x06", 4);
    le(text, 0, 4);
    le(text, 0xffff, 2);
    le(text, 0xffff, 2);
    le(text, 0xffffffff, 4);
    le(text, 0xffffffff, 4);
    le(text, 0, 2);
    return text;
}

// A damaged checkpoint made readable as far as it goes, and which of its tensors are whole.
struct Rescue {
    std::unique_ptr<Extended> image; // outlives the checkpoint below
    std::optional<Checkpoint> checkpoint;
    std::unordered_set<const TensorInfo*> whole;
    SalvagePlan plan;
};

bool readable(const Checkpoint& checkpoint, const TensorInfo& tensor)
{
    if (tensor.wrapper || tensor.meta || tensor.layout != Layout::Strided)
        return false;
    return TensorBytes::open(checkpoint, tensor).ok();
}

void judgeTensors(Rescue& rescue, const std::vector<std::uint32_t>& badStorages,
                  const std::unordered_set<std::string>& badRecords)
{
    const Checkpoint& checkpoint = *rescue.checkpoint;
    for (const TensorLeaf& leaf : listTensors(checkpoint)) {
        const bool damaged =
            (leaf.tensor->storage != kNone &&
             std::binary_search(badStorages.begin(), badStorages.end(), leaf.tensor->storage)) ||
            badRecords.contains(leaf.name);
        if (!damaged && readable(checkpoint, *leaf.tensor)) {
            rescue.plan.keysWhole.push_back(leaf.name);
            rescue.whole.insert(leaf.tensor);
        } else {
            rescue.plan.keysLost.push_back(leaf.name);
        }
    }
    rescue.plan.treeKnown = checkpoint.root != kNone;
}

// The file may end between a record's contents and its descriptor. Then only the pickle knows the size, and nothing vouches
// for the bytes; they are taken as they are. True if such a record was found.
bool completeByPickle(const Checkpoint& checkpoint, ZipScan& scan)
{
    constexpr std::uint64_t kDescriptor = 24; // bytes at most
    ScannedRecord& last = scan.records.back();
    if (last.whole || last.deflated)
        return false;
    for (const StorageInfo& storage : checkpoint.storages) {
        if (storage.record != kNone || !last.name.ends_with("/data/" + std::string(storage.key)))
            continue;
        // The record is missing, so its size is the one the pickle announces.
        std::uint64_t bytes = 0;
        if (storage.elements < 0 ||
            __builtin_mul_overflow(static_cast<std::uint64_t>(storage.elements),
                                   std::uint64_t{storage.dtype ? itemSize(*storage.dtype) : 1}, &bytes) ||
            bytes > last.size || last.size - bytes >= kDescriptor)
            return false;
        last.size = last.inflated = bytes;
        last.whole = true;
        return true;
    }
    return false;
}

// The same for the pickle itself: it says where it ends. True if it is the last record and may be tried.
bool tryPickle(ZipScan& scan)
{
    ScannedRecord& last = scan.records.back();
    if (last.whole || last.deflated || !last.name.ends_with("/data.pkl"))
        return false;
    last.inflated = last.size;
    return last.whole = true;
}

// A zip without a usable directory: the records that are whole get a directory of ours.
bool rescueZip(const std::string& path, const Checkpoint& damaged, Rescue& rescue)
{
    if (damaged.files.empty())
        return false;
    const MappedFile& file = *damaged.files.front();
    if (!file.contains(0, 4) || std::memcmp(file.bytes().data(), "PK\x03\x04", 4) != 0)
        return false;
    ZipScan scan = scanLocalHeaders(file.bytes());
    if (scan.records.empty() || scan.repeatedNames)
        return false;
    const auto reopen = [&] {
        rescue.checkpoint.reset();
        rescue.image = Extended::make(path, file.size(), directoryFor(scan, file.size()));
        if (rescue.image)
            rescue.checkpoint.emplace(openCheckpointBytes(rescue.image->bytes(), path));
        return rescue.checkpoint && rescue.checkpoint->root != kNone;
    };
    const bool guessed = tryPickle(scan);
    if (!reopen()) {
        if (guessed)
            scan.records.back().whole = false;
        for (const ScannedRecord& record : scan.records)
            (record.whole ? rescue.plan.recordsWhole : rescue.plan.recordsLost).push_back(record.name);
        return false;
    }
    if (completeByPickle(*rescue.checkpoint, scan) && !reopen())
        return false;
    for (const ScannedRecord& record : scan.records)
        (record.whole ? rescue.plan.recordsWhole : rescue.plan.recordsLost).push_back(record.name);
    judgeTensors(rescue, {}, {});
    // Records that only the pickle knows of.
    const std::string top = scan.records.front().name.substr(0, scan.records.front().name.find('/') + 1);
    for (const StorageInfo& storage : rescue.checkpoint->storages) {
        const std::string name = top + "data/" + std::string(storage.key);
        if (storage.record == kNone && !scan.find(name))
            rescue.plan.recordsLost.push_back(name);
    }
    return true;
}

Rescue rescueAny(const std::string& path)
{
    Rescue rescue;
    Result<Checkpoint> opened = openCheckpoint(path);
    if (!opened)
        return rescue;
    if (opened->root == kNone) {
        rescueZip(path, *opened, rescue);
        return rescue;
    }
    rescue.checkpoint.emplace(std::move(opened).value());
    const IntegrityReport integrity = checkIntegrity(*rescue.checkpoint);
    std::unordered_set<std::string> badRecords;
    for (const CkptProblem& problem : integrity.problems)
        if (!problem.record.empty())
            badRecords.insert(problem.record);
    judgeTensors(rescue, integrity.badStorages, badRecords);
    return rescue;
}

} // namespace

SalvagePlan planSalvage(const std::string& path)
{
    return rescueAny(path).plan;
}

Result<ConvertReport> salvage(const std::string& path, const std::string& output,
                              const ConvertOptions& options)
{
    const Rescue rescue = rescueAny(path);
    if (!rescue.checkpoint || rescue.checkpoint->root == kNone)
        return Error{ErrorKind::Corrupt, "Nothing of " + path + " can be saved",
                     "the part that names the tensors is damaged or missing", "Use an older checkpoint"};
    if (rescue.whole.empty())
        return Error{ErrorKind::Corrupt, "Nothing of " + path + " can be saved", "no tensor is whole",
                     "Use an older checkpoint"};
    ConvertOptions chosen = options;
    chosen.keep = [&](const TensorInfo& tensor) { return rescue.whole.contains(&tensor); };
    Result<ConvertReport> report = convertCheckpoint(*rescue.checkpoint, output, chosen);
    if (report)
        report->notes.insert(report->notes.begin(),
                             std::to_string(rescue.plan.keysWhole.size()) + " tensors were saved, " +
                                 std::to_string(rescue.plan.keysLost.size()) + " are lost");
    return report;
}

} // namespace lockstep
