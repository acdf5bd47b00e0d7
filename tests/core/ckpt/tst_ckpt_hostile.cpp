// The readers against inputs made to break them, and against files that change or cannot be read. Nothing may be run, nothing outside
// a folder opened, no process may die, and memory stays small.
#include "core/ckpt/convert.h"
#include "core/ckpt/diff.h"
#include "core/ckpt/manifest.h"
#include "core/ckpt/open.h"
#include "core/ckpt/torch_zip_writer.h"
#include "core/ckpt/verify.h"
#include "core/config/json.h"

#include <QtTest>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace lockstep;

namespace {

const std::string kCorpus = LOCKSTEP_SHARED_DIR "/corpus";
#if defined(__SANITIZE_ADDRESS__)
constexpr long kMostKiB = 1 << 20; // the sanitizer keeps what was freed
#else
constexpr long kMostKiB = 64 << 10;
#endif

std::string readAll(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// From here on this process dies if it starts a program or a process, opens a socket, or changes a file: the kernel checks it.
bool forbidActions()
{
    std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (const long call : {SYS_execve, SYS_execveat, SYS_socket, SYS_unlinkat, SYS_renameat2, SYS_mkdirat,
                            SYS_ptrace, SYS_kill}) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    }
#ifdef SYS_fork
    for (const long call : {SYS_fork, SYS_vfork, SYS_unlink, SYS_rename, SYS_mkdir, SYS_creat}) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    }
#endif
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What a child process came to.
struct ChildResult {
    std::string answer;
    int status = 0;
    long peakKiB = 0; // beyond what this process held when it started

    bool finished() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
};

ChildResult inChild(const std::function<std::string()>& work)
{
    ChildResult result;
    int pipes[2];
    if (::pipe(pipes) != 0)
        return result;
    struct rusage own = {};
    ::getrusage(RUSAGE_SELF, &own);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(pipes[0]);
        ::alarm(60); // a hang is a death
        std::string answer = work();
        answer.resize(std::min<std::size_t>(answer.size(), 1u << 22));
        for (std::size_t at = 0; at < answer.size();) {
            const auto n = ::write(pipes[1], answer.data() + at, answer.size() - at);
            if (n <= 0)
                break;
            at += static_cast<std::size_t>(n);
        }
        ::_exit(0);
    }
    ::close(pipes[1]);
    char buffer[65536];
    for (ssize_t n; (n = ::read(pipes[0], buffer, sizeof buffer)) > 0;)
        result.answer.append(buffer, static_cast<std::size_t>(n));
    ::close(pipes[0]);
    struct rusage usage = {};
    ::wait4(child, &result.status, 0, &usage);
    result.peakKiB = usage.ru_maxrss - own.ru_maxrss;
    return result;
}

// A state dict of one float32 tensor of `elements` zeros.
void writeCheckpoint(const std::string& path, std::size_t elements)
{
    const std::vector<std::byte> zeros(4 * elements);
    SaveDict root;
    root.set("w", SaveTensor::dense(DType::Float32, {static_cast<std::int64_t>(elements)}, zeros));
    if (!writeTorchZip(path, root).ok())
        QFAIL("cannot write a checkpoint");
}

} // namespace

class TestCkptHostile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void hostileInputsEndInAnAnswer();
    void nothingOutsideTheFolderIsOpened();
    void fileCutWhileOpenIsAnError();
    void fileCutWhileOpenIsNotConverted();
    void specialFilesAreRefused();
    void specialFilesInFoldersAreMissing();
    void linkLoopsEnd();
    void unreadableFilesAreNamed();
    void unreadableFileOfARankIsAFinding();
};

