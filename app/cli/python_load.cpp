#include "app/cli/python_load.h"

#include "core/config/json.h"

#include <QProcess>
#include <QProcessEnvironment>
#include <QStandardPaths>

#include <fmt/format.h>

namespace lockstep {

namespace {

// Prints one line of JSON. Nothing of the file runs: weights_only builds plain data and refuses the rest.
const char* const kScript = R"(
import json, sys
try:
    import torch
except Exception as e:
    print(json.dumps({"torch": None, "error": "%s: %s" % (type(e).__name__, e)})); sys.exit(0)
r = {"torch": torch.__version__, "ok": False, "tensors": 0, "bytes": 0, "error": None}
def walk(v, seen, depth=0):
    if isinstance(v, torch.Tensor):
        r["tensors"] += 1
        r["bytes"] += v.numel() * v.element_size() if v.layout == torch.strided else 0
    elif id(v) not in seen and depth < 200:
        seen.add(id(v))
        if isinstance(v, dict):
            for x in v.values(): walk(x, seen, depth + 1)
        elif isinstance(v, (list, tuple)):
            for x in v: walk(x, seen, depth + 1)
try:
    if sys.argv[1].endswith(".safetensors"):
        try:
            from safetensors.torch import load_file
        except ImportError:
            r["missing"] = "safetensors"
            raise
        d = load_file(sys.argv[1])
    else:
        d = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
    walk(d, set())
    r["ok"] = True
except BaseException as e:
    r["error"] = "%s: %s" % (type(e).__name__, e)
print(json.dumps(r))
)";

// The interpreter asked for, the one named by LOCKSTEP_PYTHON, that of an active virtual environment, or python3.
QString interpreter(const std::string& wanted)
{
    if (!wanted.empty())
        return QString::fromStdString(wanted);
    const QString named = qEnvironmentVariable("LOCKSTEP_PYTHON");
    if (!named.isEmpty())
        return named;
    const QString environment = qEnvironmentVariable("VIRTUAL_ENV");
    if (!environment.isEmpty())
        return environment + QStringLiteral("/bin/python");
    return QStandardPaths::findExecutable(QStringLiteral("python3"));
}

} // namespace

Result<PythonLoad> loadWithPython(const std::string& path, const std::string& wanted, int timeoutSeconds)
{
    const QString python = interpreter(wanted);
    if (python.isEmpty())
        return Error{ErrorKind::Environment, "The file cannot be loaded with torch", "no Python was found",
                     "Give one with --python"};
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PYTHONWARNINGS"), QStringLiteral("ignore"));
    process.setProcessEnvironment(environment);
    process.start(python, {QStringLiteral("-c"), QString::fromUtf8(kScript), QString::fromStdString(path)});
    if (!process.waitForStarted())
        return Error{ErrorKind::Environment, "The file cannot be loaded with torch",
                     python.toStdString() + " does not start", "Give another Python with --python"};
    if (!process.waitForFinished(timeoutSeconds * 1000)) {
        process.kill();
        process.waitForFinished();
        return Error{ErrorKind::Input, path + " was not loaded",
                     fmt::format("torch took longer than {} s", timeoutSeconds), "Allow more with --timeout"};
    }
    PythonLoad load;
    load.json = process.readAllStandardOutput().trimmed().toStdString();
    const Result<rapidjson::Document> json = parseJson(load.json, "the answer of Python");
    if (process.exitStatus() != QProcess::NormalExit || !json || !json->IsObject())
        return Error{ErrorKind::Input, path + " was not loaded",
                     "Python ended early: " +
                         process.readAllStandardError().right(300).trimmed().toStdString(),
                     "Run ckpt verify on it"};
    const auto text = [&](const char* name) {
        const auto found = json->FindMember(name);
        return found != json->MemberEnd() && found->value.IsString() ? std::string(found->value.GetString())
                                                                     : std::string();
    };
    load.torch = text("torch");
    load.error = text("error");
    if (load.torch.empty())
        return Error{ErrorKind::Environment, "The file cannot be loaded with torch", load.error,
                     "Give a Python that has torch with --python"};
    if (const std::string missing = text("missing"); !missing.empty())
        return Error{
            ErrorKind::Environment, "The file cannot be loaded with Python", load.error,
            fmt::format("Install {0} into that Python (pip install {0}), or give another one with --python",
                        missing)};
    load.ok = (*json)["ok"].IsTrue();
    load.tensors = (*json)["tensors"].GetInt64();
    load.bytes = (*json)["bytes"].GetUint64();
    return load;
}

} // namespace lockstep
