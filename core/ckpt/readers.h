// The readers of single files. Each adds what it finds to the checkpoint of the session and gives back the root of the tree;
// damage that leaves a tree goes to Checkpoint::problems.
#pragma once

#include "core/ckpt/pickle_machine.h"

namespace lockstep {

// torch.save's zip in [base, base + length) of file `file`; also TorchScript archives and items of .distcp files.
CkptResult<NodeId> readTorchZip(PickleSession& session, std::uint32_t file, std::uint64_t base,
                                std::uint64_t length);
// torch up to 0.1: a tar of four members.
CkptResult<NodeId> readTar(PickleSession& session, std::uint32_t file);
// A header of JSON, then the bytes. The root is a dict of tensors in the order of the header.
CkptResult<NodeId> readSafetensors(PickleSession& session, std::uint32_t file);
// A pickle that is not torch.save's.
CkptResult<NodeId> readPlainPickle(PickleSession& session, std::uint32_t file);

// What a file is, from its first bytes; `problem` if it is nothing this program reads.
Container sniff(const MappedFile& file, std::optional<CkptProblem>& problem);
// Sniffs and reads file `file`. The container goes to `container`.
CkptResult<NodeId> readFile(PickleSession& session, std::uint32_t file, Container& container);

// Folders (open.cpp dispatches).
class Folder;
// Opens and reads one file of a folder; kNone after a problem, which is reported.
NodeId readMember(PickleSession& session, const Folder& folder, const std::string& name);
// A tensor over bytes of its own, as every tensor of a safetensors file is.
bool isPlainTensor(Value value);
void readDcp(PickleSession& session, const Folder& folder, bool readItems);
void readDcpSafetensors(PickleSession& session, const Folder& folder);
void readHfIndex(PickleSession& session, const Folder& folder, const std::string& index);
void readZero(PickleSession& session, const Folder& folder, const Folder& step);

} // namespace lockstep
