// The readers of other tools' logs, on small files made by hand: what is kept, what is marked, what is reported.
#include <QtTest>

#include "core/base/crc32c.h"
#include "core/logs/known_tags.h"
#include "core/logs/rank_groups.h"
#include "core/logs/read_logs.h"
#include "core/store/sqlite.h"
#include "tests/core/logs/log_bytes.h"
#include "tests/core/logs/log_samples.h"

#include <QFile>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace lockstep;
using namespace lockstep::test;

namespace {

const LogSeries* find(const LogData& data, const std::string& tag, const std::string& run = {})
{
    for (const LogSeries& series : data.series)
        if (series.tag == tag && (run.empty() || series.run == run))
            return &series;
    return nullptr;
}

using Steps = std::vector<std::int64_t>;
using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;

} // namespace

class TestLogs : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { folder_ = std::make_unique<LogFolder>(); }

    void crc32cIsThatOfTheStandard();
    void numbersKeepTheirPrintedDigits();
    void tfeventsKeepScalarsOnly();
    void tfeventsOfOneFolderAreReadInTheOrderTheyWereBegun();
    void aStartEventSupersedesWithoutADescent();
    void aRecordWithAWrongChecksumIsSkippedAndTheRestRead();
    void aWrongLengthEndsTheFile();
    void aLengthOf2To63IsAProblem();
    void wandbRecordsOverSeveralBlocks();
    void wandbGoesOnBehindADamagedChunk();
    void wandbOfOneIdIsOneRun();
    void hfRowsOfACutFile();
    void hfHidesANan();
    void csvWithQuotesAndACutLine();
    void megatronLines();
    void torchtitanLines();
    void launcherFoldersAreRanksAndAttempts();
    void aStepBackSupersedes();
    void trackioWithoutAndWithWal();
    void trackioOfBeforeRunIds();
    void ranksOfOneTrainingAreOneGroup();
    void theMoreExactTagIsTheQuantity();
    void whatIsNoLogIsRefused();

private:
    std::string write(const QString& name, const std::string& bytes) { return folder_->write(name, bytes); }
    std::string root() const { return folder_->root(); }

    std::unique_ptr<LogFolder> folder_;
};

