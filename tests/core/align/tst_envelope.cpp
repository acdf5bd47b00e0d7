// The envelope against a model of rounding noise: every run follows the same curve, and its distance from it grows like the
// distances measured between real runs that differ only in rounding (from 1e-7 by some orders over the run).
#include "core/align/compare.h"
#include "core/store/run_writer.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace lockstep;

namespace {

constexpr int kSteps = 240;

struct Noise {
    double start = 1e-7;  // relative to the value
    double growth = 0.02; // per step, of the logarithm
};

std::vector<double> noisyRun(std::mt19937_64& random, const Noise& noise)
{
    std::normal_distribution<double> normal;
    std::vector<double> values;
    double drift = 0;
    for (int step = 1; step <= kSteps; ++step) {
        const double curve = 0.2 + 2.3 / (1 + 0.02 * step) + 0.05 * std::sin(step);
        drift = drift * (1 + noise.growth) + noise.start * normal(random);
        values.push_back(double(float(curve * (1 + drift))));
    }
    return values;
}

struct Store {
    QTemporaryDir dir;
    int runs = 0;

    RunReader write(const std::vector<double>& values)
    {
        const std::string folder = dir.filePath(QString::number(++runs)).toStdString();
        RunWriter writer = std::move(RunWriter::create(folder)).value();
        for (std::size_t i = 0; i < values.size(); ++i)
            [&] {
                QVERIFY(writer
                            .append(StepRecord{0,
                                               std::int64_t(i + 1),
                                               {{Quantity::Loss, 0, bitsOf(values[i])},
                                                {Quantity::LearningRate, 0, bitsOf(1e-3)}}})
                            .ok());
            }();
        (void)writer.finish();
        return std::move(RunReader::open(folder)).value();
    }
};

Envelope envelopeOf(Store& store, std::mt19937_64& random, const Noise& noise, int repeats)
{
    std::vector<RunReader> readers;
    for (int i = 0; i < repeats; ++i)
        readers.push_back(store.write(noisyRun(random, noise)));
    std::vector<RunReader*> pointers;
    for (RunReader& reader : readers)
        pointers.push_back(&reader);
    return std::move(measureEnvelope(pointers)).value();
}

// The same judgement as compareRuns makes, without the files.
bool leaves(const Envelope& envelope, const std::vector<double>& a, const std::vector<double>& b)
{
    const EnvelopeBand* band = envelope.band(Quantity::Loss, 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!(std::fabs(a[i] - b[i]) <=
              *band->limit(std::int64_t(i + 1), std::max(std::fabs(a[i]), std::fabs(b[i])))))
            return true;
    }
    return false;
}

} // namespace

