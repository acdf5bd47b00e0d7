// The coverage picture as a widget: zoom, pan, what is under the pointer.
#include "ui/widgets/coverage_view.h"

#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

using namespace lockstep;

class TestCoverageView : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        DataPlan plan;
        plan.datasetSize = 10'000;
        plan.world = 4;
        view_ = std::make_unique<CoverageView>();
        view_->resize(1200, 400);
        view_->setData(loadCoverage({}, toJson(plan)));
        view_->show();
        QTRY_VERIFY(!view_->busy());
    }
    void cleanup() { view_.reset(); }

    void showsTheWholeDatasetFirst()
    {
        QCOMPARE(view_->range().first, 0.0);
        QCOMPARE(view_->range().last, 10'000.0);
    }
    void theWheelZoomsAtThePointer()
    {
        const QPoint middle(500, 60);
        const double share = (middle.x() - 96) / double(view_->width() - 96 - 250);
        const double before = share * 10'000;
        for (int i = 0; i < 10; ++i)
            wheel(middle, 120);
        const CoverageRange range = view_->range();
        QVERIFY(range.last - range.first < 2000);
        QVERIFY(qAbs(range.first + share * (range.last - range.first) - before) < 1);
        for (int i = 0; i < 30; ++i)
            wheel(middle, -120);
        QCOMPARE(view_->range().first, 0.0);
        QCOMPARE(view_->range().last, 10'000.0);
    }
    void zoomsToSingleIdsAndNoFurther()
    {
        for (int i = 0; i < 100; ++i)
            wheel({400, 60}, 120);
        QVERIFY(view_->range().last - view_->range().first >= 8);
        QVERIFY(view_->range().single());
    }
    void draggingPansInsideTheDataset()
    {
        view_->setRange(4000, 5000);
        QTest::mousePress(view_.get(), Qt::LeftButton, {}, {600, 60});
        QTest::mouseMove(view_.get(), {500, 60});
        QTest::mouseRelease(view_.get(), Qt::LeftButton, {}, {500, 60});
        QVERIFY(view_->range().first > 4000);
        QCOMPARE(qRound(view_->range().last - view_->range().first), 1000);
        view_->setRange(-500, 500);
        QCOMPARE(view_->range().first, 0.0);
    }
    void hoverTellsSampleRankAndStep()
    {
        view_->setRange(500, 520);
        QTRY_VERIFY(!view_->busy());
        QSignalSpy hovered(view_.get(), &CoverageView::hovered);
        bool found = false;
        for (int y = 6; y < 80 && !found; y += 8) {
            QTest::mouseMove(view_.get(), {110, y});
            found = !hovered.isEmpty() &&
                    hovered.last().first().toString().startsWith(QLatin1String("sample 500,"));
        }
        QVERIFY(found);
        const QString text = hovered.last().first().toString();
        QVERIFY2(text.contains(QLatin1String("rank")) && text.contains(QLatin1String("step")),
                 qPrintable(text));
    }
    void keysMoveAndFit()
    {
        view_->setRange(4000, 5000);
        QTest::keyClick(view_.get(), Qt::Key_Right);
        QCOMPARE(qRound(view_->range().first), 4100);
        QTest::keyClick(view_.get(), Qt::Key_F);
        QCOMPARE(view_->range().last, 10'000.0);
    }

private:
    void wheel(const QPoint& at, int delta)
    {
        QWheelEvent event(at, view_->mapToGlobal(at), {}, {0, delta}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(view_.get(), &event);
    }
    std::unique_ptr<CoverageView> view_;
};

QTEST_MAIN(TestCoverageView)
#include "tst_coverage_view.moc"
