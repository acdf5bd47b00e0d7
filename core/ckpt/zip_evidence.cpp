#include "core/ckpt/zip_evidence.h"

#include "core/ckpt/zip_archive.h"

#include <algorithm>

namespace lockstep {
namespace {

// Two archives under different top folders also make two saves in one file.
std::size_t pickles(const ZipScan& scan)
{
    return static_cast<std::size_t>(
        std::count_if(scan.records.begin(), scan.records.end(), [](const ScannedRecord& r) {
            return r.name.ends_with("/data.pkl") && std::count(r.name.begin(), r.name.end(), '/') == 1;
        }));
}

// Whether the fault may lie in the directory, so that the local headers have to be asked.
bool untrusted(const CkptProblem* problem)
{
    switch (problem->fault) {
    case CkptFault::ZipNoEnd:
    case CkptFault::ZipEnd:
    case CkptFault::ZipDirectory:
    case CkptFault::ZipLocalHeader:
    case CkptFault::ZipName:
    case CkptFault::ZipOverlap:
    case CkptFault::TrailingBytes:
    case CkptFault::ZipRewritten:
        return true;
    default:
        return false;
    }
}

} // namespace

ZipEvidence readZipEvidence(const Checkpoint& checkpoint, const std::vector<const CkptProblem*>& problems)
{
    ZipEvidence evidence;
    if (checkpoint.files.empty())
        return evidence;
    const MappedFile& file = *checkpoint.files.front();
    evidence.read = true;
    evidence.size = file.size();
    if (std::any_of(problems.begin(), problems.end(), untrusted)) {
        evidence.scan = scanLocalHeaders(file.bytes());
        evidence.repeatedNames = evidence.scan.repeatedNames || pickles(evidence.scan) > 1;
        const auto& records = evidence.scan.records;
        const auto broken =
            std::find_if(records.begin(), records.end(), [](const ScannedRecord& r) { return !r.whole; });
        evidence.brokenInside =
            broken != records.end() &&
            std::any_of(broken, records.end(), [](const ScannedRecord& r) { return r.whole; });
    }
    for (const auto& archive : checkpoint.archives) {
        for (const CkptProblem* problem : problems) {
            if (problem->fault != CkptFault::ZipCrc)
                continue;
            // A record that agrees with its own descriptor was written whole; it is the directory that is another's.
            if (const auto index = archive->find(problem->record); index && archive->checkDescriptor(*index))
                ++evidence.otherWriter;
        }
    }
    return evidence;
}

} // namespace lockstep
