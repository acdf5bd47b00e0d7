// A CurveView worked by keys, wheel and mouse, alone and in a group with others.
#include "tests/ui/plots/worked_view.h"

#include "ui/plots/navigator_view.h"
#include "ui/plots/plot_group.h"

#include <QSignalSpy>
#include <QTest>

#include <cmath>

using namespace lockstep;
using namespace lockstep::test;

class TestCurveInput : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cursorAndRangeAreSharedByTheGroup();
    void keysMoveTheCursor();
    void keysZoomFitAndChangeTheScale();
    void otherKeysAreLeftToThePage();
    void wheelZoomsAtThePointer();
    void dragPansAndEndsFollowing();
    void shiftDragSelects();
    void enterPinsAndEscapeReleases();
    void followingShowsNewSteps();
    void followingAWindowKeepsItsWidth();
    void undoZoomRestoresTheRange();
    void navigatorDragMovesThePlots();
};

void TestCurveInput::cursorAndRangeAreSharedByTheGroup()
{
    CurveView a, b;
    NavigatorView navigator;
    PlotGroup group;
    for (CurveView* view : {&a, &b}) {
        view->resize(600, 200);
        view->setSeries({{"s", Qt::black, CurveStyle::Thin, line(1000)}});
    }
    navigator.setSeries(a.series());
    group.add(&a);
    group.add(&b);
    group.add(&navigator);
    settle(a);
    settle(b);
    QSignalSpy ranges(&group, &PlotGroup::xRangeChanged);
    wheel(a, a.plotArea().center(), 3);
    QCOMPARE(ranges.size(), 1); // no echo between the views
    QCOMPARE(b.xRange(), a.xRange());
    QCOMPARE(navigator.xRange(), a.xRange());
    QVERIFY(a.xRange().second - a.xRange().first < 600);
    hover(b, b.plotArea().center());
    QVERIFY(a.cursorStep());
    QCOMPARE(a.cursorStep(), b.cursorStep());
    QTest::keyClick(&a, Qt::Key_Right);
    QCOMPARE(a.cursorStep(), b.cursorStep());
    group.setXRange(10, 20);
    QCOMPARE(a.xRange(), (std::pair{10.0, 20.0}));
    QCOMPARE(navigator.xRange(), (std::pair{10.0, 20.0}));
}

void TestCurveInput::keysMoveTheCursor()
{
    CurveView view;
    view.resize(600, 200);
    view.setSeries(
        {{"a", Qt::black, CurveStyle::Thin, SeriesSnapshot::fromValues(0, 10, std::vector<double>(100, 1))},
         {"b", Qt::blue, CurveStyle::Thin,
          SeriesSnapshot::fromSteps(std::vector<std::int64_t>{55}, std::vector<double>{1})}});
    settle(view);
    view.setCursorStep(50);
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(55)); // only b has it
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(60));
    QTest::keyClick(&view, Qt::Key_Left);
    QTest::keyClick(&view, Qt::Key_Left);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(50));
    QTest::keyClick(&view, Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(140));
    QTest::keyClick(&view, Qt::Key_Home);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(0));
    QTest::keyClick(&view, Qt::Key_Left);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(0));
    QTest::keyClick(&view, Qt::Key_End);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(990));
    // The cursor pulls the view along.
    view.setXRange(0, 100);
    view.setCursorStep(100);
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.cursorStep(), std::optional<qint64>(110));
    QVERIFY(view.xRange().second >= 110);
    QCOMPARE(view.xRange().second - view.xRange().first, 100.0);
}

