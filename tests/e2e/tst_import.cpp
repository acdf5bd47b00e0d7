// import: what of other tools' logs arrives in a project, how it compares, and, where the shared logs are, that every value of
// every format and every pair agrees with its truth.
#include "core/config/json.h"
#include "core/store/run_reader.h"
#include "tests/e2e/cli_runner.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <map>

using namespace lockstep;
using namespace lockstep::e2e;

namespace {

// A log of Megatron-LM: one line per step.
QByteArray megatron(const QList<QPair<int, QByteArray>>& rows)
{
    QByteArray text;
    for (const auto& [step, fields] : rows)
        text += " iteration " + QByteArray::number(step) +
                "/ 500 | elapsed time per iteration (ms): " + QByteArray::number(step * 7) + ".5 | " +
                fields + "\n";
    return text;
}

QByteArray loss(const char* value)
{
    return QByteArray("lm loss: ") + value + " | grad norm: 1.000 | my own: 2.50 |";
}

} // namespace

class TestImport : public ProjectTest
{
    Q_OBJECT

    QString write(const QString& name, const QByteArray& bytes)
    {
        const QString path = folder_->filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write %s", qPrintable(path));
        return path;
    }

    // Imports and gives the ids of the runs.
    QStringList imported(const QStringList& arguments)
    {
        const CliResult result =
            cli_->run(QStringList{"import", project_} + arguments + QStringList{"--json"});
        QStringList ids;
        if (result.exitCode != 0)
            qWarning("%s", result.error.constData());
        else
            for (const rapidjson::Value& run : result.json()["runs"].GetArray())
                ids << run["run"].GetString();
        return ids;
    }

    rapidjson::Document compared(const QString& a, const QString& b, const QStringList& more = {})
    {
        return cli_->run(QStringList{"compare", project_, a, b, "--json"} + more).json();
    }

    Result<RunReader> open(const QString& id)
    {
        return RunReader::open((project_ + "/runs/" + id).toStdString());
    }

private Q_SLOTS:
    void init() { QVERIFY(makeProject(QStringLiteral(LOCKSTEP_FAKE_WORKER))); }

    void aLogBecomesARun();
    void aRestartLeavesTheCurrentValues();
    void ranksBecomeRanksOfOneRun();
    void damageIsReportedWithItsPlace();
    void equalityEndsWithThePrintedDigits();
    void nanEqualsNan();
    void tagsPairByTheirNames();
    void aHiddenNanIsSaid();
    void namesAndWrongUse();
    void sharedLogsAgreeWithTheirTruth();
};

void TestImport::aLogBecomesARun()
{
    const QByteArray text = megatron({{1, loss("1.500000E+00")}, {2, loss("1.250000E+00")}});
    const QString path = write("my log.txt", text);
    const CliResult result = cli_->run({"import", project_, path, "--json"});
    QCOMPARE(result.exitCode, 0);
    const rapidjson::Document json = result.json();
    QCOMPARE(json["problems"].Size(), 0u);
    const rapidjson::Value& run = json["runs"][0];
    QCOMPARE(QByteArray(run["name"].GetString()), QByteArray("my log"));
    QCOMPARE(QByteArray(run["format"].GetString()), QByteArray("megatron"));
    QCOMPARE(run["last_step"].GetInt(), 2);

    Result<RunReader> reader = open(run["run"].GetString());
    QVERIFY(reader.ok());
    const Result<SeriesData> data = reader->read({0, Quantity::Loss, 0});
    QVERIFY(data.ok());
    QVERIFY(data->steps == (std::vector<std::int64_t>{1, 2}) && data->value(0) == 1.5 &&
            data->value(1) == 1.25);
    // A tag that is no quantity of ours is exported under its own name.
    const rapidjson::Document values =
        cli_->run({"export", project_, run["run"].GetString(), "--series", "my own", "--json"}).json();
    QCOMPARE(values["series"].Size(), 1u);
    QCOMPARE(QByteArray(values["series"][0]["tag"].GetString()), QByteArray("my own"));
    QCOMPARE(values["series"][0]["decimals"]["digits"].GetInt(), 2);
    QCOMPARE(values["series"][0]["values"][1].GetDouble(), 2.5);
    // The input is as it was.
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly) && file.readAll() == text);
    // And the run is one of the project's.
    QCOMPARE(QByteArray(cli_->run({"runs", project_, "--json"}).json()[0]["state"].GetString()),
             QByteArray("finished"));
}

