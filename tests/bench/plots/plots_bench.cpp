// plots_bench [--json] [--points N] [--frames F] [--skip-stock]
// Pans and zooms a CurveView over 8 series of 10 million points and 64 series of 1 million, and stock QCPGraph over the
// same data in the same run. One frame = a new x range, y range found anew, full replot with axes and grid, events
// processed. Prints a table, or with --json one flat object.
#include "ui/plots/curve_view.h"
#include "ui/plots/qcustomplot_include.h"

#include <CLI/CLI.hpp>

#include <QApplication>
#include <QElapsedTimer>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <random>

using namespace lockstep;

namespace {

double quantile(std::vector<double> values, double p)
{
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(double(values.size()) * p))];
}

std::vector<double> valuesOf(std::size_t count, int series)
{
    std::mt19937 rng(unsigned(series) + 1);
    std::vector<double> y(count);
    for (std::size_t i = 0; i < count; ++i)
        y[i] = 2 + 8.0 / (1 + double(i) * 1e-4) + double(rng() % 1024) * 3e-4 + series * 0.1;
    return y;
}

struct Figures {
    double median = 0, p95 = 0, fastest = 0,
           cpu = 0; // cpu: median of the whole process, not disturbed by others
};

double cpuMs()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) / 1e6;
}

// `show(lower, upper)` makes one frame. Half of the frames pan at this width, half zoom around it.
template<typename Show>
Figures measure(double extent, double width, int frames, Show show)
{
    std::vector<double> ms, cpu;
    QElapsedTimer timer;
    for (int f = -2; f < frames; ++f) {
        const double share = std::max(0, f) / std::max(1.0, frames - 1.0);
        const double zoom = f % 2 == 0 ? 1.0 : std::pow(0.5, share * 4);
        const double w = width * zoom, lower = (extent - w) * share;
        const double before = cpuMs();
        timer.start();
        show(lower, lower + w);
        if (f < 0)
            continue;
        ms.push_back(double(timer.nsecsElapsed()) / 1e6);
        cpu.push_back(cpuMs() - before);
    }
    return {quantile(ms, 0.5), quantile(ms, 0.95), quantile(ms, 0), quantile(cpu, 0.5)};
}

struct Options {
    bool json = false, skipStock = false;
    double points = 10e6;
    int frames = 60;
};

void run(const Options& options, int series, std::size_t count, std::map<std::string, double>& figures)
{
    CurveView view;
    view.resize(1600, 900);
    QCustomPlot stock;
    stock.resize(1600, 900);
    stock.yAxis->setRange(0, 12 + series * 0.1);
    std::vector<CurveSeries> all;
    QElapsedTimer timer;
    double building = 0;
    for (int s = 0; s < series; ++s) {
        const std::vector<double> y = valuesOf(count, s);
        const QColor color = QColor::fromHsv(s * 40 % 360, 200, 200);
        timer.start();
        auto data = SeriesSnapshot::fromValues(0, 1, y);
        building += double(timer.nsecsElapsed()) / 1e6;
        all.push_back({QStringLiteral("series %1").arg(s), color, CurveStyle::Thin, std::move(data)});
        if (options.skipStock)
            continue;
        QVector<QCPGraphData> points(static_cast<qsizetype>(count));
        for (std::size_t i = 0; i < count; ++i)
            points[static_cast<qsizetype>(i)] = QCPGraphData(double(i), y[i]);
        stock.addGraph()->data()->set(points, true);
        stock.graph(s)->setPen(QPen(color, 1));
    }
    view.setSeries(std::move(all));
    view.show();
    if (!options.skipStock)
        stock.show();
    auto* plot = view.findChild<QCustomPlot*>();
    bool replotted = false;
    QObject::connect(plot, &QCustomPlot::afterReplot, &view, [&] { replotted = true; });
    QApplication::processEvents();

    const std::string name = std::to_string(series);
    if (!options.json)
        std::printf("%d x %zu points, window 1600 x 900, snapshots built in %.0f ms by one thread\n"
                    "| points in view | CurveView fastest / median / p95 / CPU ms | QCPGraph median / CPU ms "
                    "| ratio, CPU ratio |\n"
                    "|---|---|---|---|\n",
                    series, count, building);
    double worst = 0;
    for (const double share : {1.0, 0.1, 0.01, 2000.0 / double(count)}) {
        const double width = double(count) * share;
        const Figures ours = measure(double(count), width, options.frames, [&](double lower, double upper) {
            replotted = false;
            view.setXRange(lower, upper);
            while (!replotted)
                QApplication::processEvents();
            QApplication::processEvents();
        });
        worst = std::max(worst, ours.p95);
        Figures theirs;
        if (!options.skipStock)
            theirs = measure(double(count), width, width > 2e6 ? 4 : 12, [&](double lower, double upper) {
                stock.xAxis->setRange(lower, upper);
                stock.replot(QCustomPlot::rpImmediateRefresh);
                QApplication::processEvents();
            });
        if (share == 1.0) {
            figures["median_ms_" + name] = ours.median;
            figures["p95_ms_" + name] = ours.p95;
            figures["cpu_ms_" + name] = ours.cpu;
            if (!options.skipStock) {
                figures["stock_median_ms_" + name] = theirs.median;
                figures["ratio_" + name] = ours.median / theirs.median;
                figures["cpu_ratio_" + name] = ours.cpu / theirs.cpu;
            }
        }
        if (!options.json) {
            std::printf("| %.0f | %.1f / %.1f / %.1f / %.1f | %.1f / %.1f | %.3f, %.3f |\n", width,
                        ours.fastest, ours.median, ours.p95, ours.cpu, theirs.median, theirs.cpu,
                        theirs.median > 0 ? ours.median / theirs.median : 0,
                        theirs.cpu > 0 ? ours.cpu / theirs.cpu : 0);
            std::fflush(stdout);
        }
    }
    figures["worst_p95_ms_" + name] = worst;
    figures["build_ms_" + name] = building;
}

} // namespace

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    Options options;
    CLI::App cli{"Frame times of the curves beside stock QCPGraph"};
    cli.add_flag("--json", options.json, "one flat JSON object on stdout");
    cli.add_flag("--skip-stock", options.skipStock, "leave QCPGraph out");
    cli.add_option("--points", options.points, "points per series in the first case; the second has a tenth");
    cli.add_option("--frames", options.frames, "frames per row")->check(CLI::Range(4, 1000));
    CLI11_PARSE(cli, argc, argv);
    std::map<std::string, double> figures;
    run(options, 8, static_cast<std::size_t>(std::max(2000.0, options.points)), figures);
    run(options, 64, static_cast<std::size_t>(std::max(2000.0, options.points / 10)), figures);
    if (options.json) {
        std::string text = "{";
        for (const auto& [key, value] : figures) {
            char item[96];
            std::snprintf(item, sizeof item, "%s\"%s\":%.4g", text.size() > 1 ? "," : "", key.c_str(), value);
            text += item;
        }
        std::printf("%s}\n", text.c_str());
    }
    return 0;
}