class TestEnvelope : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cleanPairsStayInside_data()
    {
        QTest::addColumn<int>("repeats");
        for (const int repeats : {5, 8})
            QTest::addRow("%d-repeats", repeats) << repeats;
    }
    // 10 projects, 300 clean pairs each.
    void cleanPairsStayInside()
    {
        QFETCH(int, repeats);
        std::mt19937_64 random(7);
        int alarms = 0;
        std::vector<double> scales;
        for (int project = 0; project < 10; ++project) {
            Store store;
            const Noise noise{1e-7 * std::exp2(double(random() % 8)), 0.005 * double(random() % 5)};
            const Envelope envelope = envelopeOf(store, random, noise, repeats);
            scales.push_back(envelope.band(Quantity::Loss, 0)->scale);
            for (int pair = 0; pair < 300; ++pair)
                alarms += leaves(envelope, noisyRun(random, noise), noisyRun(random, noise));
        }
        std::sort(scales.begin(), scales.end());
        qInfo("%d repeats: %d alarms in 3000 clean pairs, median scale %.3g, largest %.3g", repeats, alarms,
              scales[scales.size() / 2], scales.back());
        QCOMPARE(alarms, 0);
    }

    // A fault changes the loss by far more than rounding: 1 in 1,000 from step 100 on.
    void aFaultLeavesTheEnvelopeAtItsStep()
    {
        std::mt19937_64 random(3);
        Store store;
        const Noise noise;
        const Envelope envelope = envelopeOf(store, random, noise, 6);
        const std::vector<double> clean = noisyRun(random, noise);
        std::vector<double> faulty = noisyRun(random, noise);
        for (std::size_t i = 99; i < faulty.size(); ++i)
            faulty[i] *= 1.001;
        RunReader a = store.write(clean);
        RunReader b = store.write(faulty);
        CompareOptions options;
        options.tolerance.mode = CompareMode::Envelope;
        options.envelope = &envelope;
        const Result<Comparison> comparison = compareRuns(a, {}, b, {}, options);
        QVERIFY(comparison.ok());
        QVERIFY(comparison->verdict == Verdict::Differ);
        QCOMPARE(comparison->first().size(), std::size_t(1));
        QCOMPARE(comparison->first().front().step, std::int64_t(100));
        QVERIFY(comparison->first().front().limit > 0);
    }

    void aWholeComparisonUsesTheEnvelopeByItself()
    {
        std::mt19937_64 random(3);
        Store store;
        const Envelope envelope = envelopeOf(store, random, {}, 6);
        RunReader single = store.write(noisyRun(random, {}));
        const std::string folder = store.dir.filePath(QStringLiteral("ddp")).toStdString();
        {
            RunWriter writer = std::move(RunWriter::create(folder)).value();
            const std::vector<double> values = noisyRun(random, {});
            for (std::size_t i = 0; i < values.size(); ++i)
                for (const int rank : {0, 1})
                    QVERIFY(writer
                                .append(StepRecord{rank,
                                                   std::int64_t(i + 1),
                                                   {{Quantity::Loss, 0, bitsOf(values[i])},
                                                    {Quantity::LearningRate, 0, bitsOf(1e-3)}}})
                                .ok());
            QVERIFY(writer.finish().ok());
        }
        RunReader ddp = std::move(RunReader::open(folder)).value();
        RunConfig ddpConfig;
        ddpConfig.mode = "ddp";
        ddpConfig.world = 2;
        CompareOptions options;
        options.envelope = &envelope;
        const Result<Comparison> comparison = compareRuns(single, {}, ddp, ddpConfig, options);
        QVERIFY(comparison.ok());
        QVERIFY(comparison->tolerance.mode == CompareMode::Envelope);
        QVERIFY(comparison->verdict == Verdict::Equal);
    }

    void whatNeverDifferedMustBeEqual()
    {
        std::mt19937_64 random(3);
        Store store;
        const Envelope envelope = envelopeOf(store, random, {}, 5);
        const EnvelopeBand* rate = envelope.band(Quantity::LearningRate, 0);
        QVERIFY(rate);
        QCOMPARE(*rate->limit(5, 1e-3), 0.0);
    }

    void theBandNeverShrinksAndEndsWithTheMeasurement()
    {
        std::mt19937_64 random(11);
        Store store;
        const Envelope envelope = envelopeOf(store, random, {1e-7, 0.02}, 5);
        const EnvelopeBand* band = envelope.band(Quantity::Loss, 0);
        double before = 0;
        for (int step = 1; step <= kSteps; ++step) {
            const double limit = *band->limit(step, 0);
            QVERIFY(limit >= before);
            before = limit;
        }
        QVERIFY(before > *band->limit(1, 0));
        QVERIFY(!band->limit(kSteps + 1, 0));
        QVERIFY(!band->limit(0, 0));
    }

    void stepsBeyondTheMeasurementAreNotJudged()
    {
        std::mt19937_64 random(11);
        Store store;
        const Envelope envelope = envelopeOf(store, random, {}, 5);
        std::vector<double> a = noisyRun(random, {});
        std::vector<double> b = a;
        a.push_back(1);
        b.push_back(100);
        RunReader readerA = store.write(a);
        RunReader readerB = store.write(b);
        CompareOptions options;
        options.tolerance.mode = CompareMode::Envelope;
        options.envelope = &envelope;
        const Result<Comparison> comparison = compareRuns(readerA, {}, readerB, {}, options);
        QVERIFY(comparison.ok());
        QVERIFY(comparison->verdict == Verdict::Equal);
        QVERIFY(comparison->quantities.front().quantity == Quantity::Loss);
        QCOMPARE(comparison->quantities.front().points, std::int64_t(kSteps));
    }

    void aNanEndsTheMeasurement()
    {
        std::mt19937_64 random(5);
        Store store;
        std::vector<RunReader> readers;
        for (int i = 0; i < 5; ++i) {
            std::vector<double> values = noisyRun(random, {});
            if (i == 1)
                values[49] = std::numeric_limits<double>::quiet_NaN();
            readers.push_back(store.write(values));
        }
        const Result<Envelope> envelope =
            measureEnvelope({&readers[0], &readers[1], &readers[2], &readers[3], &readers[4]});
        QVERIFY(envelope.ok());
        QCOMPARE(envelope->band(Quantity::Loss, 0)->lastStep, std::int64_t(49));
    }

    void fewRepeatsMakeNoEnvelope()
    {
        std::mt19937_64 random(5);
        Store store;
        RunReader a = store.write(noisyRun(random, {}));
        RunReader b = store.write(noisyRun(random, {}));
        const Result<Envelope> envelope = measureEnvelope({&a, &b});
        QVERIFY(!envelope.ok());
        QVERIFY(envelope.error().sentence().find("there are 2") != std::string::npos);
    }

    void jsonKeepsEveryBit()
    {
        std::mt19937_64 random(5);
        Store store;
        const Envelope envelope = envelopeOf(store, random, {}, 5);
        const Result<Envelope> again = envelopeFromJson(toJson(envelope));
        QVERIFY(again.ok());
        QCOMPARE(toJson(*again), toJson(envelope));
        QCOMPARE(again->repeats, 5);
        QCOMPARE(again->band(Quantity::Loss, 0)->limits, envelope.band(Quantity::Loss, 0)->limits);
        for (const char* broken :
             {"", "[]", "{}", R"({"repeats":3,"bands":[{}]})", R"({"repeats":3,"bands":[1]})",
              R"({"repeats":3,"bands":[{"quantity":"loss","index":0,"last_step":1,"granularity":1,)"
              R"("scale":"0x1p+0","steps":[1],"limits":["0x1p-9"]}]})"})
            QVERIFY2(!envelopeFromJson(broken).ok(), broken);
    }
};

QTEST_GUILESS_MAIN(TestEnvelope)
#include "tst_envelope.moc"
