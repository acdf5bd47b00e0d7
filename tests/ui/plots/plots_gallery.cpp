// plots_gallery FOLDER: paints the plot widgets with computed curves, light and dark, as PNG files to look at.
#include "ui/plots/curve_view.h"
#include "ui/plots/heatmap_view.h"
#include "ui/plots/navigator_view.h"
#include "ui/plots/plot_group.h"
#include "ui/plots/rank_fold.h"
#include "ui/plots/series_math.h"

#include <QApplication>
#include <QDir>
#include <QVBoxLayout>

#include <cmath>
#include <cstdio>
#include <random>

using namespace lockstep;

namespace {

std::mt19937 rng(7);

double noise(double size)
{
    return std::normal_distribution<double>(0, size)(rng);
}

SeriesSnapshot::Ptr curve(int steps, const std::function<double(int)>& f)
{
    std::vector<double> y(static_cast<std::size_t>(steps));
    for (int i = 0; i < steps; ++i)
        y[static_cast<std::size_t>(i)] = f(i);
    return SeriesSnapshot::fromValues(0, 1, y);
}

QString save(QWidget& widget, const QString& folder, const QString& name)
{
    widget.show();
    for (int i = 0; i < 20; ++i)
        QApplication::processEvents(QEventLoop::AllEvents, 20);
    const QString path = folder + QLatin1Char('/') + name + QStringLiteral(".png");
    if (!widget.grab().save(path))
        std::fprintf(stderr, "cannot write %s\n", qPrintable(path));
    return path;
}

struct Data {
    SeriesSnapshot::Ptr single, twin;
    std::vector<SeriesSnapshot::Ptr> ranks;
    RankSpread spread;
    SeriesSnapshot::Ptr bandLow, bandHigh, ddpDelta, singleDelta, gradSingle, gradDdp;
};

Data makeData()
{
    Data d;
    const int n = 240;
    std::vector<double> base;
    for (int i = 0; i < n; ++i)
        base.push_back(1.6 + 2.7 * std::exp(-i / 90.0) + noise(0.03));
    d.single = curve(n, [&](int i) { return base[i]; });
    d.twin =
        curve(n, [&](int i) { return base[i] - (i > 41 ? 0.15 * (1 - std::exp(-(i - 41) / 40.0)) : 0); });
    for (int r = 0; r < 4; ++r)
        d.ranks.push_back(
            curve(n, [&](int i) { return d.twin->value(i) + noise(0.06) + (i == 12 && r == 1 ? 0.7 : 0); }));
    d.spread = spreadOf(d.ranks);
    d.bandHigh = curve(n, [](int i) { return 3e-7 + 1e-7 * (i / 30); });
    d.bandLow = curve(n, [](int i) { return -3e-7 - 1e-7 * (i / 30); });
    d.singleDelta = curve(n, [](int) { return noise(2e-7); });
    d.ddpDelta =
        curve(n, [](int i) { return i < 42 ? 0 : (i % 7 == 0 ? 1e-1 : -1e-2) * std::exp(noise(1)); });
    d.gradSingle = curve(n, [](int i) { return (0.1 + 2 * std::exp(-i / 30.0)) * std::exp(noise(0.15)); });
    d.gradDdp =
        curve(n, [&](int i) { return d.gradSingle->value(i) * (i > 41 ? 4 : 1) * std::exp(noise(0.02)); });
    return d;
}

void curvesPage(const QString& folder, const Data& d, const PlotTheme& t, const QString& name)
{
    QWidget page;
    page.setStyleSheet(QStringLiteral("background: %1").arg(t.base.name()));
    auto* layout = new QVBoxLayout(&page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    CurveView loss, delta, grad;
    NavigatorView navigator;
    PlotGroup group;
    for (CurveView* view : {&loss, &delta, &grad}) {
        view->setTheme(t);
        layout->addWidget(view, view == &loss ? 5 : 4);
    }
    layout->addWidget(&navigator);
    navigator.setTheme(t);
    const auto ddpMean =
        CurveSeries{"ddp mean", t.ranks[1], CurveStyle::Mean, d.spread.mean, "ddp mean", true};
    std::vector<CurveSeries> series{{"single", t.single, CurveStyle::Single, d.single, "single", true}};
    for (int r = 0; r < 4; ++r)
        series.push_back({QStringLiteral("rank %1").arg(r), t.rank(r), CurveStyle::Rank, d.ranks[r],
                          r == 0 ? "ranks 0-3" : ""});
    series.push_back(ddpMean);
    series.push_back({"twin", t.twinOver, CurveStyle::Twin, d.twin, "twin (dashed)"});
    loss.setTitle("loss, mean over ranks");
    loss.setBands({{t.range, {}, d.spread.min, d.spread.max, ""}});
    loss.setSeries(series);
    loss.setMarkers({{41, "first divergent step 41", CurveMarker::Kind::Divergence},
                     {100, "checkpoint"},
                     {105, "epoch 2"}});
    loss.setXAxisVisible(false);
    delta.setTitle("loss, delta to twin (symlog)");
    delta.setBands({{t.tolerance, t.toleranceEdge, d.bandLow, d.bandHigh, "tolerance"}});
    delta.setSeries(
        {{"single - twin", t.single, CurveStyle::Thin, d.singleDelta, "single - twin", false, true},
         {"ddp - twin", t.ranks[1], CurveStyle::Mean, d.ddpDelta, "ddp - twin", true, true}});
    delta.setYScale(YScale::Symlog, 1e-6);
    delta.setMarkers({{41, "", CurveMarker::Kind::Divergence}});
    delta.setNotes({{42, d.ddpDelta->value(42), "step 42: +1.357e-03, first loss outside the band", t.red}});
    delta.setXAxisVisible(false);
    grad.setTitle("gradient norm after reduction, log");
    grad.setYScale(YScale::Log);
    grad.setSeries({{"single", t.single, CurveStyle::Single, d.gradSingle, "single, twin", true},
                    {"ddp", t.ranks[1], CurveStyle::Mean, d.gradDdp, "ddp", true}});
    grad.setMarkers({{41, "", CurveMarker::Kind::Divergence}});
    grad.setXAxisCaption("step");
    navigator.setSeries(
        {{"single", t.single, CurveStyle::Thin, d.single}, {"ddp", t.ranks[1], CurveStyle::Thin, d.twin}});
    navigator.setMarkers({{41, "", CurveMarker::Kind::Divergence}});
    navigator.setCaption("whole run\n240 steps");
    for (CurveView* view : {&loss, &delta, &grad})
        group.add(view);
    group.add(&navigator);
    group.setXRange(0, 130);
    group.setCursorStep(57);
    loss.setPinned(true);
    page.resize(1010, 790);
    save(page, folder, name);
}

void hardCases(const QString& folder, const PlotTheme& t, const QString& name)
{
    QWidget page;
    page.setStyleSheet(QStringLiteral("background: %1").arg(t.base.name()));
    auto* layout = new QVBoxLayout(&page);
    CurveView dense, nan, log, empty;
    for (CurveView* view : {&dense, &nan, &log, &empty}) {
        view->setTheme(t);
        layout->addWidget(view);
    }
    dense.setTitle("200,000 steps, single thick, mean, twin on top");
    const auto smooth = [](int i) { return 2 + 8 / (1 + i * 1e-3); };
    const auto base = curve(
        200000, [&](int i) { return smooth(i) + 0.3 * std::sin(i / 7000.0) + (i % 20011 == 77 ? 6 : 0); });
    const auto noisy = curve(200000, [&](int i) { return smooth(i) + noise(0.4) + 3; });
    dense.setSeries({{"noisy", t.ranks[2], CurveStyle::Rank, noisy, "one rank"},
                     {"single", t.single, CurveStyle::Single, base, "single", true},
                     {"mean", t.ranks[1], CurveStyle::Mean, base, "mean", true},
                     {"twin", t.twinOver, CurveStyle::Twin, base, "twin"}});
    nan.setTitle("NaN and lone values");
    nan.setSeries({{"loss", t.ranks[1], CurveStyle::Mean,
                    curve(300,
                          [](int i) {
                              return i > 100 && i < 160 ? (i % 10 == 5 ? 2.0 : NAN)
                                     : i == 299         ? INFINITY
                                                        : 3 - i * 0.005;
                          }),
                    "loss"}});
    log.setTitle("gradient norm with zeros, log");
    log.setYScale(YScale::Log);
    log.setSeries({{"grad", t.ranks[1], CurveStyle::Mean,
                    curve(300, [](int i) { return i % 50 == 30 ? 0 : std::exp(-i * 0.05); }), "grad"}});
    empty.setTitle("learning rate");
    empty.setEmptyText("No values yet. Start a run to see its curves here.");
    page.resize(1010, 790);
    save(page, folder, name);
}

void heatmap(const QString& folder, const PlotTheme& t, int ranks, int steps, const QString& name)
{
    RankFold fold;
    for (int r = 0; r < ranks; ++r) {
        const SeriesSnapshot::Ptr loss = curve(r == 3 ? steps * 3 / 4 : steps, [&](int i) {
            return r == 5 && i == steps / 3 ? NAN
                   : r == 11 && i > steps * 2 / 5
                       ? 2.5 - 1.0 * std::min(1.0, (i - steps * 0.4) / (steps * 0.2)) + noise(0.03)
                       : 2.5 + noise(0.1) + (r == 7 && i == steps / 2 ? 3 : 0);
        });
        std::vector<std::int64_t> at;
        std::vector<double> values;
        for (std::size_t i = 0; i < loss->size(); ++i) {
            at.push_back(loss->step(i));
            values.push_back(loss->value(i));
        }
        fold.append(r, at, values);
    }
    const auto distances = fold.picture().distances;
    std::vector<HeatmapRow> rows;
    for (int r = 0; r < ranks; ++r)
        rows.push_back(
            {QStringLiteral("rank %1").arg(r), QStringLiteral("node %1").arg(r / 8), distances[r]});
    HeatmapView view;
    view.setTheme(t);
    view.setTitle("Rank by step");
    view.setLimit(6, "robust sd");
    view.setRows(rows);
    view.setMarkers({{steps * 2 / 5, QStringLiteral("sample ids repeat from step %1").arg(steps * 2 / 5),
                      CurveMarker::Kind::Divergence}});
    view.setCurrentRow(11);
    view.setCursorStep(steps * 3 / 5);
    view.resize(1050, ranks > 100 ? 500 : 520);
    save(view, folder, name);
}

} // namespace

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    app.setFont(QFont(QStringLiteral("Noto Sans"), 10));
    const QString folder = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QStringLiteral("plots_gallery");
    if (!QDir().mkpath(folder)) {
        std::fprintf(stderr, "cannot create %s\n", qPrintable(folder));
        return 1;
    }
    const Data data = makeData();
    for (const PlotTheme& theme : {PlotTheme::light(), PlotTheme::darkTheme()}) {
        const QString suffix = theme.dark ? QStringLiteral("dark") : QStringLiteral("light");
        curvesPage(folder, data, theme, QStringLiteral("curves-") + suffix);
        heatmap(folder, theme, 16, 240, QStringLiteral("heatmap-") + suffix);
        heatmap(folder, theme, 512, 3000, QStringLiteral("heatmap512-") + suffix);
        hardCases(folder, theme, QStringLiteral("hard-") + suffix);
    }
    return 0;
}
