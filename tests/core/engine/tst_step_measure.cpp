// The numbers a step is reduced to, and that nothing is measured from what is absent.
#include "core/base/fingerprint.h"
#include "core/engine/step_measure.h"

#include <QtTest>

#include <cmath>
#include <numeric>

using namespace lockstep;

namespace {

TensorSpan span(const std::vector<float>& v)
{
    return {v.data(), v.size(), 4, true};
}

StateLayout layout(std::vector<std::size_t> sizes)
{
    StateLayout l;
    l.parameterSizes = std::move(sizes);
    l.parameterNames.resize(l.parameterSizes.size());
    return l;
}

std::vector<double> valuesOf(const StepRecord& record, Quantity quantity)
{
    std::vector<double> found;
    for (const StepValue& v : record.values)
        if (v.quantity == quantity)
            found.push_back(doubleOf(v.bits));
    return found;
}

StepRecord recordOf(const StateMeasure& measure)
{
    StepRecord record;
    measure.addTo(record);
    return record;
}

} // namespace

class TestStepMeasure : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void updateNormIsTheDistanceBetweenSteps();
    void theOrderOfArrivalDoesNotChangeAGradient();
    void projectionsAreLinear();
    void anAbsentGradientIsNotMeasured();
    void tensorsOfAListAreNumberedThrough();
};

void TestStepMeasure::updateNormIsTheDistanceBetweenSteps()
{
    StateMeasure measure(layout({40}), false);
    std::vector<float> w(40, 1.0f);
    measure.measure({span(w)}, {});
    QVERIFY(valuesOf(recordOf(measure), Quantity::UpdateNorm).empty()); // step 0 has no update
    w[3] += 3;
    w[39] -= 4;
    measure.measure({span(w)}, {});
    QCOMPARE(valuesOf(recordOf(measure), Quantity::UpdateNorm), std::vector<double>{5.0});
}

void TestStepMeasure::theOrderOfArrivalDoesNotChangeAGradient()
{
    std::vector<float> a(33), b(70);
    for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = std::sin(float(i));
        a[i % a.size()] = std::cos(float(i)) * 1e3f;
    }
    GradientMeasure forwards(layout({33, 70}), true);
    GradientMeasure backwards(layout({33, 70}), true);
    forwards.add(0, a.data());
    forwards.add(1, b.data());
    backwards.add(1, b.data());
    backwards.add(0, a.data());
    QCOMPARE(bitsOf(forwards.norm()), bitsOf(backwards.norm()));
    QVERIFY(forwards.projection() == backwards.projection());
    QCOMPARE(forwards.fingerprintOf(1), fingerprint(b.data(), b.size(), 4));
    QCOMPARE(bitsOf(forwards.norm()),
             bitsOf(std::sqrt(sumOfSquares(a.data(), 33) + sumOfSquares(b.data(), 70))));
}

void TestStepMeasure::projectionsAreLinear()
{
    std::vector<float> a(100), b(100), mean(100);
    std::iota(a.begin(), a.end(), -20.0f);
    for (std::size_t i = 0; i < 100; ++i) {
        b[i] = float(i % 7);
        mean[i] = (a[i] + b[i]) / 2;
    }
    std::vector<Projection> p;
    for (const auto* g : {&a, &b, &mean}) {
        GradientMeasure measure(layout({100}), false);
        measure.add(0, g->data());
        p.push_back(measure.projection());
    }
    for (std::size_t k = 0; k < kProjections; ++k)
        QCOMPARE((p[0][k] + p[1][k]) / 2, p[2][k]); // small integers and halves: exact
    QVERIFY(p[0][0] != p[0][1] || p[0][0] != p[0][2] || p[1][0] != p[1][1]); // each has signs of its own
}

void TestStepMeasure::anAbsentGradientIsNotMeasured()
{
    GradientMeasure measure(layout({8, 3}), false);
    std::vector<float> g(8, 1.0f), other(3, 100.0f);
    measure.add(0, g.data());
    measure.add(1, other.data());
    measure.clear();
    QVERIFY(measure.empty());
    measure.add(0, g.data());
    QVERIFY(measure.has(0) && !measure.has(1));
    QCOMPARE(measure.norm(), std::sqrt(8.0));
}

void TestStepMeasure::tensorsOfAListAreNumberedThrough()
{
    std::vector<float> whole(50);
    std::iota(whole.begin(), whole.end(), 0.5f);
    const std::vector<float> head(whole.begin(), whole.begin() + 20);
    const std::vector<float> tail(whole.begin() + 20, whole.end());
    QCOMPARE(fingerprintOf({span(head), span(tail)}), fingerprint(whole.data(), 50, 4));
    QVERIFY(fingerprintOf({span(tail), span(head)}) != fingerprint(whole.data(), 50, 4));
}

QTEST_GUILESS_MAIN(TestStepMeasure)
#include "tst_step_measure.moc"