void TestCkptHostile::hostileInputsEndInAnAnswer()
{
    QTemporaryDir made;
    QProcess python;
    python.start("python3", {LOCKSTEP_SOURCE_DIR "/tests/core/ckpt/make_hostile.py", made.path()});
    QVERIFY(python.waitForFinished(300'000));
    QCOMPARE(python.exitCode(), 0);
    std::vector<std::string> roots = {made.path().toStdString()};
    if (std::filesystem::exists(kCorpus + "/hostile/cases.json"))
        roots.push_back(kCorpus + "/hostile");
    // Control: the kernel does stop a process that starts a program.
    const ChildResult control = inChild([] {
        if (forbidActions())
            ::execl("/bin/true", "true", nullptr);
        return std::string();
    });
    QVERIFY(WIFSIGNALED(control.status) && WTERMSIG(control.status) == SIGSYS);
    QTemporaryDir workFolder;
    QStringList wrong;
    int count = 0;
    for (const std::string& root : roots) {
        const auto cases = parseJson(readAll(root + "/cases.json"), "cases.json");
        QVERIFY(cases.ok());
        for (const auto& entry : cases->GetArray()) {
            const std::string name = entry["name"].GetString();
            const std::string expect = entry["expect"].GetString();
            const ChildResult child = inChild([&]() -> std::string {
                if (::chdir(workFolder.path().toLocal8Bit().constData()) != 0 || !forbidActions())
                    return {};
                const std::string path = root + "/" + name;
                const auto verified = verifyCheckpoint(path, nullptr);
                auto opened = openCheckpoint(path);
                if (!opened || !verified)
                    return {};
                (void)previewConvert(*opened, {}); // an answer, whichever
                return manifestJson(*opened, {});
            });
            ++count;
            const auto bad = [&](const char* what) { wrong << QString("%1: %2").arg(name.c_str(), what); };
            if (!child.finished())
                bad("died");
            if (child.peakKiB > kMostKiB)
                bad(qPrintable(QString("took %1 KiB").arg(child.peakKiB)));
            const bool error = child.answer.find("\"error\":{") != std::string::npos;
            if (expect == "error" && !(error && child.answer.find("\"offset\":") != std::string::npos))
                bad("no error with an offset");
            if (expect == "tree" && error)
                bad("an error on a legal input");
            if (entry.HasMember("globals"))
                for (const auto& g : entry["globals"].GetArray())
                    if (child.answer.find(g.GetString()) == std::string::npos)
                        bad("a global is not named");
            if (!std::filesystem::is_empty(workFolder.path().toStdString()))
                bad("left a file: something was run");
        }
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    QVERIFY(count >= 100);
}

void TestCkptHostile::nothingOutsideTheFolderIsOpened()
{
    QTemporaryDir outer;
    const std::string base = outer.path().toStdString();
    std::filesystem::create_directory(base + "/in");
    std::ofstream(base + "/secret.safetensors") << "secret";
    for (const std::string shard :
         {"../secret.safetensors", "/etc/passwd", "https://example.org/x.safetensors", "",
          "./../in/../secret.safetensors"}) {
        std::ofstream(base + "/in/model.safetensors.index.json")
            << "{\"weight_map\":{\"w\":\"" << shard << "\"}}";
        const auto c = openCheckpoint(base + "/in");
        QVERIFY(c.ok());
        QCOMPARE(c->problems.size(), std::size_t{1});
        QCOMPARE(c->problems[0].fault, CkptFault::UnsafePath);
        QVERIFY(c->files.empty());
    }
    std::filesystem::create_symlink("../secret.safetensors", base + "/in/link.safetensors");
    std::ofstream(base + "/in/model.safetensors.index.json")
        << "{\"weight_map\":{\"w\":\"link.safetensors\"}}";
    const auto c = openCheckpoint(base + "/in");
    QCOMPARE(c->problems.at(0).fault, CkptFault::UnsafePath);
}

// torch.save opens the file it overwrites with truncation, so this happens to whoever looks at a running training's checkpoint.
void TestCkptHostile::fileCutWhileOpenIsAnError()
{
    QTemporaryDir folder;
    const std::string path = folder.filePath("w.pt").toStdString();
    const std::string other = folder.filePath("other.pt").toStdString();
    writeCheckpoint(path, 1 << 20);
    writeCheckpoint(other, 1 << 20);
    const ChildResult child = inChild([&]() -> std::string {
        auto a = openCheckpoint(path), b = openCheckpoint(other);
        if (!a || !b || ::truncate(path.c_str(), 100000) != 0)
            return "cannot prepare";
        const CheckpointDiff diff = diffCheckpoints(*b, *a);
        return manifestJson(*a, {}) + std::string(diffStatusName(diff.keys.at(0).status));
    });
    QVERIFY2(child.finished(), "the process died");
    QVERIFY2(child.answer.find("became shorter while it was read") != std::string::npos,
             child.answer.c_str());
    QVERIFY2(child.answer.ends_with("unreadable"), child.answer.c_str());
}

void TestCkptHostile::fileCutWhileOpenIsNotConverted()
{
    QTemporaryDir folder;
    const std::string path = folder.filePath("w.pt").toStdString();
    for (const OutputFormat format : {OutputFormat::Torch, OutputFormat::Safetensors}) {
        const std::string output = folder.filePath("new").toStdString();
        writeCheckpoint(path, 1 << 20);
        const ChildResult child = inChild([&]() -> std::string {
            auto opened = openCheckpoint(path);
            if (!opened || ::truncate(path.c_str(), 100000) != 0)
                return "cannot prepare";
            ConvertOptions options;
            options.format = format;
            const auto converted = convertCheckpoint(*opened, output, options);
            return converted ? "converted" : converted.error().sentence();
        });
        QVERIFY2(child.finished(), "the process died");
        QVERIFY2(child.answer.find("became shorter") != std::string::npos, child.answer.c_str());
        QVERIFY(!std::filesystem::exists(output));
    }
}

void TestCkptHostile::specialFilesAreRefused()
{
    QTemporaryDir folder;
    const std::string pipe = folder.filePath("pipe.pt").toStdString();
    QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
    const std::string name = folder.filePath("socket.pt").toStdString();
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    QCOMPARE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    for (const std::string& path : {pipe, name, std::string("/dev/zero"), std::string("/dev/null")}) {
        const ChildResult child = inChild([&]() -> std::string {
            const auto opened = openCheckpoint(path);
            const auto verified = verifyCheckpoint(path, nullptr, {});
            return opened.ok() || verified.ok() ? "read" : opened.error().sentence();
        });
        QVERIFY2(child.finished(), path.c_str());
        QVERIFY2(child.answer != "read" && child.answer.find(path) != std::string::npos,
                 (path + ": " + child.answer).c_str());
    }
    ::close(socket);
}

void TestCkptHostile::specialFilesInFoldersAreMissing()
{
    QTemporaryDir folder;
    const std::string base = folder.path().toStdString();
    std::ofstream(base + "/model.safetensors.index.json")
        << "{\"weight_map\":{\"a\":\"pipe.safetensors\",\"b\":\"folder.safetensors\"}}";
    QCOMPARE(::mkfifo((base + "/pipe.safetensors").c_str(), 0600), 0);
    std::filesystem::create_directory(base + "/folder.safetensors");
    const ChildResult child = inChild([&]() -> std::string {
        const auto opened = openCheckpoint(base);
        std::string faults;
        for (const CkptProblem& problem : opened->problems)
            faults += std::string(ckptFaultName(problem.fault)) + " ";
        return faults;
    });
    QVERIFY(child.finished());
    QCOMPARE(child.answer, std::string("file_missing file_missing "));
}

void TestCkptHostile::linkLoopsEnd()
{
    QTemporaryDir folder;
    const std::string base = folder.path().toStdString();
    std::filesystem::create_symlink("loop.pt", base + "/loop.pt");
    QVERIFY(!openCheckpoint(base + "/loop.pt").ok());
    // A folder that contains itself by a link: the search for a checkpoint below must end.
    std::filesystem::create_directory_symlink(base, base + "/again");
    const ChildResult child = inChild(
        [&]() -> std::string { return openCheckpoint(base)->problems.empty() ? "no problem" : "problem"; });
    QVERIFY(child.finished());
    QCOMPARE(child.answer, std::string("problem"));
}

void TestCkptHostile::unreadableFilesAreNamed()
{
    QTemporaryDir folder;
    const std::string base = folder.path().toStdString();
    writeCheckpoint(base + "/closed.pt", 4);
    std::filesystem::permissions(base, std::filesystem::perms(0755));
    std::filesystem::permissions(base + "/closed.pt", std::filesystem::perms::none);
    const ChildResult child = inChild([&]() -> std::string {
        if (::geteuid() == 0 && ::seteuid(65534) != 0) // root may read everything
            return "cannot prepare";
        const auto opened = openCheckpoint(base + "/closed.pt");
        return opened ? "read" : opened.error().sentence();
    });
    QVERIFY(child.finished());
    QVERIFY2(child.answer.find("closed.pt") != std::string::npos &&
                 child.answer.find("Permission denied") != std::string::npos,
             child.answer.c_str());
}

void TestCkptHostile::unreadableFileOfARankIsAFinding()
{
    QTemporaryDir folder;
    const std::string base = folder.path().toStdString();
    for (const char* name : {"/rank0.pt", "/rank1.pt"})
        writeCheckpoint(base + name, 4);
    std::filesystem::permissions(base, std::filesystem::perms(0755));
    std::filesystem::permissions(base + "/rank0.pt", std::filesystem::perms(0644));
    std::filesystem::permissions(base + "/rank1.pt", std::filesystem::perms::none);
    const ChildResult child = inChild([&]() -> std::string {
        if (::geteuid() == 0 && ::seteuid(65534) != 0) // root may read everything
            return "cannot prepare";
        const auto verified = verifyCheckpoint(base, nullptr);
        std::string answer = verified ? verified->result : verified.error().sentence();
        if (verified)
            for (const Verdict& verdict : verified->verdicts)
                answer += " " + verdict.file + ": " + verdict.sentence;
        return answer;
    });
    QVERIFY(child.finished());
    QVERIFY2(child.answer.starts_with("damaged") && child.answer.find("rank1.pt: ") != std::string::npos &&
                 child.answer.find("Permission denied") != std::string::npos,
             child.answer.c_str());
}

QTEST_GUILESS_MAIN(TestCkptHostile)
#include "tst_ckpt_hostile.moc"
