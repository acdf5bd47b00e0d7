#include "core/ckpt/fault_row.h"

namespace lockstep {

std::string_view faultRow(const CkptProblem& problem, Container container)
{
    const bool zip = container == Container::Zip;
    switch (problem.fault) {
    case CkptFault::Empty:
        return "18";
    case CkptFault::NotCheckpoint:
        return "N1";
    case CkptFault::LfsPointer:
        return "26";
    case CkptFault::HtmlPage:
        return "27";
    case CkptFault::OnlyZeros:
    case CkptFault::ZipNoEnd:
        return "16";
    case CkptFault::WrongExtension:
        return "28";
    case CkptFault::CannotRead:
        return "24";
    case CkptFault::TrailingBytes:
        return "N4";
    case CkptFault::ZipTopFolder:
        return "25";
    case CkptFault::ZipNoPickle:
        return problem.detail == "foreign" ? "N1" : "19";
    case CkptFault::ZipRewritten:
        return "N3";
    case CkptFault::PickleTruncated:
    case CkptFault::LegacyStorage:
    case CkptFault::TarHeader:
    case CkptFault::TarMember:
        return zip ? "24" : "16";
    case CkptFault::LegacyHeader:
    case CkptFault::LegacyKeys:
        return "21";
    case CkptFault::FolderUnknown:
        return "N1";
    case CkptFault::FolderLevel:
    case CkptFault::ZeroLatest:
        return "38";
    case CkptFault::UnsafePath:
    case CkptFault::FileMissing:
        return container == Container::Dcp || container == Container::DcpHf ? "37"
               : container == Container::Zero                               ? "39"
                                                                            : "29";
    case CkptFault::DcpNoMetadata:
    case CkptFault::DcpMetadata:
        return "36";
    case CkptFault::DcpItem:
    case CkptFault::DcpChunk:
        return "37";
    case CkptFault::IndexJson:
    case CkptFault::IndexKey:
        return "29";
    case CkptFault::ZeroFiles:
        return "39";
    case CkptFault::ZeroPartition:
        return "40";
    default:
        break;
    }
    // Pickles of the legacy form have no checksum; one that makes no sense in the middle was written over.
    if (container == Container::Legacy)
        return "21";
    return "24";
}

std::string_view cutZipRow(std::uint64_t size)
{
    return size > 4096 && size <= 65536 ? "17" : "16";
}

} // namespace lockstep
