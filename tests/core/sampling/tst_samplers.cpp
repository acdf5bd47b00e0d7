#include "core/sampling/samplers.h"
#include "core/sampling/torch_rng.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <numeric>

using namespace lockstep;
using Ids = std::vector<std::int64_t>;

class TestSamplers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void storedPermutations_data();
    void storedPermutations();
    void headOfAPermutationEqualsThePermutation();
    void wideRandpermStartsAtTorchsThreshold();
    void narrowAndWideArraysShuffleAlike();
    void generateEqualsSingleDraws();
    void paddingRepeatsTheHead();
    void dropLastOmitsTheRemainder();
    void headOfARankOrderEqualsTheRankOrder();
    void emptyDatasetGivesEmptyOrders();
    void everyOrderEqualsPythonTorch();
};

void TestSamplers::storedPermutations_data()
{
    QTest::addColumn<quint64>("seed");
    QTest::addColumn<QList<int>>("order");
    // torch.randperm(12, generator=g), g.manual_seed(seed), torch 2.15.0
    QTest::newRow("0") << quint64(0) << QList<int>{8, 0, 5, 9, 7, 4, 2, 10, 3, 1, 11, 6};
    QTest::newRow("1") << quint64(1) << QList<int>{1, 4, 6, 8, 11, 0, 5, 3, 2, 9, 10, 7};
    QTest::newRow("42") << quint64(42) << QList<int>{6, 8, 1, 7, 0, 2, 10, 11, 4, 3, 5, 9};
    QTest::newRow("2^31") << (quint64(1) << 31) << QList<int>{10, 11, 7, 8, 9, 4, 3, 5, 0, 1, 6, 2};
    QTest::newRow("2^32+5") << (quint64(1) << 32) + 5 << QList<int>{11, 0, 9, 6, 10, 3, 4, 5, 8, 7, 1, 2};
    QTest::newRow("2^64-1") << ~quint64(0) << QList<int>{3, 1, 8, 9, 2, 6, 10, 11, 0, 5, 7, 4};
}

void TestSamplers::storedPermutations()
{
    QFETCH(quint64, seed);
    QFETCH(QList<int>, order);
    TorchRng generator(seed);
    const Ids got = torchRandperm(12, generator);
    QCOMPARE(QList<int>(got.begin(), got.end()), order);
}

void TestSamplers::headOfAPermutationEqualsThePermutation()
{
    for (const std::int64_t n : {0, 1, 2, 7, 5000}) {
        TorchRng a(3), b(3);
        Ids whole = torchRandperm(n, a);
        QCOMPARE(torchRandpermHead(n, n, b), whole);
        QCOMPARE(b.random(), a.random());
        TorchRng c(3);
        whole.resize(std::min<std::size_t>(whole.size(), 5));
        QCOMPARE(torchRandpermHead(n, 5, c), whole);
    }
}

void TestSamplers::wideRandpermStartsAtTorchsThreshold()
{
    // First entries of torch.randperm(n) with seed 1 on both sides of n = UINT32_MAX / 20.
    TorchRng below(1), at(1);
    QCOMPARE(torchRandpermHead(214748363, 5, below), (Ids{73108941, 202657262, 87293072, 139832891, 491267}));
    QCOMPARE(torchRandpermHead(214748364, 5, at), (Ids{81757386, 14531738, 31696440, 103595746, 185007634}));
}