void TestImport::aRestartLeavesTheCurrentValues()
{
    const QString id = imported({write("a.log", megatron({{1, loss("9.0E+00")},
                                                          {2, loss("8.0E+00")},
                                                          {3, loss("7.0E+00")},
                                                          {2, loss("6.0E+00")},
                                                          {2, loss("5.0E+00")},
                                                          {4, loss("4.0E+00")}}))})
                           .value(0);
    Result<RunReader> reader = open(id);
    QVERIFY(reader.ok());
    const Result<SeriesData> data = reader->read({0, Quantity::Loss, 0});
    QVERIFY(data.ok());
    QCOMPARE(data->steps, (std::vector<std::int64_t>{1, 2, 4}));
    QCOMPARE(data->value(0), 9.0);
    QCOMPARE(data->value(1), 5.0); // of a step that comes twice the last
    QCOMPARE(data->value(2), 4.0);
    const auto segments = reader->segments();
    QVERIFY(segments.ok() && segments->size() == 3);
    QCOMPARE(segments->back().reason, std::string("import"));
    const auto events = reader->events();
    QVERIFY(events.ok() && events->size() == 1 && events->front().kind == "segment" &&
            events->front().step == 2);
}

void TestImport::ranksBecomeRanksOfOneRun()
{
    QByteArray text;
    for (int step = 1; step <= 3; ++step)
        for (int rank = 0; rank < 2; ++rank)
            text += "[rank" + QByteArray::number(rank) + "]:step:  " + QByteArray::number(step) +
                    "  loss:  " + QByteArray::number(rank) + ".5\n";
    const QStringList ids = imported({write("ranks.log", text)});
    QCOMPARE(ids.size(), 1);
    Result<RunReader> reader = open(ids[0]);
    QVERIFY(reader.ok());
    QCOMPARE(reader->read({1, Quantity::Loss, 0})->value(2), 1.5);
    // Folders of ranks, one rank in each.
    for (int rank = 0; rank < 2; ++rank)
        write(QStringLiteral("csv/rank_%1/version_0/metrics.csv").arg(rank),
              "step,train_loss\r\n0," + QByteArray::number(rank) + "\r\n");
    const QStringList folders = imported({folder_->filePath("csv")});
    QCOMPARE(folders.size(), 1);
    QVERIFY(open(folders[0])->read({1, Quantity::Loss, 0})->value(0) == 1);
    // A log that only the last rank writes speaks for the run.
    const QString last = imported({write("last.log", "[default3]:step:  1  loss:  0.5\n")}).value(0);
    QCOMPARE(open(last)->read({0, Quantity::Loss, 0})->size(), 1u);
}

void TestImport::damageIsReportedWithItsPlace()
{
    const QByteArray whole = megatron({{1, loss("1.5E+00")}});
    const QString path = write("cut.log", whole + " iteration 2/ 500 | lm loss: 1.2");
    const CliResult result = cli_->run({"import", project_, path, "--json"});
    QCOMPARE(result.exitCode, 0);
    const rapidjson::Document json = result.json();
    QCOMPARE(json["problems"].Size(), 1u);
    QCOMPARE(json["problems"][0]["offset"].GetInt64(), qint64(whole.size()));
    QCOMPARE(QString::fromUtf8(json["problems"][0]["file"].GetString()), path);
    QCOMPARE(json["runs"][0]["last_step"].GetInt(), 1);
}

