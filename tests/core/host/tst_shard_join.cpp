// What the ranks of a sharded run report becomes what one process would have reported.
#include "core/host/shard_join.h"

#include <QTest>

using namespace lockstep;

namespace {

StepRecord step(int rank, std::vector<StepValue> values)
{
    StepRecord record;
    record.rank = rank;
    record.step = 3;
    record.values = std::move(values);
    return record;
}

} // namespace

class TestShardJoin : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRecordWithoutSharesPassesAtOnce()
    {
        ShardJoin join(2);
        const auto out = join.add(step(1, {{Quantity::Loss, 0, bitsOf(0.5)}}));
        QCOMPARE(out.size(), std::size_t(1));
        QCOMPARE(out[0].rank, 1);
        QCOMPARE(doubleOf(out[0].values[0].bits), 0.5);
    }

    void normsAddTheirSquaresFingerprintsAndProjectionsAdd()
    {
        ShardJoin join(2);
        const std::uint16_t third = kShare + 2;
        QVERIFY(join.add(step(1, {{Quantity::Loss, 0, bitsOf(2.0)},
                                  {Quantity::GradNorm, kShare, bitsOf(4.0)},
                                  {Quantity::GradProj, third, bitsOf(-1.5)},
                                  {Quantity::ParamFingerprint, kShare, 0xffffffffffffffffULL}}))
                    .empty());
        const auto out = join.add(step(0, {{Quantity::Loss, 0, bitsOf(1.0)},
                                           {Quantity::GradNorm, kShare, bitsOf(3.0)},
                                           {Quantity::GradProj, third, bitsOf(2.0)},
                                           {Quantity::ParamFingerprint, kShare, 5}}));
        QCOMPARE(out.size(), std::size_t(2));
        for (int rank = 0; rank < 2; ++rank) {
            const StepRecord& record = out[std::size_t(rank)];
            QCOMPARE(record.rank, rank);
            QCOMPARE(doubleOf(record.values[0].bits), rank == 0 ? 1.0 : 2.0); // its own
            QCOMPARE(doubleOf(record.values[1].bits), 5.0);
            QCOMPARE(record.values[1].index, std::uint16_t(0));
            QCOMPARE(doubleOf(record.values[2].bits), 0.5);
            QCOMPARE(record.values[2].index, std::uint16_t(2));
            QCOMPARE(record.values[3].bits, std::uint64_t(4)); // wraps around
        }
    }

    void aTensorIsWholeOnceEveryRankHasSentItsPart()
    {
        ShardJoin join(2);
        TensorRecord part;
        part.step = 1;
        part.name = "weight";
        part.has = kTensorShare | TensorRecord::State;
        part.stateNorm = 3;
        part.stateFingerprint = 10;
        QVERIFY(join.add(part).empty());
        part.rank = 1;
        part.stateNorm = 4;
        part.stateFingerprint = 7;
        const auto out = join.add(part);
        QCOMPARE(out.size(), std::size_t(2));
        QCOMPARE(out[1].rank, 1);
        QCOMPARE(out[0].stateNorm, 5.0);
        QCOMPARE(out[0].stateFingerprint, std::uint64_t(17));
        QCOMPARE(out[0].has, std::uint32_t(TensorRecord::State));
    }
};

QTEST_GUILESS_MAIN(TestShardJoin)
#include "tst_shard_join.moc"
