// One kind for every way a checkpoint can fail, with the place where it failed. Findings about a file are
// values: a reader that meets damage keeps what it could read and reports the fault beside it.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace lockstep {

enum class CkptFault : std::uint8_t {
    // the file as a whole
    Empty,         // 0 bytes
    NotCheckpoint, // text, picture, gzip, JSON ...: `detail` says what it looks like
    LfsPointer,    // a Git LFS pointer; `detail` holds the size of the real file
    HtmlPage,
    OnlyZeros,      // zero bytes where a header should be
    WrongExtension, // sound, but of another format than its name says
    CannotRead,     // the system refused
    // zip container
    ZipNoEnd,        // no end-of-central-directory record within reach of the end: cut, or bytes appended
    ZipEnd,          // the end record contradicts itself or the file
    ZipDirectory,    // a central directory entry is cut or wrong
    ZipName,         // NUL, "..", absolute or duplicate name
    ZipOverlap,      // two entries share bytes
    ZipLocalHeader,  // the local header is not there or contradicts the directory
    ZipMethod,       // neither stored nor deflated, or encrypted
    ZipInflate,      // broken deflate stream
    ZipInflatedSize, // inflates to another size than announced, or to more than is sane
    ZipCrc,          // contents do not match the recorded CRC-32
    TrailingBytes,   // bytes after the end of the archive
    ZipTopFolder,    // records do not lie in the folder of the first entry
    ZipNoPickle,     // no data.pkl: a failed save, or another kind of zip (`detail` "foreign")
    ZipNoVersion,    // no version record: torch refuses
    ZipByteOrder,    // byteorder is neither little nor big
    ZipRewritten,    // newlines rewritten by a text-mode copy
    RecordMissing,   // a storage named by the pickle has no record
    RecordSize,      // a record is shorter or longer than its storage
    // pickle
    PickleTruncated, // ends before STOP
    PickleOpcode,    // unknown opcode, or one that cannot occur in data
    PickleStack,     // stack underflow, or no MARK
    PickleMemo,      // reads a memo slot that was never written
    PickleType,      // an opcode on an object it does not apply to
    PickleText,      // malformed number or string
    PicklePersistentId,
    PickleArguments, // a known rebuild function with arguments it cannot have
    PickleTooLarge,  // asks for more memory than a file of this size can justify
    // tensors
    TensorShape,  // negative size, ranks of shape and stride differ, or the product overflows
    TensorBounds, // elements outside the storage
    TensorType,   // unknown element type or storage class
    // legacy and tar
    LegacyHeader,
    LegacyStorage, // a storage count is negative, too large or cut
    LegacyKeys,    // the list of storage keys does not match the storages
    TarHeader,
    TarMember,
    // safetensors
    SafetensorsHeader, // length of the header
    SafetensorsJson,
    SafetensorsEntry,   // dtype, shape or key
    SafetensorsOffsets, // overlap, hole, inverted or outside the file
    // folders
    FolderUnknown, // holds nothing known
    FolderLevel,   // the checkpoint lies in `detail`, a folder below
    UnsafePath,    // a file name that leaves the folder
    FileMissing,   // a file named by an index or metadata is absent
    DcpNoMetadata, // no .metadata: the save did not finish
    DcpMetadata,   // not the metadata of a checkpoint
    DcpItem,       // an item lies outside its file or is not what the metadata says
    DcpChunk,      // chunks leave their tensor, overlap or leave a hole
    IndexJson,
    IndexKey,      // index and shards disagree about a key
    ZeroFiles,     // number of rank files differs from the recorded one
    ZeroLatest,    // `latest` names a folder that is not there
    ZeroPartition, // recorded shapes do not fill the partitions
};
std::string_view ckptFaultName(CkptFault fault); // "zip_crc", stable, used in JSON

struct CkptProblem {
    CkptFault fault;
    std::uint64_t offset = 0; // byte in `file` at which the faulty structure begins
    std::string file;         // relative to what was opened; empty: the file opened itself
    std::string record;       // zip record, tensor key or member concerned; may be empty
    std::string why;          // one clause without a full stop
    std::string detail;       // machine-readable addition, see the enum
    bool fatal = false;       // nothing, or only part of the tree, could be listed

    // `what` names the file, `why` the byte.
    Error toError() const;
};

// A value or the one problem that prevented it.
template<typename T>
class [[nodiscard]] CkptResult
{
public:
    CkptResult(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    CkptResult(CkptProblem problem) : state_(std::in_place_index<1>, std::move(problem)) {}
    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }
    T& operator*() { return std::get<0>(state_); }
    const T& operator*() const { return std::get<0>(state_); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }
    CkptProblem& problem() { return std::get<1>(state_); }
    const CkptProblem& problem() const { return std::get<1>(state_); }

private:
    std::variant<T, CkptProblem> state_;
};

} // namespace lockstep