void TestImport::equalityEndsWithThePrintedDigits()
{
    const QByteArray text = megatron({{1, loss("1.500000E+00")}, {2, loss("1.250000E+00")}});
    const QString a = imported({write("a.log", text)}).value(0),
                  b = imported({write("b.log", text)}).value(0);
    const rapidjson::Document json = compared(a, b);
    QCOMPARE(QByteArray(json["verdict"].GetString()), QByteArray("equal_to_printed_digits"));
    QCOMPARE(json["printed"]["loss"]["digits"].GetInt(), 6);
    QVERIFY(!json["compared"].HasMember("elapsed time per iteration (ms)")); // no two runs share their times
    const CliResult words = cli_->run({"compare", project_, a, b});
    QCOMPARE(words.exitCode, 0);
    QVERIFY2(words.out.contains("loss to 7 printed digits") &&
                 words.out.contains("grad_norm to 3 printed decimals"),
             words.out.constData());
    QVERIFY(!words.out.contains("every bit"));
    // A difference is one, and what lies before it is equal only as far as it was printed.
    const QString c =
        imported({write("c.log", megatron({{1, loss("1.500000E+00")}, {2, loss("1.250001E+00")}}))}).value(0);
    QCOMPARE(compared(a, c)["first"][0]["step"].GetInt(), 2);
    QVERIFY(cli_->run({"compare", project_, a, c})
                .out.contains("equal as far as they print: loss to 7 printed digits"));
    // There is nothing in a log to diagnose by.
    QCOMPARE(cli_->run({"diagnose", project_, a, c}).exitCode, 3);
    QCOMPARE(cli_->run({"diagnose", project_}).exitCode, 3);
    QCOMPARE(QByteArray(compared(a, c, {"--mode", "rel:1e-5"})["verdict"].GetString()),
             QByteArray("equal_to_printed_digits"));
}

void TestImport::nanEqualsNan()
{
    const QByteArray csv = "step,loss\r\n0,1\r\n1,nan\r\n2,3\r\n";
    const QString a = imported({write("a/metrics.csv", csv)}).value(0),
                  b = imported({write("b/metrics.csv", csv)}).value(0);
    for (const char* mode : {"exact", "rel:1e-5", "abs:0"}) {
        const rapidjson::Document json = compared(a, b, {"--mode", mode});
        QCOMPARE(QByteArray(json["verdict"].GetString()), QByteArray("equal"));
        QCOMPARE(json["compared"]["loss"].GetInt(), 3);
    }
    const QString c = imported({write("c/metrics.csv", "step,loss\r\n0,1\r\n1,2\r\n2,3\r\n")}).value(0);
    QCOMPARE(compared(a, c, {"--mode", "rel:1e-5"})["first"][0]["step"].GetInt(), 1);
}

void TestImport::tagsPairByTheirNames()
{
    // In the first run other tags come before, so a number of one run means nothing in the other.
    const QString a =
        imported({write("a/metrics.csv", "acc,f1,loss,recall,step\r\n1,2,3,4,0\r\n1,2,3,4,1\r\n")}).value(0);
    const QString b =
        imported({write("b/metrics.csv", "loss,f1,step,recall\r\n3,2,0,4\r\n3,2,1,5\r\n")}).value(0);
    const rapidjson::Document json = compared(a, b);
    QCOMPARE(json["compared"].MemberCount(), 3u);
    QCOMPARE(json["compared"]["f1"].GetInt(), 2);
    QCOMPARE(json["first"].Size(), 1u);
    QCOMPARE(QByteArray(json["first"][0]["tag"].GetString()), QByteArray("recall"));
    QCOMPARE(json["first"][0]["step"].GetInt(), 1);
    QCOMPARE(compared(a, b, {"--series", "f1"})["compared"].MemberCount(), 1u);
    QCOMPARE(cli_->run({"compare", project_, a, b, "--series", "nonsense"}).exitCode, 2);
}

void TestImport::aHiddenNanIsSaid()
{
    const QString path =
        write("trainer_state.json", R"({"log_history": [{"loss": 1.0, "grad_norm": 1.0, "step": 1},
        {"loss": 0.0, "grad_norm": NaN, "step": 2}]})");
    const CliResult result = cli_->run({"import", project_, path, "--json"});
    QCOMPARE(result.json()["hidden_nan_steps"][0].GetInt(), 2);
    const auto events = open(result.json()["runs"][0]["run"].GetString())->events();
    QVERIFY(events.ok() && events->size() == 1 && events->front().kind == "note" &&
            events->front().step == 2);
    QVERIFY(cli_->run({"import", project_, path}).out.contains("the log hides a NaN"));
}

