// The definitions every part agrees on: errors, float text, the table of quantities, fingerprints, norms, projections.
#include "core/base/fingerprint.h"
#include "core/base/hexfloat.h"
#include "core/base/projection.h"
#include "core/base/quantity.h"
#include "core/base/records.h"
#include "core/base/status.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <clocale>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <set>

using namespace lockstep;

class TestBase : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void errorsReadAsSentences()
    {
        const Error error{ErrorKind::Io, "Cannot write the file", "the disk is full", "Free some space"};
        QCOMPARE(error.sentence(), std::string("Cannot write the file. The disk is full. Free some space."));
        QCOMPARE((Error{ErrorKind::Usage, "Which one?", "", "Name it."}.sentence()),
                 std::string("Which one? Name it."));
    }

    void everyErrorKindHasItsExitCode()
    {
        for (const ErrorKind kind :
             {ErrorKind::Environment, ErrorKind::Input, ErrorKind::Corrupt, ErrorKind::NewerSchema,
              ErrorKind::Io, ErrorKind::Busy, ErrorKind::NotFound})
            QCOMPARE((Error{kind, "", "", ""}.exitCode()), 3);
        QCOMPARE((Error{ErrorKind::Usage, "", "", ""}.exitCode()), 2);
        QCOMPARE((Error{ErrorKind::RunFailed, "", "", ""}.exitCode()), 4);
    }

    void hexFloatsKeepEveryFiniteBit()
    {
        std::mt19937_64 random(1);
        for (int round = 0; round < 20000; ++round) {
            const double value = doubleOf(random());
            if (!std::isfinite(value))
                continue;
            const std::optional<double> back = parseHexFloat(hexFloat(value));
            QVERIFY(back);
            QCOMPARE(bitsOf(*back), bitsOf(value));
        }
        QCOMPARE(hexFloat(3.0), std::string("0x1.8p+1"));
        QCOMPARE(hexFloat(-0.0), std::string("-0x0p+0"));
        QCOMPARE(hexFloat(-std::numeric_limits<double>::infinity()), std::string("-inf"));
        QVERIFY(std::isnan(*parseHexFloat(hexFloat(std::nan("")))));
        for (const char* text : {"", "x", "1.5 ", "0x1p+0z"})
            QVERIFY2(!parseHexFloat(text), text);
    }

    // Qt sets the locale of whoever starts the program; files go to others.
    void hexFloatsHaveAPointInEveryLocale()
    {
        const QTemporaryDir folder;
        const QString name = QStringLiteral("de_DE.UTF-8");
        if (QProcess::execute(QStringLiteral("localedef"),
                              {QStringLiteral("-i"), QStringLiteral("de_DE"), QStringLiteral("-f"),
                               QStringLiteral("UTF-8"), folder.filePath(name)}) != 0)
            QSKIP("No locale with a decimal comma can be made here; apt install locales brings its source.");
        qputenv("LOCPATH", folder.path().toUtf8());
        const char* const comma = std::setlocale(LC_NUMERIC, "de_DE.UTF-8");
        const std::string written = hexFloat(3.0);
        const std::optional<double> read = parseHexFloat("-0x1.8p+1"), decimal = parseHexFloat("0.05");
        char printed[8];
        std::snprintf(printed, sizeof printed, "%.1f", 1.5);
        std::setlocale(LC_NUMERIC, "C");
        QVERIFY(comma);
        QCOMPARE(printed, "1,5"); // else nothing was tested
        QCOMPARE(written, std::string("0x1.8p+1"));
        QCOMPARE(read.value_or(0), -3.0);
        QCOMPARE(decimal.value_or(0), 0.05);
    }

    // The numbers are part of the wire and store formats.
    void quantitiesHaveOneNameAndOneNumber()
    {
        std::set<std::string_view> names;
        std::set<int> numbers;
        for (const QuantityInfo& info : allQuantities()) {
            QVERIFY(names.insert(info.name).second);
            QVERIFY(numbers.insert(int(info.id)).second);
            QCOMPARE(quantityInfo(info.id), &info);
            QCOMPARE(quantityByName(info.name), &info);
            QVERIFY(!info.title.empty());
        }
        QCOMPARE(int(Quantity::Loss), 20);
        QCOMPARE(int(Quantity::ParamFingerprint), 51);
        QCOMPARE(int(Quantity::SampleContent), 83);
        QVERIFY(!quantityInfo(Quantity(60000)));
        QVERIFY(!quantityByName("no_such"));
    }

    void wallTimesHaveNoCausalLink()
    {
        for (const QuantityInfo& info : allQuantities())
            QCOMPARE(info.link == CausalLink::None, info.name.starts_with("time_"));
    }

    void fingerprintsFollowTheirDefinition()
    {
        const std::vector<std::uint32_t> words = {0, 1, 0x80000000u, 0x7fc00001u, 0xffffffffu};
        std::uint64_t expected = 0;
        for (std::size_t i = 0; i < words.size(); ++i)
            expected += fingerprintMix(i, words[i]);
        QCOMPARE(fingerprint(words.data(), words.size(), 4), expected);
        // Any order of adding gives the same; the parts of a list are numbered through.
        QCOMPARE(fingerprint(words.data() + 2, 3, 4, 2) + fingerprint(words.data(), 2, 4, 0), expected);
        QVERIFY(fingerprint(words.data(), 3, 4, 1) != fingerprint(words.data(), 3, 4, 0));
    }

    void fingerprintsSeeEveryElementSize()
    {
        std::vector<unsigned char> bytes(1 << 12);
        std::mt19937 random(2);
        for (unsigned char& byte : bytes)
            byte = static_cast<unsigned char>(random());
        for (const std::size_t size : {1, 2, 4, 8}) {
            std::uint64_t expected = 0;
            for (std::size_t i = 0; i < bytes.size() / size; ++i) {
                std::uint64_t word = 0;
                std::memcpy(&word, &bytes[i * size], size);
                expected += fingerprintMix(i, word);
            }
            QCOMPARE(fingerprint(bytes.data(), bytes.size() / size, size), expected);
        }
        QCOMPARE(fingerprint(bytes.data(), bytes.size() / 16, 16),
                 fingerprint(bytes.data(), bytes.size() / 8, 8));
    }

    void swappedElementsAndSignsChangeTheFingerprint()
    {
        const double a[] = {1.0, 2.0}, b[] = {2.0, 1.0}, zero[] = {0.0}, minus[] = {-0.0};
        QVERIFY(fingerprint(a, 2, 8) != fingerprint(b, 2, 8));
        QVERIFY(fingerprint(zero, 1, 8) != fingerprint(minus, 1, 8));
    }

    // Bit for bit the lane order of the header, for every remainder.
    void normsAddInTheFixedOrder()
    {
        std::mt19937 random(3);
        std::normal_distribution<float> normal;
        for (std::size_t count = 0; count < 70; ++count) {
            std::vector<float> values(count);
            for (float& value : values)
                value = normal(random);
            double lane[kNormLanes] = {};
            for (std::size_t i = 0; i < count; ++i)
                lane[i % kNormLanes] += double(values[i]) * double(values[i]);
            for (int half = kNormLanes / 2; half > 0; half /= 2)
                for (int l = 0; l < half; ++l)
                    lane[l] += lane[l + half];
            QCOMPARE(bitsOf(sumOfSquares(values.data(), count)), bitsOf(lane[0]));
        }
    }

    // One reading of an update gives the bits of its parts, across the blocks it is read in.
    void anUpdateIsReadOnce()
    {
        std::mt19937 random(5);
        std::normal_distribution<float> normal;
        for (const std::size_t count : {0, 1, 15, 16, 17, 2047, 2048, 2049, 2064, 4096, 5003}) {
            std::vector<float> after(count), before(count);
            for (std::size_t i = 0; i < count; ++i)
                before[i] = 1e-3f * normal(random) + (after[i] = normal(random));
            double lane[kNormLanes] = {};
            for (std::size_t i = 0; i < count; ++i) {
                const double v = double(after[i]) - double(before[i]);
                lane[i % kNormLanes] += v * v;
            }
            for (int half = kNormLanes / 2; half > 0; half /= 2)
                for (int l = 0; l < half; ++l)
                    lane[l] += lane[l + half];
            const UpdateSums sums = takeUpdate(after.data(), before.data(), count, 77);
            QCOMPARE(bitsOf(sums.squares), bitsOf(lane[0]));
            QCOMPARE(sums.fingerprint, fingerprint(after.data(), count, sizeof(float), 77));
            QVERIFY(before == after);
        }
    }

    void projectionsAreLinearAndShareTheNormOfTheirTensor()
    {
        const std::size_t count = 1003;
        std::vector<float> g(count), twice(count);
        std::mt19937 random(4);
        for (std::size_t i = 0; i < count; ++i)
            twice[i] = 2 * (g[i] = float(random() % 2001) - 1000);
        const std::vector<std::uint8_t> signs = projectionSigns(count);
        const GradientSums one = gradientSums(g.data(), signs.data(), count);
        const GradientSums two = gradientSums(twice.data(), signs.data(), count);
        QCOMPARE(bitsOf(one.squares), bitsOf(sumOfSquares(g.data(), count)));
        for (int k = 0; k < kProjections; ++k) {
            double expected = 0; // whole numbers: exact in any order
            for (std::size_t i = 0; i < count; ++i)
                expected += (fingerprintMix(i, kProjectionSeed) >> k & 1) ? -g[i] : g[i];
            QCOMPARE(one.projection[std::size_t(k)], expected);
            QCOMPARE(two.projection[std::size_t(k)], 2 * expected);
        }
    }
};

QTEST_GUILESS_MAIN(TestBase)
#include "tst_base.moc"
