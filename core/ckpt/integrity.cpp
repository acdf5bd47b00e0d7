#include "core/ckpt/integrity.h"

#include "core/ckpt/parallel.h"
#include "core/ckpt/zip_archive.h"

#include <algorithm>
#include <libdeflate.h>
#include <set>

namespace lockstep {
namespace {

// Records are read in parallel. One larger than this is cut, and the checksums of its parts are joined by crc32Combine.
constexpr std::uint64_t kPart = 64u << 20;

// CRC of A followed by B from their CRCs: multiplication by x^(8 * sizeB) in GF(2)[x] modulo the CRC polynomial (reflected).
std::uint32_t multiplyModulo(std::uint32_t a, std::uint32_t b)
{
    std::uint32_t product = 0;
    for (std::uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
        if ((a & bit) != 0)
            product ^= b;
        b = (b & 1) != 0 ? (b >> 1) ^ 0xedb88320u : b >> 1;
    }
    return product;
}

std::uint32_t crc32Combine(std::uint32_t first, std::uint32_t second, std::uint64_t secondSize)
{
    std::uint32_t power = 1u << 23; // x^8
    std::uint32_t shift = 1u << 31; // 1
    for (std::uint64_t n = secondSize; n != 0; n >>= 1) {
        if ((n & 1) != 0)
            shift = multiplyModulo(power, shift);
        power = multiplyModulo(power, power);
    }
    return multiplyModulo(shift, first) ^ second;
}

struct Job {
    std::uint32_t archive;
    std::uint32_t record;
    std::span<const std::byte> bytes; // stored records: the part to sum up
    std::uint32_t crc = 0;
    std::optional<CkptProblem> problem;
};

class Checker
{
public:
    Checker(IntegrityReport& report, int threads) : report_(report), threads_(threads) {}

    void addArchive(const ZipArchive& zip, std::uint32_t index)
    {
        for (std::uint32_t i = 0; i < zip.records().size(); ++i) {
            const ZipRecord& r = zip.records()[i];
            auto bytes = zip.payload(i);
            if (!bytes) {
                add(bytes.problem());
                continue;
            }
            if (auto p = zip.checkDescriptor(i))
                add(*p);
            if (r.crc == 0 && r.size > 0)
                ++report_.recordsWithoutCrc;
            ++report_.recordsChecked;
            report_.bytesChecked += r.size;
            if (!r.stored()) {
                jobs_.push_back({index, i, {}, 0, {}});
                continue;
            }
            std::uint64_t at = 0;
            do {
                const std::uint64_t size = std::min<std::uint64_t>(kPart, bytes->size() - at);
                jobs_.push_back({index, i, bytes->subspan(at, size), 0, {}});
                at += size;
            } while (at < bytes->size());
        }
    }

    void run(const std::vector<std::shared_ptr<const ZipArchive>>& archives)
    {
        parallelFor(jobs_.size(), threads_, [&](std::size_t i) {
            Job& job = jobs_[i];
            const ZipArchive& zip = *archives[job.archive];
            const ZipRecord& r = zip.records()[job.record];
            if (r.stored()) {
                // CRC 0 on a record with bytes: nothing to compare with.
                if (r.crc != 0 || r.size == 0)
                    job.crc = libdeflate_crc32(0, job.bytes.data(), job.bytes.size());
                return;
            }
            auto inflated = zip.inflate(job.record, inflateLimit(r.compressed, zip.length()));
            if (inflated)
                job.crc = libdeflate_crc32(0, inflated->get(), static_cast<std::size_t>(r.size));
            else
                job.problem = inflated.problem();
        });
        for (std::size_t i = 0; i < jobs_.size();) {
            const Job& job = jobs_[i];
            const ZipArchive& zip = *archives[job.archive];
            const ZipRecord& r = zip.records()[job.record];
            std::uint32_t crc = job.crc;
            std::size_t next = i + 1;
            for (; next < jobs_.size() && jobs_[next].archive == job.archive &&
                   jobs_[next].record == job.record;
                 ++next)
                crc = crc32Combine(crc, jobs_[next].crc, jobs_[next].bytes.size());
            if (job.problem)
                add(*job.problem);
            else if (crc != r.crc && r.crc != 0)
                add(zip.problem(CkptFault::ZipCrc, r.header, "the bytes do not match their recorded checksum",
                                r.name));
            i = next;
        }
    }

    void add(CkptProblem p)
    {
        constexpr std::size_t kMaxProblems = 10000;
        // One finding per record and fault is enough.
        if (report_.problems.size() < kMaxProblems &&
            seen_.insert({p.file, p.record, static_cast<int>(p.fault), p.offset}).second)
            report_.problems.push_back(std::move(p));
    }

private:
    IntegrityReport& report_;
    int threads_;
    std::vector<Job> jobs_;
    std::set<std::tuple<std::string, std::string, int, std::uint64_t>> seen_;
};

} // namespace

IntegrityReport checkIntegrity(const Checkpoint& c, int threads)
{
    IntegrityReport report;
    Checker checker(report, threads);
    std::vector<std::shared_ptr<const ZipArchive>> archives = c.archives;
    for (std::uint32_t i = 0; i < c.archives.size(); ++i)
        checker.addArchive(*c.archives[i], i);
    // Items of .distcp files are opened only now.
    std::set<std::tuple<std::uint32_t, std::uint64_t>> items;
    for (const Piece& piece : c.pieces) {
        if (piece.tensor != kNone || piece.file == kNone || !items.insert({piece.file, piece.offset}).second)
            continue;
        if (!c.files[piece.file]->contains(piece.offset, piece.length))
            continue; // reported by the reader
        std::vector<CkptProblem> problems;
        auto zip = ZipArchive::open(c.files[piece.file], piece.offset, piece.length, problems);
        for (CkptProblem& p : problems)
            checker.add(std::move(p));
        if (!zip) {
            checker.add(zip.problem());
            continue;
        }
        archives.push_back(*zip);
        checker.addArchive(**zip, static_cast<std::uint32_t>(archives.size() - 1));
    }
    checker.run(archives);
    if (auto cut = c.cutFile())
        checker.add(std::move(*cut));
    std::set<std::string_view> bad;
    for (const CkptProblem& p : report.problems)
        bad.insert(p.record);
    for (std::uint32_t i = 0; i < c.storages.size(); ++i) {
        const StorageInfo& s = c.storages[i];
        if (s.archive != kNone && s.record != kNone &&
            bad.contains(c.archives[s.archive]->records()[s.record].name))
            report.badStorages.push_back(i);
    }
    return report;
}

} // namespace lockstep
