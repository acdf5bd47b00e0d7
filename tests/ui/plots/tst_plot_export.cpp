// Plots as files and for screen readers, the logarithmic x axis, and samples as x.
#include "ui/plots/curve_view.h"
#include "ui/plots/plot_export.h"
#include "ui/plots/series_math.h"

#include <QAccessible>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include <cmath>
#include <memory>
#include <numeric>

using namespace lockstep;

namespace {

SeriesSnapshot::Ptr series(std::vector<double> values, std::int64_t first = 1)
{
    return SeriesSnapshot::fromValues(first, 1, values);
}

std::unique_ptr<CurveView> viewOf(std::vector<CurveSeries> curves, const QString& title)
{
    auto view = std::make_unique<CurveView>();
    view->setTitle(title);
    view->resize(480, 200);
    view->setSeries(std::move(curves));
    view->show();
    view->grab(); // lays out
    return view;
}

QByteArray read(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class PlotExportTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void csvHoldsEveryValueExactly()
    {
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("curves.csv"));
        const double third = 1.0 / 3;
        const auto a = series({third, std::nan(""), INFINITY});
        const auto b = series({2}, 3);
        QCOMPARE(saveCurvesCsv({{QStringLiteral("loss, mean"), a},
                                {QStringLiteral("b"), b},
                                {QStringLiteral("none"), nullptr}},
                               path),
                 QString());
        QCOMPARE(read(path),
                 QByteArray(
                     "step,\"loss, mean\",b,none\r\n1,0.3333333333333333,,\r\n2,NaN,,\r\n3,Infinity,2,\r\n"));
        QVERIFY(!saveCurvesCsv({}, dir.filePath(QStringLiteral("no/such/folder.csv"))).isEmpty());
    }

    void svgIsWellFormedAndHoldsTitlesAndLines()
    {
        QTemporaryDir dir;
        std::vector<double> values(300);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = std::sin(double(i) / 20);
        values[120] = std::nan("");
        const auto loss = viewOf({{QStringLiteral("single"), Qt::black, CurveStyle::Single, series(values)}},
                                 QStringLiteral("loss of everything"));
        const auto grad = viewOf({{QStringLiteral("ddp"), Qt::blue, CurveStyle::Twin, series(values)}},
                                 QStringLiteral("gradient"));
        const QString path = dir.filePath(QStringLiteral("curves.svg"));
        QCOMPARE(savePlotsSvg({loss.get(), grad.get()}, path), QString());
        QXmlStreamReader xml(read(path));
        int lines = 0, images = 0;
        QString text;
        while (!xml.atEnd()) {
            xml.readNext();
            if (xml.isStartElement()) {
                lines += xml.name() == QLatin1String("polyline");
                images += xml.name() == QLatin1String("image");
            }
            if (xml.isCharacters())
                text += xml.text();
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QVERIFY(lines >= 4); // each curve is cut in two by its NaN
        QCOMPARE(images, 0);
        QVERIFY(text.contains(QStringLiteral("loss of everything")));
        QVERIFY(text.contains(QStringLiteral("gradient")));
        QVERIFY(!savePlotsSvg({}, path).isEmpty());
    }

    void pngShowsAllPlots()
    {
        QTemporaryDir dir;
        const auto a = viewOf({{QStringLiteral("a"), Qt::black, CurveStyle::Thin, series({1, 2, 3})}},
                              QStringLiteral("a"));
        const auto b = viewOf({{QStringLiteral("b"), Qt::black, CurveStyle::Thin, series({1, 2, 3})}},
                              QStringLiteral("b"));
        const QString path = dir.filePath(QStringLiteral("curves.png"));
        QCOMPARE(savePlotsPng({a.get(), b.get()}, path), QString());
        const QImage image(path);
        QCOMPARE(image.height(), a->height() + b->height());
    }

    void aLogarithmicAxisIsEvenInDecades()
    {
        std::vector<double> values(10'000);
        std::iota(values.begin(), values.end(), 0);
        const auto view = viewOf({{QStringLiteral("a"), Qt::black, CurveStyle::Thin, series(values, 0)}}, {});
        view->setXScale(XScale::Log);
        view->setXRange(0, 9'999);
        view->grab();
        const PlotMapping map = view->mapping();
        const double one = map.px(9) - map.px(0), two = map.px(99) - map.px(9),
                     three = map.px(999) - map.px(99);
        QVERIFY(std::fabs(one - two) < 1e-6 && std::fabs(two - three) < 1e-6);
        QCOMPARE(map.px(0), 0.0);
        QVERIFY(std::fabs(map.stepAt(map.px(137)) - 137) < 1e-6);
        // Every column of the raster has an ink: nothing is lost near the crowded end.
        const QImage picture = view->grab().toImage();
        const QRect area = view->plotArea();
        int empty = 0;
        for (int x = area.left() + 1; x < area.right(); ++x) {
            bool ink = false;
            for (int y = area.top(); y <= area.bottom() && !ink; ++y)
                ink = qGray(picture.pixel(x, y)) < 90;
            empty += !ink;
        }
        QVERIFY2(empty < area.width() / 50, qPrintable(QString::number(empty)));
        view->setXScale(XScale::Linear);
        view->grab();
        QVERIFY(std::fabs(view->mapping().px(5000) * 2 - view->mapping().width()) < 2);
    }

    void aScreenReaderHearsTitleAndTheValueAtTheCursor()
    {
        const auto view =
            viewOf({{QStringLiteral("single"), Qt::black, CurveStyle::Single, series({4, 3, 2.5})}},
                   QStringLiteral("loss"));
        QAccessibleInterface* one = QAccessible::queryAccessibleInterface(view.get());
        QVERIFY(one);
        QCOMPARE(one->role(), QAccessible::Chart);
        QCOMPARE(one->text(QAccessible::Name), QStringLiteral("loss"));
        QVERIFY(one->text(QAccessible::Value).contains(QStringLiteral("steps 1 to 3")));
        QVERIFY(one->valueInterface());
        QSignalSpy moved(view.get(), &CurveView::cursorStepChanged);
        one->valueInterface()->setCurrentValue(3);
        QCOMPARE(moved.size(), 1);
        QCOMPARE(one->valueInterface()->currentValue().toLongLong(), 3);
        QCOMPARE(one->text(QAccessible::Value), QStringLiteral("step 3: single 2.5"));
    }

    void aSeriesLiesOverWhatWasSeenUpToEachStep()
    {
        const auto seen = series({16, 32, 39}); // of steps 1 to 3
        const auto laid = laidOver(*series({9, 5, 4, 3}, 0), *seen);
        QCOMPARE(laid->size(), std::size_t(4));
        QCOMPARE(laid->step(0), std::int64_t(0)); // before the first sample
        QCOMPARE(laid->step(1), std::int64_t(16));
        QCOMPARE(laid->step(3), std::int64_t(39));
        QCOMPARE(laid->value(3), 3.0);
        // A step of which it is not known has no place.
        QCOMPARE(laidOver(*series({1, 2, 3, 4}), *seen)->size(), std::size_t(3));
    }
};

QTEST_MAIN(PlotExportTest)
#include "tst_plot_export.moc"