void TestImport::namesAndWrongUse()
{
    const QString a = write("a.log", megatron({{1, loss("1.5E+00")}})),
                  b = write("b.log", megatron({{1, loss("1.5E+00")}}));
    QCOMPARE(imported({a, "--name", "mine"}), QStringList{"mine-01"});
    QCOMPARE(imported({a, b, "--name", "two"}), (QStringList{"two-a-01", "two-b-01"}));
    const QByteArray runs = cli_->run({"runs", project_, "--json"}).out;
    QCOMPARE(cli_->run({"import", project_}).exitCode, 2);
    QCOMPARE(cli_->run({"import", "--list"}).exitCode, 2);
    QCOMPARE(cli_->run({"import", project_, a, folder_->filePath("absent")}).exitCode, 3); // and nothing of a
    QCOMPARE(cli_->run({"import", project_, write("x.txt", "hello\n")}).exitCode, 3);
    QCOMPARE(cli_->run({"import", folder_->filePath("no project"), a}).exitCode, 3);
    QCOMPARE(cli_->run({"runs", project_, "--json"}).out, runs);
    QVERIFY(cli_->run({"import", "--list", a}).out.contains("lm loss"));
}

void TestImport::sharedLogsAgreeWithTheirTruth()
{
    const QString shared = QStringLiteral(LOCKSTEP_SHARED_DIR) + "/logs";
    const QString python = QStandardPaths::findExecutable("python3");
    if (!QFile::exists(shared + "/check.py"))
        QSKIP("the shared logs are not beside the source tree; put them into ../shared/logs");
    if (python.isEmpty())
        QSKIP("check.py needs python3; apt-get install python3");
    const auto checkPy = [&](const QStringList& arguments) {
        QProcess process;
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(python, QStringList{shared + "/check.py"} + arguments);
        const bool done = process.waitForFinished(60000);
        return std::pair(done && process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
                         process.readAll());
    };
    const auto load = [](const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()) : QJsonDocument();
    };
    QCOMPARE(checkPy({"unpack", folder_->filePath("unpacked")}).first, 0);

    QByteArray cases;
    std::map<QString, QStringList> inputs;
    for (const QString& name : QDir(shared + "/truth").entryList({"*.json"})) {
        const QJsonObject truth = load(shared + "/truth/" + name).object();
        const QString id = truth["case"].toString();
        for (const QJsonValue& input : truth["inputs"].toArray()) {
            const QString packed = folder_->filePath("unpacked/" + input.toString());
            inputs[id] << (QFile::exists(packed) ? packed : shared + "/" + input.toString());
        }
        const CliResult listed = cli_->run(QStringList{"import", "--list", "--json"} + inputs[id]);
        QVERIFY2(listed.exitCode == 0, qPrintable(id + ": " + listed.error));
        cases += (cases.isEmpty() ? "\"" : ",\"") + id.toUtf8() + "\":" + listed.out;
    }

    std::map<QString, std::map<QString, QString>> runs; // case -> run of the log -> run of the project
    const auto runOf = [&](const QJsonObject& side) {
        const QString id = side["case"].toString();
        if (!runs.contains(id)) {
            const CliResult result = cli_->run(QStringList{"import", project_, "--json"} + inputs[id]);
            for (const rapidjson::Value& run : result.json()["runs"].GetArray())
                runs[id][run["source_run"].GetString()] = run["run"].GetString();
        }
        return runs[id][side["run"].toString()];
    };
    QJsonObject pairs;
    for (const QJsonValue& value : load(shared + "/pairs.json").array()) {
        const QJsonObject pair = value.toObject();
        const QJsonObject a = pair["a"].toObject(), b = pair["b"].toObject();
        QJsonObject found;
        for (const auto& [mode, key] : {std::pair("rel:1e-5", "rel_1e-5"), std::pair("exact", "exact")}) {
            const rapidjson::Document json =
                compared(runOf(a), runOf(b), {"--series", a["tag"].toString(), "--mode", mode});
            const rapidjson::Value& first = json["first"];
            found[key] = first.Empty() ? QJsonValue() : QJsonValue(qint64(first[0]["step"].GetInt64()));
            found["verdict"] = json["verdict"].GetString();
        }
        pairs[pair["id"].toString()] = found;
    }
    const QString path = write("export.json", "{\"cases\":{" + cases + "},\"pairs\":" +
                                                  QJsonDocument(pairs).toJson(QJsonDocument::Compact) + "}");
    const auto [code, text] = checkPy({"check", path, "--all"});
    QVERIFY2(code == 0, text.constData());
    QCOMPARE(checkPy({"verify"}).first, 0); // no input was changed
}

QTEST_GUILESS_MAIN(TestImport)
#include "tst_import.moc"
