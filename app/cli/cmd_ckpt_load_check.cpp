// ckpt load-check: loads a file with torch itself, in a process of its own, with weights_only=True.
#include "app/cli/ckpt_commands.h"
#include "app/cli/json_output.h"
#include "core/ckpt/walk.h"

#include <fmt/format.h>

#include <QCoreApplication>
#include <QProcess>
#include <QProcessEnvironment>
#include <QStandardPaths>

#include <memory>

namespace lockstep {

namespace {

struct LoadCheckCommand {
    std::string path;
    std::string python;
    int timeoutSeconds = 600;
};

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
        from safetensors.torch import load_file
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

int loadCheck(const LoadCheckCommand& command, CliContext& context)
{
    const QCoreApplication application(context.argc, context.argv);
    const QString python = interpreter(command.python);
    if (python.isEmpty())
        return fail({ErrorKind::Environment, "The file cannot be loaded with torch", "no Python was found",
                     "Give one with --python"});
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PYTHONWARNINGS"), QStringLiteral("ignore"));
    process.setProcessEnvironment(environment);
    process.start(python,
                  {QStringLiteral("-c"), QString::fromUtf8(kScript), QString::fromStdString(command.path)});
    if (!process.waitForStarted())
        return fail({ErrorKind::Environment, "The file cannot be loaded with torch",
                     python.toStdString() + " does not start", "Give another Python with --python"});
    if (!process.waitForFinished(command.timeoutSeconds * 1000)) {
        process.kill();
        process.waitForFinished();
        return fail({ErrorKind::Input, command.path + " was not loaded",
                     fmt::format("torch took longer than {} s", command.timeoutSeconds),
                     "Allow more with --timeout"});
    }
    const std::string answer = process.readAllStandardOutput().trimmed().toStdString();
    const Result<rapidjson::Document> json = parseJson(answer, "the answer of Python");
    if (process.exitStatus() != QProcess::NormalExit || !json || !json->IsObject())
        return fail(
            {ErrorKind::Input, command.path + " was not loaded",
             "Python ended early: " + process.readAllStandardError().right(300).trimmed().toStdString(),
             "Run ckpt verify on it"});
    const auto text = [&](const char* name) {
        const auto found = json->FindMember(name);
        return found != json->MemberEnd() && found->value.IsString() ? std::string(found->value.GetString())
                                                                     : std::string();
    };
    if (text("torch").empty())
        return fail({ErrorKind::Environment, "The file cannot be loaded with torch", text("error"),
                     "Give a Python that has torch with --python"});
    const bool ok = (*json)["ok"].IsTrue();
    if (context.json)
        fmt::print("{}\n", answer);
    else if (ok)
        fmt::print("torch {} loads it with weights_only=True: {} tensors, {} bytes.\n", text("torch"),
                   (*json)["tensors"].GetUint64(), (*json)["bytes"].GetUint64());
    else
        fmt::print("torch {} does not load it: {}\n", text("torch"), printable(text("error")));
    return ok ? 0 : 1;
}

} // namespace

void addCkptLoadCheck(CLI::App& ckpt, CliContext& context)
{
    auto options = std::make_shared<LoadCheckCommand>();
    CLI::App* command =
        context.command(ckpt, "load-check", "Load a file once with Python's torch, in a process of its own",
                        [&context, options] { return loadCheck(*options, context); });
    command->add_option("path", options->path, "checkpoint file")->required()->option_text("FILE");
    command
        ->add_option("--python", options->python,
                     "Python with torch (default: LOCKSTEP_PYTHON, the active environment, python3)")
        ->option_text("PROGRAM");
    command->add_option("--timeout", options->timeoutSeconds, "seconds to wait (default 600)")
        ->check(CLI::PositiveNumber);
}

} // namespace lockstep
