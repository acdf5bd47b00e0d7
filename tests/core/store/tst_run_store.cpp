// What the writer is given comes back from the reader, in a real file.
#include "core/store/run_reader.h"
#include "core/store/run_writer.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace lockstep;

namespace {

StepRecord record(int rank, std::int64_t step, std::vector<StepValue> values)
{
    return {rank, step, std::move(values)};
}

struct Folder {
    QTemporaryDir dir;
    std::string run() const { return dir.filePath(QStringLiteral("run")).toStdString(); }
};

#define OK(expression)                                                                                       \
    do {                                                                                                     \
        const auto& result_ = (expression);                                                                  \
        QVERIFY2(result_.ok(), result_.ok() ? "" : result_.error().sentence().c_str());                      \
    } while (false)

} // namespace

class TestRunStore : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyBitPatternComesBack()
    {
        const std::vector<std::uint64_t> patterns = {bitsOf(0.0),
                                                     bitsOf(-0.0),
                                                     bitsOf(5e-324),
                                                     bitsOf(std::numeric_limits<double>::infinity()),
                                                     bitsOf(-std::numeric_limits<double>::infinity()),
                                                     0x7ff8'0000'0000'0000,
                                                     0x7ff0'0000'0000'0001,
                                                     0xfff8'dead'beef'0001,
                                                     0xffff'ffff'ffff'ffff,
                                                     0,
                                                     1,
                                                     0x8000'0000'0000'0000,
                                                     0x0123'4567'89ab'cdef};
        Folder folder;
        Result<RunWriter> writer = RunWriter::create(folder.run());
        OK(writer);
        for (std::size_t i = 0; i < patterns.size(); ++i)
            OK(writer->append(record(0, std::int64_t(i),
                                     {{Quantity::Loss, 0, patterns[i]},
                                      {Quantity::ParamFingerprint, 0, patterns[i]},
                                      {Quantity::CollectiveDtype, 0, patterns[i]}})));
        OK(writer->commit());
        for (const bool finished : {false, true}) {
            if (finished)
                OK(writer->finish());
            Result<RunReader> reader = RunReader::open(folder.run());
            OK(reader);
            for (const Quantity quantity :
                 {Quantity::Loss, Quantity::ParamFingerprint, Quantity::CollectiveDtype}) {
                const Result<SeriesData> data = reader->read({0, quantity, 0});
                OK(data);
                QCOMPARE(data->bits, patterns);
                QCOMPARE(data->steps.front(), std::int64_t(0));
                QCOMPARE(data->steps.back(), std::int64_t(patterns.size() - 1));
            }
        }
    }

    // Values as a function of the step, committed in uneven batches over several chunks, read whole and in windows while
    // the tail is open, while chunks wait for folding, and after the end.
    void readsAreTheSameWhereverTheValuesLie_data()
    {
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("stride");
        for (const int batch : {1, 7, 4096, 5000, 1'000'000})
            for (const int stride : {1, 10})
                QTest::addRow("batch-%d-stride-%d", batch, stride) << batch << stride;
    }
    void readsAreTheSameWhereverTheValuesLie()
    {
        QFETCH(int, batch);
        QFETCH(int, stride);
        const std::int64_t points = batch == 1 ? 4500 : 3 * 4096 + 100;
        const auto bits = [](std::int64_t step) { return std::uint64_t(step) * 0x9e3779b97f4a7c15ULL; };
        Folder folder;
        Result<RunWriter> writer = RunWriter::create(folder.run());
        OK(writer);
        const auto check = [&](std::int64_t written) {
            Result<RunReader> reader = RunReader::open(folder.run());
            OK(reader);
            const Result<std::vector<SeriesInfo>> series = reader->series();
            OK(series);
            QCOMPARE(series->size(), std::size_t(1));
            QCOMPARE(series->front().points, written);
            QCOMPARE(series->front().firstStep, std::int64_t(stride));
            QCOMPARE(series->front().lastStep, written * stride);
            const Result<SeriesData> all = reader->read({3, Quantity::Loss, 0});
            OK(all);
            QCOMPARE(std::int64_t(all->size()), written);
            for (std::size_t i = 0; i < all->size(); ++i) {
                QCOMPARE(all->steps[i], std::int64_t(i + 1) * stride);
                QCOMPARE(all->bits[i], bits(all->steps[i]));
            }
            SeriesData used = *all; // longer than any window, then as long as the one before
            for (const std::int64_t from : {std::int64_t(0), std::int64_t(4095), std::int64_t(4096),
                                            std::int64_t(5001), written * stride}) {
                const std::int64_t to = from + 5 * stride;
                const Result<SeriesData> window = reader->read({3, Quantity::Loss, 0}, from, to);
                OK(window);
                std::vector<std::int64_t> expected;
                for (const std::int64_t step : all->steps)
                    if (step >= from && step < to)
                        expected.push_back(step);
                QCOMPARE(window->steps, expected);
                OK(reader->read({3, Quantity::Loss, 0}, from, to, used));
                QCOMPARE(used.steps, window->steps);
                QCOMPARE(used.bits, window->bits);
            }
            std::int64_t counted = 0;
            const Result<std::vector<ChunkSummary>> chunks = reader->chunks({3, Quantity::Loss, 0});
            OK(chunks);
            for (const ChunkSummary& chunk : *chunks)
                counted += chunk.count;
            QCOMPARE(counted, written);
        };
        for (std::int64_t i = 1; i <= points; ++i) {
            OK(writer->append(record(3, i * stride, {{Quantity::Loss, 0, bits(i * stride)}})));
            if (i % batch == 0)
                OK(writer->commit());
            if (i % batch == 0 && (batch > 1000 || i % 1024 == 0))
                check(i);
        }
        OK(writer->finish());
        check(points);
        Result<RunReader> reader = RunReader::open(folder.run());
        OK(reader);
        const Result<std::vector<ChunkSummary>> chunks = reader->chunks({3, Quantity::Loss, 0});
        OK(chunks);
        QCOMPARE(std::int64_t(chunks->size()), points / 4096 + 1);
        QCOMPARE((*chunks)[1].firstStep, std::int64_t(4096) * stride);
        QCOMPARE((*chunks)[1].stride, std::int64_t(stride));
    }
};

QTEST_GUILESS_MAIN(TestRunStore)
#include "tst_run_store.moc"
