// Everything in a run that is not a series, the segments, what the writer refuses, and the migration of schemas.
#include "core/store/database_file.h"
#include "core/store/run_reader.h"
#include "core/store/run_writer.h"

#include <QtTest>

using namespace lockstep;

namespace {

class Run
{
public:
    Run() : writer(std::move(RunWriter::create(folder())).value()) {}
    std::string folder() const { return dir.filePath(QStringLiteral("run")).toStdString(); }
    Status loss(int rank, std::int64_t step, double value)
    {
        return writer.append(StepRecord{rank, step, {{Quantity::Loss, 0, bitsOf(value)}}});
    }
    RunReader read() const { return std::move(RunReader::open(folder())).value(); }
    // "step:value ..." of a rank's loss.
    std::string losses(int rank) const
    {
        RunReader reader = read();
        const SeriesData data = *reader.read({rank, Quantity::Loss, 0});
        std::string text;
        for (std::size_t i = 0; i < data.size(); ++i)
            text += (text.empty() ? "" : " ") + std::to_string(data.steps[i]) + ":" +
                    std::to_string(int(data.value(i)));
        return text;
    }

    QTemporaryDir dir;
    RunWriter writer;
};

} // namespace

class TestRunRecords : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void samplesComeBackInOrder()
    {
        Run run;
        QVERIFY(
            run.writer.append(SamplesRecord{1, 5, 0, 2, {3, -1, 7}, {10, 11, 0xffff'ffff'ffff'ffff}}).ok());
        QVERIFY(run.writer.append(SamplesRecord{1, 5, 1, 2, {}, {}}).ok());
        QVERIFY(run.writer.append(SamplesRecord{0, 5, 0, 2, {9}, {}}).ok());
        QVERIFY(run.writer.append(SamplesRecord{1, 6, 0, 2, {4}, {}}).ok());
        QVERIFY(run.writer.commit().ok());
        RunReader reader = run.read();
        const std::vector<SamplesRecord> records = *reader.samples(1, 0, 6);
        QCOMPARE(records.size(), std::size_t(2));
        QCOMPARE(records[0].ids, (std::vector<std::int64_t>{3, -1, 7}));
        QCOMPARE(records[0].hashes.back(), std::uint64_t(0xffff'ffff'ffff'ffff));
        QCOMPARE(records[0].epoch, std::int64_t(2));
        QCOMPARE(records[1].micro, 1);
        QVERIFY(records[1].ids.empty());
    }

    void tensorsOfOneStepComeBackTogether()
    {
        Run run;
        for (const std::int64_t step : {1, 2}) {
            for (const int rank : {1, 0}) {
                QVERIFY(
                    run.writer.append(TensorRecord{rank, step, "a", false, 5, -0.0, 1, 2, 3, 4, 5, 6}).ok());
                QVERIFY(
                    run.writer.append(TensorRecord{rank, step, "a", true, 8, 0, 0, 0, 0, 0, std::nan(""), 7})
                        .ok());
            }
            if (step == 1)
                QVERIFY(run.writer.commit().ok());
        }
        QVERIFY(run.writer.finish().ok());
        RunReader reader = run.read();
        const std::vector<TensorRecord> records = *reader.tensors(1, 2, 3);
        QCOMPARE(records.size(), std::size_t(2));
        QCOMPARE(records[0].name, std::string("a"));
        QVERIFY(!records[0].buffer);
        QCOMPARE(records[0].has, 5u);
        QCOMPARE(bitsOf(records[0].localNorm), bitsOf(-0.0));
        QCOMPARE(records[0].stateFingerprint, std::uint64_t(6));
        QVERIFY(records[1].buffer);
        QVERIFY(std::isnan(records[1].stateNorm));
        QCOMPARE(reader.tensors(0, 0, 10)->size(), std::size_t(4));
    }

    void eventsHeartbeatsAndPropertiesComeBack()
    {
        Run run;
        QVERIFY(run.writer.append(EventRecord{-1, 3, "stop", 77, "{}"}).ok());
        QVERIFY(run.writer.append(EventRecord{1, 2, "error", 78, R"({"sentence":"x"})"}).ok());
        QVERIFY(run.writer.heartbeat(1, 4, 100).ok());
        QVERIFY(run.writer.heartbeat(1, 5, 200).ok());
        QVERIFY(run.writer.setProperty("config", "{}").ok());
        QVERIFY(run.writer.commit().ok());
        QVERIFY(run.writer.setProperty("config", R"({"mode":"ddp"})").ok());
        QVERIFY(run.writer.commit().ok());
        RunReader reader = run.read();
        QCOMPARE(reader.events()->size(), std::size_t(2));
        QCOMPARE(reader.events()->front().kind, std::string("stop")); // as they came
        QCOMPARE(reader.events()->back().detail, std::string(R"({"sentence":"x"})"));
        QCOMPARE(reader.heartbeats()->size(), std::size_t(1));
        QCOMPARE(reader.heartbeats()->front().step, std::int64_t(5));
        QCOMPARE(*reader.property("config"), std::string(R"({"mode":"ddp"})"));
        QCOMPARE(*reader.property("none"), std::string());
    }

    void quantitiesOfANewerWorkerAreKept()
    {
        Run run;
        QVERIFY(run.writer.append(StepRecord{0, 1, {{Quantity(60000), 3, 42}}}).ok());
        QVERIFY(run.writer.commit().ok());
        RunReader reader = run.read();
        QCOMPARE(reader.read({0, Quantity(60000), 3})->bits, std::vector<std::uint64_t>{42});
    }

    void aRecordThatGoesBackIsRefusedAsAWhole()
    {
        Run run;
        QVERIFY(run.loss(0, 5, 1).ok());
        StepRecord record{0, 5, {{Quantity::GradNorm, 0, 1}, {Quantity::Loss, 0, 2}}};
        QVERIFY(run.writer.append(record).error().kind == ErrorKind::Input);
        record.step = 6;
        record.values.push_back({Quantity::Loss, 0, 3}); // twice in one record
        QVERIFY(!run.writer.append(record).ok());
        record.step = -1;
        QVERIFY(!run.writer.append(record).ok());
        QVERIFY(run.writer.append(SamplesRecord{0, 5, 1, 0, {1}, {}}).ok());
        QVERIFY(!run.writer.append(SamplesRecord{0, 5, 1, 0, {1}, {}}).ok());
        QVERIFY(run.writer.commit().ok());
        RunReader reader = run.read();
        QCOMPARE(reader.series()->size(), std::size_t(1)); // no grad_norm
        QCOMPARE(run.losses(0), std::string("5:1"));
    }

    // World 2 lost a rank after step 5 and went on alone from the checkpoint of step 3.
    void aSegmentSupersedesTheStepsFromItsFirstStepOn_data()
    {
        QTest::addColumn<bool>("committedBetween");
        QTest::newRow("committed-between") << true;
        QTest::newRow("all-in-one-commit") << false;
    }
    void aSegmentSupersedesTheStepsFromItsFirstStepOn()
    {
        QFETCH(bool, committedBetween);
        Run run;
        QVERIFY(run.writer.beginSegment(1, 2, "start").ok());
        for (std::int64_t step = 0; step <= 5; ++step) {
            for (const int rank : {0, 1})
                QVERIFY(run.loss(rank, step, double(10 * rank + 1)).ok());
            QVERIFY(run.writer.append(SamplesRecord{0, step, 0, 0, {step}, {}}).ok());
        }
        if (committedBetween)
            QVERIFY(run.writer.commit().ok());
        QVERIFY(run.writer.beginSegment(4, 1, "degrade").ok());
        QVERIFY(!run.loss(0, 3, 9).ok());
        for (std::int64_t step = 4; step <= 7; ++step) {
            QVERIFY(run.loss(0, step, 2).ok());
            QVERIFY(run.writer.append(SamplesRecord{0, step, 0, 0, {100 + step}, {}}).ok());
        }
        QVERIFY(run.writer.commit().ok());
        for (const bool finished : {false, true}) {
            if (finished)
                QVERIFY(run.writer.finish().ok());
            QCOMPARE(run.losses(0), std::string("0:1 1:1 2:1 3:1 4:2 5:2 6:2 7:2"));
            QCOMPARE(run.losses(1), std::string("0:11 1:11 2:11 3:11"));
            RunReader reader = run.read();
            const std::vector<SeriesInfo> series = *reader.series();
            QCOMPARE(series.size(), std::size_t(2));
            QCOMPARE(series[0].points, std::int64_t(8));
            QCOMPARE(series[0].lastStep, std::int64_t(7));
            QCOMPARE(series[1].points, std::int64_t(4));
            QCOMPARE(series[1].lastStep, std::int64_t(3));
            std::int64_t points = 0;
            const std::vector<ChunkSummary> chunks = *reader.chunks({0, Quantity::Loss, 0});
            for (const ChunkSummary& chunk : chunks)
                points += chunk.count;
            QCOMPARE(points, std::int64_t(8));
            const std::vector<SamplesRecord> samples = *reader.samples(0, 0, 100);
            QCOMPARE(samples.size(), std::size_t(8));
            QCOMPARE(samples[4].ids.front(), std::int64_t(104));
            QCOMPARE(reader.segments()->size(), std::size_t(2));
            QCOMPARE(reader.segments()->back().reason, std::string("degrade"));
        }
    }

    void olderSchemasAreMigratedOnlyWhenWritten()
    {
        static constexpr const char* kOne[] = {"CREATE TABLE t(a)"};
        static constexpr const char* kTwo[] = {"CREATE TABLE t(a)", "ALTER TABLE t ADD COLUMN b DEFAULT 7"};
        const store::Schema one{"test", 77, kOne};
        const store::Schema two{"test", 77, kTwo};
        QTemporaryDir dir;
        const std::string path = dir.filePath(QStringLiteral("x.db")).toStdString();
        QVERIFY(store::createFile(path, one).ok());
        QVERIFY(store::createFile(path, one).error().kind == ErrorKind::Input);
        {
            store::Database database = std::move(store::openForWriting(path, one)).value();
            QVERIFY(database.execute("INSERT INTO t VALUES(1)").ok());
        }
        {
            store::Database reading = std::move(store::openForReading(path, two, true)).value();
            QCOMPARE(*reading.integer("PRAGMA user_version"), std::int64_t(1));
        }
        {
            store::Database database = std::move(store::openForWriting(path, two)).value();
            QCOMPARE(*database.integer("SELECT b FROM t"), std::int64_t(7));
            QCOMPARE(*database.integer("PRAGMA user_version"), std::int64_t(2));
        }
        QVERIFY(store::openForWriting(path, one).error().kind == ErrorKind::NewerSchema);
        QVERIFY(store::openForReading(path, store::Schema{"other", 78, kTwo}, true).error().kind ==
                ErrorKind::Corrupt);
    }
};

QTEST_GUILESS_MAIN(TestRunRecords)
#include "tst_run_records.moc"