void TestCurveInput::keysZoomFitAndChangeTheScale()
{
    CurveView view;
    view.resize(600, 200);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(1000)}});
    settle(view);
    const auto whole = view.xRange();
    QTest::keyClick(&view, Qt::Key_Plus);
    QVERIFY(view.xRange().second - view.xRange().first < whole.second - whole.first);
    QTest::keyClick(&view, Qt::Key_Minus);
    QVERIFY(std::fabs(view.xRange().second - whole.second) < 1e-6);
    QTest::keyClick(&view, Qt::Key_Plus);
    QTest::keyClick(&view, Qt::Key_F);
    QCOMPARE(view.xRange(), whole);
    QSignalSpy scales(&view, &CurveView::yScaleChanged);
    QTest::keyClick(&view, Qt::Key_L);
    QCOMPARE(view.yScale(), YScale::Log);
    QTest::keyClick(&view, Qt::Key_L);
    QCOMPARE(view.yScale(), YScale::Symlog);
    QTest::keyClick(&view, Qt::Key_L);
    QCOMPARE(view.yScale(), YScale::Linear);
    QCOMPARE(scales.size(), 3);
}

void TestCurveInput::otherKeysAreLeftToThePage()
{
    struct Page : QWidget {
        QList<int> keys;
        void keyPressEvent(QKeyEvent* event) override
        {
            if (event->key() != Qt::Key_Control)
                keys << event->key();
        }
    } page;
    CurveView view(&page);
    settle(page);
    for (const int key : {int(Qt::Key_D), int(Qt::Key_S), int(Qt::Key_BracketLeft), int(Qt::Key_Escape)})
        QTest::keyClick(&view, Qt::Key(key));
    QTest::keyClick(&view, Qt::Key_L, Qt::ControlModifier);
    QCOMPARE(page.keys, (QList<int>{Qt::Key_D, Qt::Key_S, Qt::Key_BracketLeft, Qt::Key_Escape, Qt::Key_L}));
}

void TestCurveInput::wheelZoomsAtThePointer()
{
    CurveView view;
    view.resize(600, 200);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(1000)}});
    settle(view);
    const QPoint at = pointAtStep(view, 300);
    const auto before = view.xRange();
    const double share = double(at.x() - view.plotArea().left()) / view.plotArea().width();
    wheel(view, at, 2);
    const auto after = view.xRange();
    QVERIFY(std::fabs((after.second - after.first) * 1.25 * 1.25 - (before.second - before.first)) < 1e-6);
    const double under = after.first + share * (after.second - after.first);
    QVERIFY(std::fabs(under - (before.first + share * (before.second - before.first))) < 1e-6);
    const auto y = view.yRange();
    wheel(view, at, 2, Qt::ControlModifier);
    QCOMPARE(view.xRange(), after);
    QTRY_VERIFY(view.yRange().second - view.yRange().first < y.second - y.first);
}

void TestCurveInput::dragPansAndEndsFollowing()
{
    CurveView view;
    view.resize(600, 200);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(1000)}});
    view.setXRange(400, 500);
    view.setFollowing(true);
    settle(view);
    view.setXRange(400, 500);
    settle(view);
    QSignalSpy following(&view, &CurveView::followingChanged);
    const QPoint from = pointAtStep(view, 450);
    const int by = view.plotArea().width() / 4;
    QTest::mousePress(surface(view), Qt::LeftButton, {}, from);
    hover(view, from - QPoint(by, 0), Qt::LeftButton);
    QTest::mouseRelease(surface(view), Qt::LeftButton, {}, from - QPoint(by, 0));
    QVERIFY2(std::fabs(view.xRange().first - 425) < 0.5, qPrintable(QString::number(view.xRange().first)));
    QVERIFY(!view.following());
    QCOMPARE(following.size(), 1);
}

void TestCurveInput::shiftDragSelects()
{
    CurveView view;
    view.resize(600, 200);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(1000)}});
    settle(view);
    QSignalSpy selected(&view, &CurveView::rangeSelected);
    const QPoint a = pointAtStep(view, 700), b = pointAtStep(view, 200);
    QTest::mousePress(surface(view), Qt::LeftButton, Qt::ShiftModifier, a);
    hover(view, b, Qt::LeftButton);
    QTest::mouseRelease(surface(view), Qt::LeftButton, Qt::ShiftModifier, b);
    QCOMPARE(selected.size(), 1);
    QVERIFY(std::fabs(selected[0][0].toDouble() - 200) < 4);
    QVERIFY(std::fabs(selected[0][1].toDouble() - 700) < 4);
}

