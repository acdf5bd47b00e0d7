// What Curves promises about one pair: step, mark and band in all plots, the broken link lit, twin and single beside them.
#include "core/gates/kept_envelope.h"
#include "ui/pages/curves_page.h"
#include "ui/plots/curve_view.h"
#include "ui/support/page_world.h"
#include "ui/support/rank_run.h"
#include "ui/widgets/causal_strip.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>

using namespace lockstep;
using namespace lockstep::test;

namespace {

CurveView* plot(const CurvesPage& page, const char* name)
{
    return page.findChild<CurveView*>(QString::fromLatin1(name));
}

const std::vector<const char*> kPlots = {"lossPlot", "deltaPlot", "gradPlot"};

// Every curve of the plot has a value at this step.
bool drawnTo(const CurveView& view, qint64 step, std::size_t curves)
{
    const std::vector<ReadoutRow> rows = view.readout(step);
    return rows.size() == curves &&
           std::all_of(rows.begin(), rows.end(), [](const ReadoutRow& row) { return row.present; });
}

int pixelsOf(QWidget& widget, const QColor& color)
{
    const QImage image = widget.grab().toImage().convertToFormat(QImage::Format_RGB32);
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            count += image.pixelColor(x, y) == color;
    return count;
}

} // namespace

class CurvesPageTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { theme::apply(*qApp, ThemeKind::Light); }

    void theSliderMovesTheCursorOfAllPlots()
    {
        PageWorld w;
        w.project.finished("single", 2);
        const QString ddp = w.project.finished("ddp", 2, 0.25, 17);
        QVERIFY(w.open());
        CurvesPage page(w.context);
        showPage(page);
        page.open(QStringLiteral("run:") + ddp);
        QTRY_VERIFY(drawnTo(*plot(page, "lossPlot"), 40, 2));
        auto* slider = page.findChild<QSlider*>(QStringLiteral("stepSlider"));
        QCOMPARE(slider->minimum(), 1);
        QCOMPARE(slider->maximum(), 40);
        slider->setFocus();
        QTest::keyClick(slider, Qt::Key_Home);
        for (int i = 0; i < 6; ++i)
            QTest::keyClick(slider, Qt::Key_Right);
        for (const char* name : kPlots)
            QCOMPARE(plot(page, name)->cursorStep(), std::optional<qint64>(7));
        QCOMPARE(w.selection.step(), std::optional<qint64>(7)); // other pages follow
        // And the other way: the cursor of one plot moves the slider.
        plot(page, "gradPlot")->setFocus();
        QTest::keyClick(plot(page, "gradPlot"), Qt::Key_Right);
        QCOMPARE(slider->value(), 8);
        QCOMPARE(plot(page, "lossPlot")->cursorStep(), std::optional<qint64>(8));
    }

    void theFirstBrokenLinkIsLitAndLeadsToItsStep()
    {
        PageWorld w;
        w.project.finished("ddp", 2);
        const QString faulty = w.project.finished("ddp", 2, 0.25, 17, [](RunConfig& c) {
            c.faults.push_back({"B2", {}});
        });
        QVERIFY(w.open());
        CurvesPage page(w.context);
        showPage(page);
        page.open(QStringLiteral("run:") + faulty);
        auto* strip = page.findChild<CausalStrip*>();
        QTRY_VERIFY2(
            strip->accessibleDescription().contains(QStringLiteral("forward loss: first broken link")),
            qPrintable(strip->accessibleDescription()));
        QCOMPARE(strip->accessibleDescription().count(QStringLiteral("first broken link")), 1);
        QVERIFY(pixelsOf(*strip, theme::tokens().redTint) > 500); // the one filled cell
        QSignalSpy chosen(strip, &CausalStrip::stepChosen);
        strip->setFocus();
        QTest::keyClick(strip, Qt::Key_Return); // the broken link is current at first
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(plot(page, "deltaPlot")->cursorStep(), std::optional<qint64>(17));
    }

    void theToleranceOfTheEnvelopeLiesUnderTheDifference()
    {
        PageWorld w;
        w.project.finished("single", 2);
        const QString ddp = w.project.finished("ddp", 2);
        Envelope envelope;
        envelope.repeats = 8;
        EnvelopeBand& band = envelope.bands[{Quantity::Loss, 0}];
        band.steps = {1};
        band.limits = {0.01};
        band.lastStep = 40;
        envelope.bands[{Quantity::GradNorm, 0}] = band;
        QVERIFY(keepEnvelope(w.project.folder().toStdString(), &envelope).ok());
        QVERIFY(w.open());
        CurvesPage page(w.context);
        showPage(page);
        page.open(QStringLiteral("run:") + ddp);
        const QColor fill = PlotTheme::forApplication().tolerance;
        QTRY_VERIFY(pixelsOf(*plot(page, "deltaPlot"), fill) > 5000);
        QVERIFY(pixelsOf(*plot(page, "lossPlot"), fill) < 50); // the band is one of differences
    }

    void twinSingleAndRanksAreSeenTogether()
    {
        PageWorld w;
        const QString single = w.project.finished("single", 2);
        const QString twin = w.project.finished("twin", 2);
        const QString ddp = w.project.finished("ddp", 2);
        QVERIFY(w.open());
        CurvesPage page(w.context);
        showPage(page);
        page.open(QStringLiteral("run:") + ddp);
        QCOMPARE(w.selection.runA(), twin); // the strictest reference
        QCOMPARE(w.selection.extraRuns(), QStringList{single});
        const CurveView& loss = *plot(page, "lossPlot");
        QTRY_VERIFY(drawnTo(loss, 40, 3));
        // Baseline below, ranks on it, the twin dashed on top.
        QCOMPARE(int(loss.series()[0].style), int(CurveStyle::Single));
        QCOMPARE(int(loss.series()[1].style), int(CurveStyle::Mean));
        QCOMPARE(int(loss.series()[2].style), int(CurveStyle::Twin));
        QCOMPARE(plot(page, "deltaPlot")->series().size(), std::size_t(1)); // the ranks, bit for bit
        if (qEnvironmentVariableIsSet("LOCKSTEP_GRAB"))
            page.grab().save(qEnvironmentVariable("LOCKSTEP_GRAB") + QStringLiteral("/three-lines.png"));
    }

    void twoDistributedRunsDoNotLookAlike()
    {
        PageWorld w;
        const QString a = w.project.finished("ddp", 2);
        const QString b = w.project.finished("ddp", 2, 0.25, 17, [](RunConfig& c) {
            c.faults.push_back({"B2", {}});
        });
        QVERIFY(w.open());
        CurvesPage page(w.context);
        showPage(page);
        page.open(QStringLiteral("run:") + b);
        QCOMPARE(w.selection.runA(), a);
        const CurveView& loss = *plot(page, "lossPlot");
        QTRY_VERIFY(drawnTo(loss, 40, 2));
        const PlotTheme theme = PlotTheme::forApplication();
        QCOMPARE(loss.series()[0].color, theme.single);
        QCOMPARE(loss.series()[0].endLabel, a);
        QCOMPARE(loss.series()[1].color, theme.rank(1));
    }
};

QTEST_MAIN(CurvesPageTest)
#include "tst_curves_page.moc"