void TestLogs::crc32cIsThatOfTheStandard() // RFC 3720, B.4
{
    QCOMPARE(crc32c(std::string(32, '\0')), 0x8a9136aau);
    QCOMPARE(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
    QCOMPARE(crc32c("123456789"), 0xe3069283u);
    QCOMPARE(crc32c(""), 0u);
}

void TestLogs::numbersKeepTheirPrintedDigits()
{
    const LogData data = readLog(write("a.log", kMegatron));
    QCOMPARE(*find(data, "lm loss")->printed, (PrintedDigits{true, 6}));
    QCOMPARE(*find(data, "grad norm")->printed, (PrintedDigits{false, 3}));
    QCOMPARE(*find(data, "consumed samples")->printed, (PrintedDigits{false, 0}));
    QCOMPARE(printedWords({true, 6}), std::string("7 printed digits"));
    QCOMPARE(printedWords({false, 1}), std::string("1 printed decimal"));
}

void TestLogs::tfeventsKeepScalarsOnly()
{
    const double third = 1.0 / 3;
    const std::string bytes =
        tfVersion(1000) + tfScalar(0, "a", 1e38f * 10) + tfScalar((std::int64_t(1) << 60) + 1, "a", NAN) +
        tfDouble(3, "exact", third, "scalars", false) + tfDouble(4, "exact", third, "", false) +
        tfDouble(3, "vector", third, "tensor", true) + tfDouble(4, "vector", third, "", false) +
        tfText(3, "words", "1.5");
    const LogData data = readLog(write("events.out.tfevents.1", bytes));
    QCOMPARE(data.problems.size(), 0u);
    QCOMPARE(data.series.size(), 2u);
    const LogSeries& a = *find(data, "a");
    QCOMPARE(a.steps, (Steps{0, (std::int64_t(1) << 60) + 1}));
    QVERIFY(std::isinf(a.values[0]) && std::isnan(a.values[1]) && a.storage == LogStorage::Float32);
    QCOMPARE(find(data, "exact")->values, (std::vector<double>{third, third}));
    QVERIFY(find(data, "exact")->storage == LogStorage::Float64);
}

void TestLogs::tfeventsOfOneFolderAreReadInTheOrderTheyWereBegun()
{
    write("events.out.tfevents.5.host.1.10", tfVersion(2000) + tfScalar(3, "a", 3));
    write("events.out.tfevents.5.host.1.9", tfVersion(1000) + tfScalar(1, "a", 1) + tfScalar(2, "a", 2));
    write("sub/rank_7/events.out.tfevents.5.host.1.2", tfVersion(1) + tfScalar(9, "a", 9));
    const LogData data = readLog(root());
    QCOMPARE(data.series.size(), 2u);
    QCOMPARE(data.series[0].steps, (Steps{1, 2, 3}));
    QVERIFY(!data.series[0].rank);
    QCOMPARE(data.series[1].run, std::string("sub/rank_7"));
    QCOMPARE(data.series[1].rank, std::optional(7));
}

void TestLogs::aStartEventSupersedesWithoutADescent()
{
    const std::string bytes = tfVersion(1000) + tfScalar(1, "a", 1) + tfScalar(2, "a", 2) +
                              tfScalar(3, "a", 3) + tfScalar(3, "b", 3) + tfStart(3) + tfScalar(3, "a", 30) +
                              tfScalar(4, "a", 40);
    const LogData data = readLog(write("events.out.tfevents.1", bytes));
    QCOMPARE(find(data, "a")->superseded, (Ranges{{2, 2}}));
    QCOMPARE(find(data, "b")->superseded, (Ranges{{0, 0}}));
    QCOMPARE(find(data, "a")->steps.size(), 5u);
}

void TestLogs::aRecordWithAWrongChecksumIsSkippedAndTheRestRead()
{
    std::string damaged = tfScalar(2, "a", 2);
    damaged[14] = char(damaged[14] ^ 1);
    const std::string before = tfVersion(1000) + tfScalar(1, "a", 1);
    const LogData data = readLog(write("events.out.tfevents.1", before + damaged + tfScalar(3, "a", 3)));
    QCOMPARE(find(data, "a")->steps, (Steps{1, 3}));
    QCOMPARE(data.problems.size(), 1u);
    QCOMPARE(data.problems[0].offset, std::optional<std::uint64_t>(before.size()));
}

void TestLogs::aWrongLengthEndsTheFile()
{
    std::string damaged = tfScalar(2, "a", 2);
    damaged[0] = char(damaged[0] ^ 1);
    const std::string before = tfVersion(1000) + tfScalar(1, "a", 1);
    const LogData data = readLog(write("events.out.tfevents.1", before + damaged + tfScalar(3, "a", 3)));
    QCOMPARE(find(data, "a")->steps, (Steps{1}));
    QCOMPARE(data.problems.size(), 1u);
    QCOMPARE(data.problems[0].offset, std::optional<std::uint64_t>(before.size()));
}

void TestLogs::aLengthOf2To63IsAProblem()
{
    const std::string length("\0\0\0\0\0\0\0\x80", 8); // with the checksum that a liar would give it
    const std::string head = tfHead(std::uint64_t(1) << 63);
    QCOMPARE(head.substr(0, 8), length);
    const LogData data =
        readLog(write("events.out.tfevents.1", tfVersion(1000) + tfScalar(1, "a", 1) + head + "rest"));
    QCOMPARE(find(data, "a")->steps, (Steps{1}));
    QCOMPARE(data.problems.size(), 1u);
}

void TestLogs::wandbRecordsOverSeveralBlocks()
{
    const std::string bytes =
        wandbFile({wandbRun("abc", "g", 2, 1000), wandbHistory(0, {{{"loss"}, "3"}, {{"a", "b"}, "-0"}}),
                   wandbHistory(1, {{{"long"}, "\"" + std::string(100000, 'x') + "\""}, {{"loss"}, "NaN"}}),
                   wandbHistory(2, {{{"layer.0"}, "1"}, {{"loss"}, "-Infinity"}})});
    const LogData data = readLog(write("run-abc.wandb", bytes));
    QCOMPARE(data.problems.size(), 0u);
    QCOMPARE(data.series.size(), 3u);
    const LogSeries& loss = *find(data, "loss");
    QCOMPARE(loss.run, std::string("abc"));
    QCOMPARE(loss.rank, std::optional(2));
    QCOMPARE(loss.steps, (Steps{0, 1, 2}));
    QVERIFY(loss.values[0] == 3 && std::isnan(loss.values[1]) &&
            loss.values[2] == -std::numeric_limits<double>::infinity());
    QVERIFY(find(data, "a.b")->values[0] == 0 && std::signbit(find(data, "a.b")->values[0]));
    QVERIFY(find(data, "layer.0"));
}

void TestLogs::wandbGoesOnBehindADamagedChunk()
{
    const std::vector<std::string> before = {wandbRun("abc", "", {}, 1000),
                                             wandbHistory(1, {{{"loss"}, "1"}})};
    const std::size_t at = wandbFile(before).size();
    std::vector<std::string> records = before;
    for (int step = 2; step <= 4; ++step)
        records.push_back(wandbHistory(step, {{{"loss"}, std::to_string(step)}}));
    std::string bytes = wandbFile(records);
    bytes[at + 10] = char(bytes[at + 10] ^ 1);
    LogData data = readLog(write("run-abc.wandb", bytes));
    QCOMPARE(find(data, "loss")->steps, (Steps{1, 3, 4}));
    QCOMPARE(data.problems.size(), 1u);
    QCOMPARE(data.problems[0].offset, std::optional<std::uint64_t>(at));
    // A wrong length: nothing of this block can be trusted, the next block can.
    bytes = wandbFile(records);
    bytes[at + 5] = char(0x7f);
    data = readLog(write("run-abc.wandb", bytes));
    QCOMPARE(find(data, "loss")->steps, (Steps{1}));
    QCOMPARE(data.problems.size(), 1u);
}

void TestLogs::wandbOfOneIdIsOneRun()
{
    // The older one has the later name.
    write("b/run-abc.wandb", wandbFile({wandbRun("abc", "", {}, 1000), wandbHistory(1, {{{"l"}, "1"}}),
                                        wandbHistory(5, {{{"l"}, "5"}})}));
    write("a/run-abc.wandb", wandbFile({wandbRun("abc", "", {}, 2000), wandbHistory(3, {{{"l"}, "3"}}),
                                        wandbHistory(6, {{{"l"}, "6"}})}));
    const LogData data = readLog(root());
    QCOMPARE(data.series.size(), 1u);
    QCOMPARE(data.series[0].steps, (Steps{1, 5, 3, 6}));
    QCOMPARE(data.series[0].superseded, (Ranges{{1, 1}}));
}

void TestLogs::hfRowsOfACutFile()
{
    const std::string whole = kHf;
    const std::size_t good = whole.find("\"step\": 1}") + 10;
    const LogData data = readLog(write("trainer_state.json", whole.substr(0, whole.find("NaN") + 1)));
    QCOMPARE(find(data, "loss")->steps, (Steps{1}));
    QCOMPARE(data.problems.size(), 1u);
    QCOMPARE(data.problems[0].offset, std::optional<std::uint64_t>(good));
}

void TestLogs::hfHidesANan()
{
    const LogData data = readLog(write("state.json", kHf)); // the name does not matter
    QCOMPARE(data.problems.size(), 0u);
    QCOMPARE(data.hiddenNanSteps, (Steps{2}));
    QCOMPARE(find(data, "loss")->values, (std::vector<double>{0.75, 0.0, 1e-300}));
    QVERIFY(std::isnan(find(data, "grad_norm")->values[1]));
    QVERIFY(std::isinf(find(data, "eval_loss")->values[0]));
    QVERIFY(!find(data, "a") && !find(data, "step") && !find(data, "max_steps"));
}

void TestLogs::csvWithQuotesAndACutLine()
{
    const std::string whole = kCsv;
    LogData data = readLog(write("x/metrics.csv", whole));
    QCOMPARE(data.problems.size(), 0u);
    const LogSeries& loss = *find(data, "loss, \"raw\"");
    QCOMPARE(loss.steps, (Steps{0, 1, 2}));
    QVERIFY(loss.values[0] == 0.5 && std::isnan(loss.values[1]) && std::isinf(loss.values[2]));
    QCOMPARE(find(data, "val")->steps, (Steps{1}));
    data = readLog(write("y/metrics.csv", "step,a,b,c\n0,1e999,-1e999,+1e-999\n")); // as strtod reads them
    QVERIFY(std::isinf(find(data, "a")->values[0]) && find(data, "b")->values[0] < 0 &&
            find(data, "c")->values[0] == 0);
    data = readLog(write("x/metrics.csv", whole + "1,0.12"));
    QCOMPARE(find(data, "loss, \"raw\"")->steps, (Steps{0, 1, 2}));
    QCOMPARE(data.problems.size(), 1u);
    QCOMPARE(data.problems[0].offset, std::optional<std::uint64_t>(whole.size()));
}

void TestLogs::megatronLines()
{
    const LogData data = readLog(write("a.log", kMegatron));
    QCOMPARE(data.problems.size(), 0u);
    QCOMPARE(find(data, "lm loss")->steps, (Steps{1, 2, 3}));
    QCOMPARE(find(data, "lm loss")->values[0], 10.5885);
    QVERIFY(std::isinf(find(data, "lm loss")->values[2]));
    QCOMPARE(find(data, "grad norm")->steps, (Steps{1, 3}));
    QCOMPARE(find(data, "lm loss validation")->values[0], 5.491602);
    QCOMPARE(find(data, "lm loss validation ppl")->steps, (Steps{3}));
    QCOMPARE(data.hiddenNanSteps, (Steps{2}));
    // Forks: another date, a progress bar before it, no bar at the end.
    const LogData fork = readLog(write(
        "b.log", "10%|#\r2026-03-02 09:00:00,1 iteration 7/ 9 | lm loss: 2.5E+00 | grad norm: 1.250\n"));
    QCOMPARE(find(fork, "grad norm")->steps, (Steps{7}));
    QCOMPARE(fork.series.size(), 2u);
}

void TestLogs::torchtitanLines()
{
    const LogData data = readLog(write("a.txt", kTorchtitan));
    const auto of = [&](int rank, const std::string& tag) {
        const auto found = std::find_if(data.series.begin(), data.series.end(),
                                        [&](const LogSeries& s) { return s.rank == rank && s.tag == tag; });
        return found == data.series.end() ? nullptr : &*found;
    };
    QCOMPARE(of(1, "loss")->values, (std::vector<double>{7.98866}));
    QCOMPARE(*of(1, "loss")->printed, (PrintedDigits{false, 5}));
    QCOMPARE(of(1, "memory(GiB)")->values, (std::vector<double>{3.25}));
    QCOMPARE(of(1, "memory(%)")->values, (std::vector<double>{3.42}));
    QCOMPARE(of(1, "mfu(%)")->values, (std::vector<double>{2.31}));
    QVERIFY(std::isnan(of(0, "loss")->values[0]) && !of(0, "loss")->printed);
    QCOMPARE(of(0, "tps")->values, (std::vector<double>{1012026}));
    QVERIFY(!of(0, "mfu(%)") && !of(0, "mfu"));
    QCOMPARE(of(0, "validate loss")->values, (std::vector<double>{7.1234}));
}

void TestLogs::launcherFoldersAreRanksAndAttempts()
{
    const auto line = [](int step, int loss) {
        return "step:  " + std::to_string(step) + "  loss:  " + std::to_string(loss) + ".5\n";
    };
    write("id_x/attempt_10/3/stdout.log", line(2, 12) + line(3, 13));
    write("id_x/attempt_2/3/stdout.log", line(1, 1) + line(2, 2));
    write("id_x/attempt_2/0/stdout.log", line(1, 1));
    const LogData data = readLog(root());
    QCOMPARE(data.runs.size(), 1u);
    QCOMPARE(data.runs[0].run, std::string("id_x"));
    QCOMPARE(data.series.size(), 2u);
    const LogSeries& three = data.series[0].rank == 3 ? data.series[0] : data.series[1];
    QCOMPARE(three.steps, (Steps{1, 2, 2, 3}));
    QCOMPARE(readLog(root() + "/id_x/attempt_2/3/stdout.log").series.at(0).rank, std::optional(3));
}

void TestLogs::aStepBackSupersedes()
{
    std::string csv = "step,a,b\n";
    for (const int step : {1, 5, 7, 6, 8, 2, 3})
        csv += std::to_string(step) + "," + std::to_string(step) + (step == 7 || step == 8 ? ",1\n" : ",\n");
    const LogData data = readLog(write("metrics.csv", csv));
    QCOMPARE(find(data, "a")->superseded, (Ranges{{1, 4}}));
    QCOMPARE(find(data, "b")->superseded, Ranges());
}

void TestLogs::trackioWithoutAndWithWal()
{
    const std::string path = folder_->filePath("my.db").toStdString();
    makeTrackio(path, true);
    LogData data = readLog(path);
    QCOMPARE(data.series.size(), 3u);
    QCOMPARE(find(data, "loss", "one")->steps, (Steps{0, 1}));
    QCOMPARE(find(data, "loss", "one")->rank, std::optional(0));
    QVERIFY(std::isnan(find(data, "loss", "one")->values[1]) &&
            std::isinf(find(data, "loss", "two")->values[0]));
    QVERIFY(find(data, "scaler.scale"));
    QCOMPARE(data.problems.size(), 1u); // the row that is no JSON

    // A writer that has not brought its rows into the database yet.
    Result<store::Database> writer =
        store::Database::open(store::fileUri(path), store::Database::Mode::ReadWrite, path);
    QVERIFY(writer.ok() && writer->execute("PRAGMA journal_mode = WAL").ok());
    QVERIFY(
        writer->execute(R"(INSERT INTO metrics VALUES(5, 'i1', 'one', 3, CAST('{"loss":4}' AS BLOB)))").ok());
    const auto content = [&](const char* suffix) {
        QFile file(QString::fromStdString(path + suffix));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    const QByteArray before = content(""), wal = content("-wal");
    QVERIFY(!wal.isEmpty());
    data = readLog(path);
    QCOMPARE(find(data, "loss", "one")->steps, (Steps{0, 1, 3}));
    QVERIFY(content("") == before && content("-wal") == wal);
}

void TestLogs::trackioOfBeforeRunIds()
{
    const std::string path = folder_->filePath("old.db").toStdString();
    makeTrackio(path, false);
    const LogData data = readLog(path);
    QCOMPARE(data.series.size(), 3u);
    QCOMPARE(find(data, "loss", "one")->rank, std::optional(0));
}

void TestLogs::ranksOfOneTrainingAreOneGroup()
{
    for (int rank = 0; rank < 2; ++rank) {
        const std::string number = std::to_string(rank);
        write(QString("tb/exp/rank_%1/events.out.tfevents.1").arg(rank),
              tfVersion(1) + tfScalar(1, "loss", float(rank)));
        write(QString("w%1/run-r%1.wandb").arg(rank),
              wandbFile({wandbRun("r" + number, "", rank, 5), wandbHistory(1, {{{"loss"}, "1"}})}));
        // The same ranks in a group of which one rank stands twice: nobody can tell which belongs to which.
        write(QString("twice/%1/run-t%1.wandb").arg(rank),
              wandbFile({wandbRun("t" + number, "same", 0, 5), wandbHistory(1, {{{"loss"}, "1"}})}));
    }
    const LogData data = readLog(root());
    const std::vector<LogGroup> groups = rankGroups(data);
    std::vector<std::string> names;
    for (const LogGroup& group : groups)
        names.push_back(group.about.run + ":" + std::to_string(group.series.size()));
    std::sort(names.begin(), names.end());
    QCOMPARE(names, (std::vector<std::string>{"r:2", "t0:1", "t1:1", "tb/exp:2"}));
}

void TestLogs::theMoreExactTagIsTheQuantity()
{
    const std::vector<std::string> tags = {"train_loss_epoch", "train_loss", "loss",    "val_loss",
                                           "learning rate",    "grad-norm",  "lr extra"};
    const std::vector<Quantity> expected = {Quantity::Metric,   Quantity::Metric,       Quantity::Loss,
                                            Quantity::EvalLoss, Quantity::LearningRate, Quantity::GradNorm,
                                            Quantity::Metric};
    QVERIFY(knownQuantities(tags) == expected);
    QVERIFY(knownQuantities({"train/loss"}) == std::vector{Quantity::Loss});
}

void TestLogs::whatIsNoLogIsRefused()
{
    QVERIFY(!readLogs(folder_->filePath("absent").toStdString()));
    QVERIFY(!readLogs(root()));
    QVERIFY(!readLogs(write("a.txt", "hello\nworld\n")));
    QVERIFY(!readLogs(write("empty.log", "")));
    QVERIFY(!readLogs(write("b.csv", "a,b\n1,2\n")));
    QVERIFY(!readLogs(write("x.db", "SQLite format 3" + std::string(2000, '\0'))));
    QVERIFY(!readLogs(root()));
    const Result<LogData> noValues = readLogs(write("c.csv", "loss,step\r\n"));
    QVERIFY(noValues.ok() && noValues->series.empty() && noValues->problems.empty());
    QCOMPARE(readLog(write("run-b.wandb", wandbFile({}))).problems.size(), 1u);
    QVERIFY(readLogs(write("run-a.wandb", ":W")).ok()); // named like one: a problem, not a refusal
}

QTEST_APPLESS_MAIN(TestLogs)
#include "tst_logs.moc"
