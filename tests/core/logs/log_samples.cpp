#include "tests/core/logs/log_samples.h"

#include "core/logs/read_logs.h"
#include "core/store/sqlite.h"
#include "tests/core/logs/log_bytes.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QtTest>

namespace lockstep::test {

const char* const kHf = R"({
  "epoch": 0.5,
  "log_history": [
    {"epoch": 0.1, "grad_norm": 1.5, "loss": 0.75, "step": 1},
    {"epoch": 0.2, "grad_norm": NaN, "loss": 0.0, "step": 2, "nested": {"a": 1}},
    {"epoch": 0.2, "eval_loss": -Infinity, "note": "a } in a \" string", "step": 2},
    {"epoch": 0.3, "grad_norm": 1.25, "loss": 1e-300, "step": 3}
  ],
  "max_steps": 3
}
)";
const char* const kCsv =
    "epoch,\"loss, \"\"raw\"\"\",step,val\r\n0,0.5,0,\r\n0,nan,1,\r\n,,1,0.25\r\n0,-inf,2,\r\n";
const char* const kMegatron =
    "> building the model ...\n"
    " [2026-03-02 09:00:00.953456] iteration        1/     500 | consumed samples:           16 | lm loss: "
    "1.058850E+01 | "
    "loss scale: 1.0 | grad norm: 0.895 | number of skipped iterations:   0 | number of nan iterations:   0 "
    "|\n"
    "warning: slow data loader, iteration 4, loss: unknown | iteration 7/ 9 was fine\n"
    " iteration        2/     500 | consumed samples:           32 | lm loss: 0.000000E+00 | loss scale: 1.0 "
    "| number of "
    "skipped iterations:   1 | number of nan iterations:   0 |\n"
    " iteration        3/     500 | consumed samples:           48 | lm loss: INF | loss scale: 1.0 | grad "
    "norm: inf | "
    "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    " validation loss at iteration 3 | lm loss value: 5.491602E+00 | lm loss PPL: 2.426456E+02 | \n";
const char* const kTorchtitan =
    "[rank1]:[titan] 2026-03-02 09:00:01,137 - root - INFO - Training starts at step 1\n"
    "[rank1]:[titan] 2026-03-02 09:00:01,137 - root - INFO - \x1b[31mstep:  1  \x1b[32mloss:  7.98866  "
    "\x1b[38;2;180;60;0mgrad_norm:  0.8519  \x1b[38;2;54;234;195mmemory:  3.25GiB(3.42%)  \x1b[34mtps: "
    "12,000  "
    "\x1b[35mmfu: 2.31%\x1b[39m\n"
    "[rank0]:[titan] 2026-03-02 09:00:01,137 - root - INFO - \x1b[31mstep:  1  \x1b[32mloss:  nan  "
    "\x1b[34mtps: 1,012,026  "
    "mfu: N/A\x1b[39m\n"
    "[rank0]:[titan] 2026-03-02 09:00:01,137 - root - INFO - validate step:  1  loss:  7.1234  tps: 99\n";

std::string tbFile()
{
    std::string file = tfVersion(1000);
    for (int step = 1; step <= 5; ++step)
        file += tfScalar(step, "train/loss", 1.0f / float(step)) + tfScalar(step, "lr", 0.5f);
    return file + tfText(5, "notes", "hello");
}

std::string wandbSmall()
{
    return wandbFile(
        {wandbRun("abc", "group", 2, 1000),
         wandbHistory(
             0, {{{"loss"}, "3"}, {{"_step"}, "0"}, {{"_runtime"}, "1.5"}, {{"layer.0", "norm"}, "-0"}}),
         wandbHistory(
             1, {{{"loss"}, "NaN"}, {{"text"}, "\"12\""}, {{"none"}, "null"}, {{"_timestamp"}, "1.79e+09"}}),
         wandbHistory(2, {{{"loss"}, "-Infinity"}, {{"hist"}, R"({"_type":"histogram"})"}})});
}

void makeTrackio(const std::string& path, bool runIds)
{
    using store::Database;
    Result<Database> database = Database::open(store::fileUri(path), Database::Mode::Create, path);
    QVERIFY(database.ok());
    const std::string id = runIds ? "run_id TEXT, " : "";
    const std::string one = runIds ? "'i1', " : "", two = runIds ? "'i2', " : "";
    const std::vector<std::string> all = {
        "PRAGMA journal_mode = DELETE",
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY, " + id + "run_name TEXT, step INTEGER, metrics TEXT)",
        "CREATE TABLE configs (" + id + "run_name TEXT, config TEXT)",
        "INSERT INTO configs VALUES(" + one + R"('one', CAST('{"rank":0,"_Group":"g"}' AS BLOB)))",
        "INSERT INTO metrics VALUES(1, " + one +
            R"('one', 0, CAST('{"loss":1.5,"scaler":{"scale":65536}}' AS BLOB)))",
        "INSERT INTO metrics VALUES(2, " + two +
            R"('two', 5, CAST('{"loss":"Infinity","ok":true,"word":"x"}' AS BLOB)))",
        "INSERT INTO metrics VALUES(3, " + one + R"('one', 1, CAST('{"loss":"NaN"}' AS BLOB)))",
        "INSERT INTO metrics VALUES(4, " + one + "'one', 2, 'no json')"};
    for (const std::string& sql : all)
        QVERIFY2(database->execute(sql.c_str()).ok(), sql.c_str());
}

std::string LogFolder::write(const QString& name, const std::string& bytes) const
{
    const QString path = folder_.filePath(name);
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) ||
        file.write(bytes.data(), qint64(bytes.size())) != qint64(bytes.size()))
        qFatal("cannot write %s", qPrintable(path));
    return path.toStdString();
}

LogData readLog(const std::string& path)
{
    Result<LogData> data = readLogs(path);
    if (!data)
        qWarning("%s", data.error().sentence().c_str());
    return data ? std::move(data).value() : LogData();
}

} // namespace lockstep::test