void TestCurveInput::enterPinsAndEscapeReleases()
{
    CurveView view;
    view.resize(600, 200);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(1000)}});
    settle(view);
    hover(view, pointAtStep(view, 300));
    const auto step = view.cursorStep();
    QSignalSpy pinned(&view, &CurveView::pinnedChanged);
    QTest::keyClick(&view, Qt::Key_Return);
    hover(view, pointAtStep(view, 600));
    QCOMPARE(view.cursorStep(), step);
    QTest::keyClick(&view, Qt::Key_Escape);
    QCOMPARE(pinned.size(), 2);
    hover(view, pointAtStep(view, 600));
    QVERIFY(view.cursorStep() != step);
}

void TestCurveInput::followingShowsNewSteps()
{
    CurveView view;
    view.resize(600, 200);
    view.setFollowing(true);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(10)}});
    QVERIFY(view.xRange().second >= 9);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(500)}});
    QVERIFY(view.xRange().second >= 499);
    QCOMPARE(view.xRange().first, 0.0);
    view.setFollowing(false);
    view.setXRange(0, 500);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(900)}});
    QCOMPARE(view.xRange(), (std::pair{0.0, 500.0}));
}

void TestCurveInput::followingAWindowKeepsItsWidth()
{
    CurveView view;
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(500)}});
    view.setXRange(300, 400);
    view.setFollowing(true);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(900)}});
    QVERIFY(view.xRange().second >= 899);
    QVERIFY(std::fabs(view.xRange().second - view.xRange().first - 100) < 1e-6);
}

void TestCurveInput::undoZoomRestoresTheRange()
{
    CurveView view;
    view.resize(600, 200);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(1000)}});
    PlotGroup group;
    group.add(&view);
    const auto whole = view.xRange();
    QVERIFY(!group.canUndoZoom());
    group.setXRange(100, 200);
    QVERIFY(group.canUndoZoom());
    group.undoZoom();
    QCOMPARE(view.xRange(), whole);
    QVERIFY(!group.canUndoZoom());
    group.redoZoom();
    QCOMPARE(view.xRange(), (std::pair{100.0, 200.0}));
}

void TestCurveInput::navigatorDragMovesThePlots()
{
    CurveView view;
    NavigatorView navigator;
    navigator.resize(600, 58);
    view.resize(600, 200);
    view.setSeries({{"a", Qt::black, CurveStyle::Thin, line(1000)}});
    navigator.setSeries(view.series());
    PlotGroup group;
    group.add(&view);
    group.add(&navigator);
    group.setXRange(100, 300);
    settle(navigator);
    const int left = 56, width = 600 - 56 - 84;
    const auto at = [&](double step) {
        return QPoint(left + int(step / navigator.dataXRange().second * width), 20);
    };
    const auto drag = [&](QPoint from, QPoint to) {
        QTest::mousePress(&navigator, Qt::LeftButton, {}, from);
        QMouseEvent move(QEvent::MouseMove, QPointF(to), QPointF(navigator.mapToGlobal(to)), Qt::NoButton,
                         Qt::LeftButton, {});
        QCoreApplication::sendEvent(&navigator, &move);
        QTest::mouseRelease(&navigator, Qt::LeftButton, {}, to);
    };
    drag(at(200), at(500));
    QVERIFY(std::fabs(view.xRange().first - 400) < 5);
    QVERIFY(std::fabs(view.xRange().second - view.xRange().first - 200) < 1e-6);
    drag(at(view.xRange().second), at(900));
    QVERIFY(std::fabs(view.xRange().second - 900) < 5);
    QVERIFY(std::fabs(view.xRange().first - 400) < 5);
    QTest::keyClick(&navigator, Qt::Key_F);
    QCOMPARE(view.xRange(), navigator.dataXRange());
}

QTEST_MAIN(TestCurveInput)
#include "tst_curve_input.moc"
