#include "core/ckpt/open.h"

#include "core/ckpt/folder.h"
#include "core/ckpt/readers.h"
#include "core/ckpt/zip_archive.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace lockstep {
namespace {

std::string baseName(const std::string& path)
{
    std::string_view p = path;
    while (p.size() > 1 && p.back() == '/')
        p.remove_suffix(1);
    const std::size_t slash = p.rfind('/');
    return std::string(slash == std::string_view::npos ? p : p.substr(slash + 1));
}

bool endsWithAny(std::string_view name, std::initializer_list<std::string_view> tails)
{
    return std::any_of(tails.begin(), tails.end(),
                       [name](std::string_view tail) { return name.ends_with(tail); });
}

bool isTorchName(std::string_view name)
{
    return endsWithAny(name, {".pt", ".pth", ".bin", ".ckpt"});
}

bool isCheckpointName(std::string_view name)
{
    return isTorchName(name) || endsWithAny(name, {".safetensors", ".pkl"});
}

// Programs choose the reader by the name: a sound file under the wrong one does not load.
void checkExtension(Checkpoint& c, const std::string& name)
{
    const bool named = name.ends_with(".safetensors");
    const bool is = c.container == Container::Safetensors;
    const bool torchFile =
        c.container == Container::Zip || c.container == Container::Legacy || c.container == Container::Tar;
    if (!(named && torchFile) && !(is && isTorchName(name)))
        return;
    CkptProblem p;
    p.fault = CkptFault::WrongExtension;
    p.file = name;
    p.why = is ? "a safetensors file under a torch name" : "a torch file under a safetensors name";
    p.detail = std::string(containerName(c.container));
    c.report(std::move(p));
}

// What was read of a file that shrank meanwhile is not to be trusted.
void addCutFile(Checkpoint& c)
{
    if (auto cut = c.cutFile()) {
        c.problems.insert(c.problems.begin(), std::move(*cut));
        c.root = kNone;
    }
}

void readSingle(Checkpoint& c, std::shared_ptr<const MappedFile> file)
{
    const std::string name = file->name();
    c.files.push_back(std::move(file));
    PickleSession session(c);
    auto root = readFile(session, 0, c.container);
    if (root)
        c.root = *root;
    else
        c.problems.push_back(root.problem()); // whatever else was found: this is why there is no tree
    session.finish();
    checkExtension(c, name);
    addCutFile(c);
}

bool isShardName(std::string_view name)
{
    return name.find("-of-") != std::string_view::npos && endsWithAny(name, {".safetensors", ".bin"});
}

// What a folder is. The same marks serve to find a checkpoint in the folders below.
enum class FolderKind { Unknown, Dcp, DcpUnfinished, HfIndex, HfShards, Zero, ZeroLatest, DcpHf, Files };

FolderKind kindOf(const std::vector<std::string>& files, std::string* index = nullptr)
{
    const auto any = [&](auto test) { return std::any_of(files.begin(), files.end(), test); };
    const auto all = [&](auto test) {
        return !files.empty() && std::all_of(files.begin(), files.end(), test);
    };
    const auto is = [&](std::string_view name) {
        return std::find(files.begin(), files.end(), name) != files.end();
    };
    if (is(".metadata") || is("__0.metadata"))
        return FolderKind::Dcp;
    if (is(".metadata.tmp") || any([](const std::string& f) { return f.ends_with(".distcp"); }))
        return FolderKind::DcpUnfinished;
    for (const std::string& f : files) {
        if (!f.ends_with(".index.json"))
            continue;
        if (index)
            *index = f;
        return FolderKind::HfIndex;
    }
    if (is("latest"))
        return FolderKind::ZeroLatest;
    if (any([](const std::string& f) { return f.ends_with("_optim_states.pt"); }))
        return FolderKind::Zero;
    if (all([](const std::string& f) { return f.starts_with("shard-") && f.ends_with(".safetensors"); }))
        return FolderKind::DcpHf;
    if (any([](const std::string& f) { return isShardName(f); }))
        return FolderKind::HfShards;
    if (any([](const std::string& f) { return isCheckpointName(f); }))
        return FolderKind::Files;
    return FolderKind::Unknown;
}

// A checkpoint at most three folders below, the first in alphabetical order.
std::string findBelow(const Folder& folder, int depth)
{
    int looked = 0;
    for (const std::string& name : folder.folders()) {
        const Folder child = folder.child(name);
        if (kindOf(child.files()) != FolderKind::Unknown)
            return child.prefix().substr(0, child.prefix().size() - 1);
        if (depth > 1)
            if (std::string found = findBelow(child, depth - 1); !found.empty())
                return found;
        if (++looked > 100)
            break;
    }
    return {};
}

void addProblem(Checkpoint& c, CkptFault fault, std::string file, std::string why, std::string detail = {})
{
    CkptProblem p;
    p.fault = fault;
    p.file = std::move(file);
    p.why = std::move(why);
    p.detail = std::move(detail);
    p.fatal = true;
    c.report(std::move(p));
}

void openZeroLatest(PickleSession& session, const Folder& folder)
{
    Checkpoint& c = session.c;
    c.container = Container::Zero;
    auto latest = folder.open("latest");
    if (!latest) {
        c.report(latest.problem());
        return;
    }
    std::string name(reinterpret_cast<const char*>((*latest)->bytes().data()),
                     std::min<std::size_t>((*latest)->size(), 300));
    while (!name.empty() && (name.back() == '\n' || name.back() == '\r' || name.back() == ' '))
        name.pop_back();
    const bool simple = !name.empty() && name.find('/') == std::string::npos &&
                        name.find('\0') == std::string::npos && name != ".." && name != ".";
    const auto folders = folder.folders();
    if (!simple || std::find(folders.begin(), folders.end(), name) == folders.end()) {
        std::string there;
        for (const std::string& f : folders)
            there += (there.empty() ? "" : ", ") + f;
        addProblem(c, simple ? CkptFault::ZeroLatest : CkptFault::UnsafePath, "latest",
                   "names the folder \"" + name.substr(0, 100) + "\", which is not there" +
                       (there.empty() ? "" : "; there are: " + there),
                   there);
        return;
    }
    readZero(session, folder, folder.child(name));
}

// A folder of checkpoints that belong to nothing larger: a dict of their trees by file name.
void readFiles(PickleSession& session, const Folder& folder)
{
    Checkpoint& c = session.c;
    c.container = Container::Folder;
    const NodeId root = session.builder.dict(DictType::Plain);
    for (const std::string& name : c.fileNames) {
        if (!isCheckpointName(name))
            continue;
        if (const NodeId tree = readMember(session, folder, name); tree != kNone)
            session.builder.append(root, {session.builder.text(ValueKind::Str, c.keep(name)), tree});
    }
    c.root = root;
}

void readAnyFolder(Checkpoint& c, const std::string& path, const OpenOptions& options)
{
    const Folder folder(path);
    c.fileNames = folder.files();
    PickleSession session(c);
    std::string index;
    switch (kindOf(c.fileNames, &index)) {
    case FolderKind::Dcp:
        c.container = Container::Dcp;
        readDcp(session, folder, options.readItems);
        break;
    case FolderKind::DcpUnfinished: {
        c.container = Container::Dcp;
        const bool tmp =
            std::find(c.fileNames.begin(), c.fileNames.end(), ".metadata.tmp") != c.fileNames.end();
        addProblem(c, CkptFault::DcpNoMetadata, ".metadata",
                   tmp ? "only .metadata.tmp is there: the save did not finish"
                       : "there is no .metadata: the save did not finish, or the file was not copied",
                   tmp ? ".metadata.tmp" : "");
        break;
    }
    case FolderKind::HfIndex:
        c.container = Container::HfIndex;
        readHfIndex(session, folder, index);
        break;
    case FolderKind::HfShards:
        c.container = Container::HfIndex;
        addProblem(c, CkptFault::FileMissing, "", "numbered shards without their index (*.index.json)",
                   "index");
        break;
    case FolderKind::ZeroLatest:
        openZeroLatest(session, folder);
        break;
    case FolderKind::Zero:
        c.container = Container::Zero;
        readZero(session, folder, folder);
        break;
    case FolderKind::DcpHf:
        c.container = Container::DcpHf;
        readDcpSafetensors(session, folder);
        break;
    case FolderKind::Files:
        readFiles(session, folder);
        break;
    case FolderKind::Unknown: {
        const std::string below = findBelow(folder, 3);
        if (below.empty())
            addProblem(c, CkptFault::FolderUnknown, "", "a folder without any checkpoint file");
        else
            addProblem(c, CkptFault::FolderLevel, "",
                       "the checkpoint lies in \"" + below + "\" below this folder", below);
        break;
    }
    }
    session.finish();
    addCutFile(c);
}

} // namespace

Result<Checkpoint> openCheckpoint(const std::string& path, const OpenOptions& options)
{
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
        return Error{ErrorKind::NotFound, "Cannot open " + path, std::strerror(errno), "Check the path"};
    Checkpoint c;
    c.path = path;
    if (S_ISDIR(info.st_mode)) {
        readAnyFolder(c, path, options);
        return c;
    }
    std::string error;
    auto file = MappedFile::open(path, baseName(path), &error);
    if (!file)
        return Error{ErrorKind::Io, "Cannot open " + path, error,
                     "Check the permissions, and that it is a file or folder"};
    readSingle(c, std::move(file));
    return c;
}

Checkpoint openCheckpointBytes(std::span<const std::byte> bytes, const std::string& name)
{
    Checkpoint c;
    c.path = name;
    readSingle(c, MappedFile::view(bytes, name));
    return c;
}

} // namespace lockstep
