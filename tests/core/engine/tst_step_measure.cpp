// The numbers a step record is reduced to, and that nothing is measured from what is absent.
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

std::vector<double> valuesOf(const StepRecord& record, Quantity quantity)
{
    std::vector<double> found;
    for (const StepValue& v : record.values)
        if (v.quantity == quantity)
            found.push_back(doubleOf(v.bits));
    return found;
}

StepJob job(std::int64_t step, const std::vector<float>& parameters)
{
    StepJob j;
    j.record.step = step;
    j.parameters = {span(parameters)};
    return j;
}

} // namespace

class TestStepMeasure : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void updateNormIsTheDistanceBetweenSteps();
    void withoutReductionLocalAndReducedAreTheSameNumbers();
    void projectionsAreLinear();
    void anAbsentGradientHasNoTensorRecordField();
    void sharedStateTakesOverTheNumbers();
};

void TestStepMeasure::updateNormIsTheDistanceBetweenSteps()
{
    StepMeasure measure({{"w"}, {}}, false);
    std::vector<TensorRecord> tensors;
    std::vector<float> w(40, 1.0f);
    StepJob first = job(0, w);
    measure.measure(first, tensors);
    QVERIFY(valuesOf(first.record, Quantity::UpdateNorm).empty());
    w[3] += 3;
    w[39] -= 4;
    StepJob second = job(1, w);
    measure.measure(second, tensors);
    QCOMPARE(valuesOf(second.record, Quantity::UpdateNorm), std::vector<double>{5.0});
    QVERIFY(tensors.empty());
}

void TestStepMeasure::withoutReductionLocalAndReducedAreTheSameNumbers()
{
    StepMeasure measure({{"w"}, {}}, false);
    std::vector<TensorRecord> tensors;
    std::vector<float> w(33, 0.5f);
    std::vector<float> g(33, 2.0f);
    StepJob j = job(1, w);
    j.gradients = {span(g)};
    measure.measure(j, tensors);
    QCOMPARE(valuesOf(j.record, Quantity::GradNorm), std::vector<double>{std::sqrt(33 * 4.0)});
    QCOMPARE(valuesOf(j.record, Quantity::GradNormLocal), valuesOf(j.record, Quantity::GradNorm));
    QCOMPARE(valuesOf(j.record, Quantity::GradProj).size(), std::size_t(4));
    QCOMPARE(valuesOf(j.record, Quantity::GradProjLocal), valuesOf(j.record, Quantity::GradProj));
}

void TestStepMeasure::projectionsAreLinear()
{
    StepMeasure measure({{"w"}, {}}, false);
    std::vector<TensorRecord> tensors;
    std::vector<float> w(100, 0.0f);
    std::vector<float> a(100), b(100), mean(100);
    std::iota(a.begin(), a.end(), -20.0f);
    for (std::size_t i = 0; i < 100; ++i) {
        b[i] = float(i % 7);
        mean[i] = (a[i] + b[i]) / 2;
    }
    std::vector<std::vector<double>> p;
    for (const auto* g : {&a, &b, &mean}) {
        StepJob j = job(1, w);
        j.gradients = {span(*g)};
        measure.measure(j, tensors);
        p.push_back(valuesOf(j.record, Quantity::GradProj));
    }
    for (std::size_t k = 0; k < 4; ++k)
        QCOMPARE((p[0][k] + p[1][k]) / 2, p[2][k]); // small integers and halves: exact
}

void TestStepMeasure::anAbsentGradientHasNoTensorRecordField()
{
    StepMeasure measure({{"used", "unused"}, {"statistics"}}, true);
    std::vector<TensorRecord> tensors;
    std::vector<float> w(8, 1.0f), u(3, 1.0f), g(8, 1.0f), s(2, 3.0f);
    StepJob j;
    j.record.step = 1;
    j.parameters = {span(w), span(u)};
    TensorSpan absent = span(u);
    absent.data = nullptr;
    j.gradients = {span(g), absent};
    j.buffers = {span(s)};
    measure.measure(j, tensors);
    QCOMPARE(tensors.size(), std::size_t(3));
    QCOMPARE(tensors[0].has,
             std::uint32_t(TensorRecord::Local | TensorRecord::Reduced | TensorRecord::State));
    QCOMPARE(tensors[1].has, std::uint32_t(TensorRecord::State));
    QCOMPARE(tensors[1].stateFingerprint, fingerprint(u.data(), 3, 4));
    QVERIFY(tensors[2].buffer);
    QCOMPARE(tensors[2].name, std::string("statistics"));
}

void TestStepMeasure::sharedStateTakesOverTheNumbers()
{
    StepMeasure measure({{"w"}, {}}, false);
    std::vector<TensorRecord> tensors;
    std::vector<float> w(8, 1.0f);
    StepJob leader = job(1, w);
    measure.measure(leader, tensors);
    StepJob follower = job(1, w);
    follower.record.rank = 1;
    follower.parameters.clear();
    follower.sharedState = true;
    measure.measure(follower, tensors);
    QCOMPARE(valuesOf(follower.record, Quantity::ParamFingerprint),
             valuesOf(leader.record, Quantity::ParamFingerprint));
}

QTEST_GUILESS_MAIN(TestStepMeasure)
#include "tst_step_measure.moc"
