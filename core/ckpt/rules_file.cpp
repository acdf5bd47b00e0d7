// Rows 16 to 29, 36 to 40, N1, N3 and N4: damage to files and folders. The readers and the integrity check say what is wrong
// at which byte (fault.h); here the faults of one file are read together and become the one story that explains them.
#include "core/ckpt/bytes.h"
#include "core/ckpt/fault_row.h"
#include "core/ckpt/verdict.h"
#include "core/ckpt/walk.h"
#include "core/ckpt/zip_archive.h"
#include "core/ckpt/zip_evidence.h"
#include "core/ckpt/zip_format.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

namespace lockstep {
namespace {

std::string byteText(std::uint64_t bytes)
{
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// The tensors of a checkpoint, found by what problems call a record.
class TensorPlaces
{
public:
    explicit TensorPlaces(const Checkpoint& checkpoint) : leaves_(listTensors(checkpoint))
    {
        for (std::size_t i = 0; i < leaves_.size(); ++i) {
            byName_[leaves_[i].name].push_back(i);
            byName_[leaves_[i].path].push_back(i);
            if (leaves_[i].tensor->storage == kNone)
                continue;
            const StorageInfo& storage = checkpoint.storages[leaves_[i].tensor->storage];
            if (storage.archive == kNone)
                continue;
            const auto& records = checkpoint.archives[storage.archive]->records();
            if (storage.record == kNone)
                withoutRecord_.emplace_back("/" + std::string(storage.key), i);
            else if (storage.record < records.size())
                byName_[records[storage.record].name].push_back(i);
        }
    }
    TensorPlaces(const TensorPlaces&) = delete; // byName_ points into leaves_
    TensorPlaces& operator=(const TensorPlaces&) = delete;

    const std::vector<TensorLeaf>& leaves() const { return leaves_; }
    // Places in leaves() of the tensors that lie in this zip record or have this name or path, in order.
    std::vector<std::size_t> over(std::string_view record) const
    {
        std::vector<std::size_t> places;
        if (const auto it = byName_.find(record); it != byName_.end())
            places = it->second;
        for (const auto& [end, place] : withoutRecord_)
            if (record.ends_with(end))
                places.push_back(place);
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        return places;
    }

private:
    std::vector<TensorLeaf> leaves_;
    std::unordered_map<std::string_view, std::vector<std::size_t>> byName_;
    std::vector<std::pair<std::string, std::size_t>> withoutRecord_; // "/KEY" of storages that have no record
};

class FileStory
{
public:
    FileStory(const RuleContext& context, std::vector<Verdict>& out)
        : context_(context), checkpoint_(context.checkpoint), out_(out)
    {
        for (const CkptProblem& problem : checkpoint_.problems)
            problems_.push_back(&problem);
        if (context.integrity)
            for (const CkptProblem& problem : context.integrity->problems)
                problems_.push_back(&problem);
    }

    void tell()
    {
        if (problems_.empty())
            return;
        if (checkpoint_.container == Container::Zip || startsLikeZip())
            zip_ = readZipEvidence(checkpoint_, problems_);
        if (wholeFile())
            return;
        cutSafetensors();
        records();
    }

private:
    bool startsLikeZip() const
    {
        return !checkpoint_.files.empty() && !isFolder() && checkpoint_.files.front()->contains(0, 4) &&
               std::memcmp(checkpoint_.files.front()->bytes().data(), "PK\x03\x04", 4) == 0;
    }
    // Single files are named in their problems too; in folders a name means one file of several.
    bool concernsAll(const CkptProblem& problem) const
    {
        return !isFolder() || problem.file.empty() || isFolderFault(problem.fault);
    }
    bool isFolder() const
    {
        const Container c = checkpoint_.container;
        return c == Container::Dcp || c == Container::DcpHf || c == Container::HfIndex ||
               c == Container::Zero || c == Container::Folder;
    }
    static bool isFolderFault(CkptFault fault)
    {
        return fault == CkptFault::DcpNoMetadata || fault == CkptFault::DcpMetadata ||
               fault == CkptFault::ZeroLatest || fault == CkptFault::FolderLevel;
    }
    bool wholeFile();
    void cutZip(const CkptProblem& problem);
    void cutSafetensors();
    void records();
    void add(std::string_view row, const CkptProblem& problem, std::string sentence);
    std::vector<std::string> keysOver(const CkptProblem& problem) const;
    // Listed once: there can be thousands of problems.
    const TensorPlaces& tensors() const
    {
        if (!tensors_)
            tensors_.emplace(checkpoint_);
        return *tensors_;
    }

    const RuleContext& context_;
    const Checkpoint& checkpoint_;
    std::vector<Verdict>& out_;
    std::vector<const CkptProblem*> problems_;
    ZipEvidence zip_;
    mutable std::optional<TensorPlaces> tensors_;
};

void FileStory::add(std::string_view row, const CkptProblem& problem, std::string sentence)
{
    Verdict verdict = makeVerdict(row, Severity::Failure, std::move(sentence));
    verdict.offset = problem.offset;
    verdict.file = isFolder() ? problem.file : "";
    verdict.record = problem.record;
    out_.push_back(std::move(verdict));
}

// Faults that concern the file as a whole and explain all others. True if one was found.
bool FileStory::wholeFile()
{
    const auto first = [&](std::initializer_list<CkptFault> faults) -> const CkptProblem* {
        for (const CkptProblem* problem : problems_)
            if (std::find(faults.begin(), faults.end(), problem->fault) != faults.end() &&
                concernsAll(*problem))
                return problem;
        return nullptr;
    };
    if (const CkptProblem* p =
            first({CkptFault::Empty, CkptFault::LfsPointer, CkptFault::HtmlPage, CkptFault::NotCheckpoint,
                   CkptFault::OnlyZeros, CkptFault::WrongExtension, CkptFault::ZipRewritten,
                   CkptFault::ZipTopFolder, CkptFault::ZipNoPickle, CkptFault::FolderLevel,
                   CkptFault::ZeroLatest, CkptFault::DcpNoMetadata, CkptFault::DcpMetadata})) {
        std::string sentence = p->why;
        if (p->fault == CkptFault::LfsPointer)
            sentence = "A Git LFS pointer; the real file has " + p->detail + " bytes";
        if (p->fault == CkptFault::FolderLevel || p->fault == CkptFault::ZeroLatest)
            sentence = p->why + (p->detail.empty() ? "" : " (" + p->detail + ")");
        add(faultRow(*p, checkpoint_.container), *p, sentence);
        if (p->fault == CkptFault::FolderLevel)
            out_.back().fix = "Give the folder " + p->detail;
        return true;
    }
    const CkptProblem* end = first({CkptFault::ZipNoEnd, CkptFault::ZipEnd, CkptFault::ZipDirectory});
    if (zip_.repeatedNames) {
        const CkptProblem& p = end ? *end : *problems_.front();
        add("21", p, "Records of the same name lie at two places: two saves are mixed in one file");
        return true;
    }
    if (!end || !zip_.read)
        return false;
    if (!zip_.scan.end || end->fault == CkptFault::ZipNoEnd)
        cutZip(*end);
    else if (!zip_.brokenInside)
        add("24", *end, "The end of the archive is damaged: " + end->why);
    else // someone else's bytes lie in front of a sound end: one record runs into another
        add("21", *end,
            "The end of the archive does not fit what lies before it (" + end->why +
                "): two saves are mixed in one file");
    return true;
}

// A zip whose end is not where it should be: cut off, or followed by other bytes.
void FileStory::cutZip(const CkptProblem& problem)
{
    const auto& records = zip_.scan.records;
    constexpr std::uint64_t kEnd = zip::kEndSize;
    if (zip_.scan.end && inside(*zip_.scan.end, kEnd, zip_.size) && !records.empty()) {
        const std::uint64_t after = *zip_.scan.end + kEnd;
        add("N4", problem,
            byteText(zip_.size - after) + " follow the end of the archive at byte " + std::to_string(after));
        out_.back().fix = "Cut the file to " + byteText(after) + ", or write it anew: ckpt convert";
        return;
    }
    const auto whole =
        std::count_if(records.begin(), records.end(), [](const ScannedRecord& r) { return r.whole; });
    add(cutZipRow(zip_.size), problem,
        "The file ends after " + byteText(zip_.size) + " without its directory; " + std::to_string(whole) +
            " of " + std::to_string(records.size()) + " records met are whole");
    if (zip_.size % 4096 == 0)
        out_.back().evidence = {"the size is a whole number of blocks, as a full disk leaves it"};
}

// A safetensors file that is shorter than its header says. Those problems are taken off the list.
void FileStory::cutSafetensors()
{
    for (std::uint32_t f = 0; f < checkpoint_.files.size(); ++f) {
        if (!checkpoint_.files[f])
            continue;
        const MappedFile& file = *checkpoint_.files[f];
        const auto about = [&](const CkptProblem* p) {
            return p->file == file.name() &&
                   (p->fault == CkptFault::SafetensorsHeader || p->fault == CkptFault::SafetensorsOffsets ||
                    p->fault == CkptFault::TensorBounds);
        };
        const auto first = std::find_if(problems_.begin(), problems_.end(), about);
        if (first == problems_.end())
            continue;
        std::vector<std::string> lost;
        for (const TensorLeaf& leaf : tensors().leaves()) {
            std::uint32_t storage = leaf.tensor->storage;
            for (std::uint32_t i = 0; storage == kNone && i < leaf.tensor->pieceCount; ++i)
                if (const Piece& piece = checkpoint_.pieces[leaf.tensor->firstPiece + i];
                    piece.tensor != kNone)
                    storage = checkpoint_.tensors[piece.tensor].storage;
            if (storage != kNone && checkpoint_.storages[storage].file == f &&
                !file.contains(checkpoint_.storages[storage].offset, checkpoint_.storages[storage].bytes))
                lost.push_back(leaf.name);
        }
        const std::uint64_t header = file.contains(0, 8) ? loadLe<std::uint64_t>(file.bytes().data()) : 0;
        // A header length no writer would produce is garbage, not a cut.
        const bool headerCut = (*first)->fault == CkptFault::SafetensorsHeader &&
                               (file.size() < 8 || (header <= 100'000'000 && !file.contains(8, header)));
        if (lost.empty() && !headerCut)
            continue;
        Verdict verdict = makeVerdict(
            "16", Severity::Failure,
            "The file ends after " + byteText(file.size()) +
                (headerCut ? ", inside its header" : ", before its last tensors: " + listNames(lost)));
        verdict.file = isFolder() ? file.name() : "";
        verdict.offset = file.size();
        verdict.key = lost.empty() ? "" : lost.front();
        verdict.evidence = lost;
        verdict.errorText =
            headerCut ? "Error while deserializing header: " + (*first)->why
                      : "Error while deserializing header: incomplete metadata, file not fully covered";
        out_.push_back(std::move(verdict));
        std::erase_if(problems_, about);
    }
}

std::vector<std::string> FileStory::keysOver(const CkptProblem& problem) const
{
    std::vector<std::string> keys;
    if (!problem.record.empty())
        for (const std::size_t place : tensors().over(problem.record))
            keys.push_back(tensors().leaves()[place].name);
    return keys;
}

// Damage to single records, shards or rank files: one finding each, merged where one cause explains several.
void FileStory::records()
{
    // Two writers of equal shapes leave records that fit their own descriptors and not the directory. One such record may
    // be a damaged directory entry.
    const bool mixed = zip_.otherWriter >= 2;
    std::set<std::pair<std::string, std::string>> told;
    for (const CkptProblem* problem : problems_) {
        std::string_view row = faultRow(*problem, checkpoint_.container);
        if (mixed && (problem->fault == CkptFault::ZipCrc || problem->fault == CkptFault::ZipLocalHeader))
            row = "22";
        const bool inShard = checkpoint_.container == Container::Dcp && !problem->file.empty();
        if (inShard && row != "36" && row != "37" && problem->fault != CkptFault::ZipCrc)
            row = "37";
        // A cut or empty rank file of ZeRO, or an LFS pointer among shards, keeps the row of its own fault.
        const std::vector<std::string> keys = keysOver(*problem);
        const std::string subject = !keys.empty() ? keys.front() : problem->record;
        if (!told.emplace(std::string(row), problem->file + "\n" + subject).second)
            continue;
        std::string sentence = problem->why;
        if (problem->fault == CkptFault::LfsPointer)
            sentence = "A Git LFS pointer; the real file has " + problem->detail + " bytes";
        if (!keys.empty())
            sentence = listNames(keys) + ": " + sentence;
        else if (!problem->record.empty())
            sentence = problem->record + ": " + sentence;
        if (isFolder() && !problem->file.empty())
            sentence = problem->file + ": " + sentence;
        add(row, *problem, sentence);
        out_.back().key = keys.empty() ? "" : keys.front();
        out_.back().evidence = keys;
    }
}

} // namespace

void fileRules(const RuleContext& context, std::vector<Verdict>& out)
{
    FileStory(context, out).tell();
}

} // namespace lockstep
