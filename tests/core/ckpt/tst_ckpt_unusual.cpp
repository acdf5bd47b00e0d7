// Checkpoints as programs rarely write them, written and read by torch (make_unusual.py): every tensor must agree with what torch
// finds, the file must be sound in the eyes of verify, and a copy of it must load with weights_only=True and hold the same bits.
#include "core/ckpt/convert.h"
#include "core/ckpt/manifest.h"
#include "core/ckpt/open.h"
#include "core/ckpt/verify.h"
#include "core/config/json.h"
#include "tests/core/ckpt/python_torch.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <map>

using namespace lockstep;

namespace {

// path -> the rest of the line, in one text each.
using Tensors = std::map<std::string, std::string>;

std::string text(const rapidjson::Value& value)
{
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    value.Accept(writer);
    return {buffer.GetString(), buffer.GetSize()};
}

Tensors wanted(const rapidjson::Value& list)
{
    Tensors tensors;
    for (const auto& t : list.GetArray()) {
        std::string rest;
        for (rapidjson::SizeType i = 1; i < t.Size(); ++i)
            rest += text(t[i]) + " ";
        tensors[t[0].GetString()] = rest;
    }
    return tensors;
}

Tensors found(const rapidjson::Value& entries)
{
    Tensors tensors;
    for (const auto& e : entries.GetArray()) {
        if (std::string_view(e["kind"].GetString()) != "tensor")
            continue;
        std::string rest;
        for (const char* field : {"dtype", "shape", "stride", "offset", "sha256"})
            rest += text(e[field]) + " ";
        tensors[e["path"].GetString()] = rest;
    }
    return tensors;
}

} // namespace

class TestCkptUnusual : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // LOCKSTEP_CKPT_DIST=1 adds folders saved by several processes.
    void tensorsAreThoseTorchFinds();
};

void TestCkptUnusual::tensorsAreThoseTorchFinds()
{
    if (pythonWithTorch().isEmpty())
        QSKIP("No Python with torch; run ./dev setup");
    QTemporaryDir folder;
    QProcess python;
    QStringList arguments = {QStringLiteral(LOCKSTEP_SOURCE_DIR "/tests/core/ckpt/make_unusual.py"),
                             folder.path()};
    if (qEnvironmentVariableIsSet("LOCKSTEP_CKPT_DIST"))
        arguments << QStringLiteral("--dist");
    python.start(pythonWithTorch(), arguments);
    QVERIFY(python.waitForFinished(600'000));
    QVERIFY2(python.exitCode() == 0, python.readAllStandardError().right(2000).constData());

    std::ifstream truth(folder.filePath(QStringLiteral("truth.jsonl")).toStdString());
    QStringList wrong;
    QByteArray copies;
    int count = 0;
    for (std::string line; std::getline(truth, line); ++count) {
        const auto entry = parseJson(line, "truth.jsonl");
        QVERIFY(entry.ok());
        const std::string name = (*entry)["file"].GetString();
        const std::string path = folder.path().toStdString() + "/" + name;
        const auto bad = [&](const std::string& what) {
            wrong << QString::fromStdString(name + ": " + what);
        };
        auto checkpoint = openCheckpoint(path);
        QVERIFY(checkpoint.ok());
        const auto manifest = parseJson(manifestJson(*checkpoint, {}), "manifest");
        QVERIFY(manifest.ok());
        const Tensors here = found((*manifest)["entries"]);
        for (const auto& [key, rest] : wanted((*entry)["tensors"])) {
            const auto match = here.find(key);
            if (match == here.end())
                bad(key.substr(0, 100) + " is missing");
            else if (match->second != rest)
                bad(key.substr(0, 100) + " is " + match->second + "instead of " + rest);
        }
        const auto report = verifyCheckpoint(path, nullptr, {});
        QVERIFY(report.ok());
        for (const Verdict& verdict : report->verdicts)
            if (verdict.severity == Severity::Failure && verdict.row != "45" && verdict.row != "46")
                bad("row " + verdict.row + ": " + verdict.sentence);
        const std::string copy = path + ".copy";
        ConvertOptions options;
        options.durable = false;
        const auto converted = convertCheckpoint(*checkpoint, copy, options);
        if (!converted) {
            bad(converted.error().sentence());
            continue;
        }
        copies += QByteArray::fromStdString(copy + "\t" + text((*entry)["tensors"]) + "\n");
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.mid(0, 20).join(QLatin1Char('\n'))));
    QVERIFY(count > 80);

    // The copies: same keys, types, shapes and bits (storages are laid out anew where shards are joined).
    const QByteArray said = runPython(R"(
import json, sys, torch
sys.path.insert(0, sys.argv[1])
import make_unusual
n = 0
for line in sys.stdin:
    file, wanted = line.rstrip("\n").split("\t", 1)
    found = {t[0]: t for t in make_unusual.tensors(torch.load(file, weights_only=True))}
    for path, dtype, shape, stride, offset, sha in json.loads(wanted):
        t = found.get(path)
        if t is None or (t[1], t[2], t[5]) != (dtype, shape, sha):
            print(file, path[:100], t)
    n += 1
print(n)
)",
                                      copies, {QStringLiteral(LOCKSTEP_SOURCE_DIR "/tests/core/ckpt")});
    QCOMPARE(said, QByteArray::number(count));
}

QTEST_GUILESS_MAIN(TestCkptUnusual)
#include "tst_ckpt_unusual.moc"