void TestSamplers::narrowAndWideArraysShuffleAlike()
{
    TorchRng a(11), b(11);
    std::vector<std::uint32_t> narrow(100'003);
    std::iota(narrow.begin(), narrow.end(), 0u);
    torchShuffle(std::span(narrow), a);
    const Ids wide = torchRandperm(100'003, b);
    QVERIFY(std::equal(narrow.begin(), narrow.end(), wide.begin(), wide.end()));
}

void TestSamplers::generateEqualsSingleDraws()
{
    TorchRng a(5), b(5);
    std::vector<std::uint32_t> block(2000);
    for (const std::size_t size : {1u, 623u, 1u, 624u, 2000u, 0u, 7u}) {
        a.generate(block.data(), size);
        for (std::size_t i = 0; i < size; ++i)
            QCOMPARE(block[i], b.random());
    }
}

void TestSamplers::paddingRepeatsTheHead()
{
    const Ids order = globalOrder({.datasetSize = 10, .world = 4, .shuffle = true, .seed = 1});
    QCOMPARE(order.size(), std::size_t(12));
    QCOMPARE(order[10], order[0]);
    QCOMPARE(order[11], order[1]);
    QCOMPARE(globalOrder({.datasetSize = 2, .world = 7, .shuffle = false}), (Ids{0, 1, 0, 1, 0, 1, 0}));
}

void TestSamplers::dropLastOmitsTheRemainder()
{
    const DistributedOrder order{.datasetSize = 10, .world = 4, .shuffle = false, .dropLast = true};
    QCOMPARE(samplesPerRank(order), std::int64_t(2));
    QCOMPARE(rankOrder(order, 3), (Ids{3, 7}));
}

void TestSamplers::headOfARankOrderEqualsTheRankOrder()
{
    for (const std::int64_t n : {0, 1, 5, 100})
        for (const int world : {1, 3, 8})
            for (const bool shuffle : {false, true})
                for (int rank = 0; rank < world; ++rank) {
                    const DistributedOrder order{
                        .datasetSize = n, .world = world, .shuffle = shuffle, .seed = 4};
                    Ids whole = rankOrder(order, rank);
                    whole.resize(std::min<std::size_t>(whole.size(), 6));
                    QCOMPARE(rankOrderHead(order, rank, 6), whole);
                }
}

void TestSamplers::emptyDatasetGivesEmptyOrders()
{
    for (const bool dropLast : {false, true})
        QCOMPARE(globalOrder({.datasetSize = 0, .world = 3, .dropLast = dropLast}), Ids());
    QCOMPARE(batches({}, 4, false).size(), std::size_t(0));
}

namespace {

// One record of torch_orders.py.
struct TorchRecord {
    std::int64_t kind = 0;
    Ids parameters, values;
};

Ids ours(const TorchRecord& record)
{
    const Ids& p = record.parameters;
    switch (record.kind) {
    case 0:
        return rankOrder({.datasetSize = p[0],
                          .world = int(p[1]),
                          .shuffle = p[3] != 0,
                          .dropLast = p[4] != 0,
                          .seed = std::uint64_t(p[5]),
                          .epoch = p[2]},
                         int(p[6]));
    case 1: {
        TorchRng generator{std::uint64_t(p[1])};
        if (torchDrawInt64(generator) != p[2])
            return {};
        return randomOrder(p[0], std::uint64_t(torchDrawInt64(generator)));
    }
    case 2: {
        TorchRng generator{std::uint64_t(p[1])};
        return randomOrderWithReplacement(p[0], p[2], std::uint64_t(torchDrawInt64(generator)));
    }
    case 3: {
        Ids sizes;
        for (const Ids& chunk : batches(Ids(std::size_t(p[0])), p[1], p[2] != 0))
            sizes.push_back(std::int64_t(chunk.size()));
        return sizes;
    }
    case 4: {
        TorchRng generator(42);
        Ids seeds;
        const std::int64_t base = torchDrawInt64(generator);
        for (int worker = 0; worker < 3; ++worker)
            seeds.push_back(std::int64_t(workerSeed(base, worker)));
        return base == p[0] ? seeds : Ids();
    }
    default: {
        TorchRng generator{std::uint64_t(p[0])};
        Ids drawn;
        torchRandint(p[0], 9, generator, drawn);
        return drawn;
    }
    }
}

} // namespace

void TestSamplers::everyOrderEqualsPythonTorch()
{
    if (!QFile::exists(LOCKSTEP_VENV_PYTHON))
        QSKIP("Python torch, the judge, is not installed: run ./dev setup");
    QTemporaryDir folder;
    const QString path = folder.filePath("orders.bin");
    QProcess python;
    python.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    python.start(LOCKSTEP_VENV_PYTHON, {LOCKSTEP_SOURCE_DIR "/tests/core/sampling/torch_orders.py", path});
    QVERIFY(python.waitForFinished(110'000));
    QCOMPARE(python.exitCode(), 0);

    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    Ids words(std::size_t(bytes.size()) / 8);
    std::memcpy(words.data(), bytes.data(), words.size() * 8);
    std::size_t position = 0;
    int records = 0;
    const auto list = [&] {
        const auto count = std::size_t(words[position++]);
        const auto begin = words.begin() + std::ptrdiff_t(position);
        position += count;
        return Ids(begin, begin + std::ptrdiff_t(count));
    };
    while (position < words.size()) {
        TorchRecord record;
        record.kind = words[position++];
        record.parameters = list();
        record.values = list();
        if (ours(record) != record.values) {
            QStringList parameters;
            for (const std::int64_t p : record.parameters)
                parameters << QString::number(p);
            QFAIL(qPrintable(
                QString("kind %1 differs from torch at (%2)").arg(record.kind).arg(parameters.join(", "))));
        }
        ++records;
    }
    QVERIFY(records >= 17'088);
    qInfo("%d orders equal", records);
}

QTEST_GUILESS_MAIN(TestSamplers)
#include "tst_samplers.moc"
