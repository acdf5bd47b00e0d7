#include "ui/plots/plot_export.h"

#include "ui/plots/curve_view.h"
#include "ui/plots/step_walk.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QImage>
#include <QSaveFile>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lockstep {

namespace {

QSize sizeOf(const std::vector<CurveView*>& views)
{
    QSize size(0, 0);
    for (const CurveView* view : views)
        size = QSize(std::max(size.width(), view->width()), size.height() + view->height());
    return size;
}

QString write(const QString& path, const QByteArray& bytes)
{
    QSaveFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit()
               ? QString()
               : file.errorString();
}

QByteArray field(const QString& text)
{
    QString out = text;
    for (const QChar special : {QLatin1Char('"'), QLatin1Char(','), QLatin1Char('\n'), QLatin1Char('\r')})
        if (text.contains(special))
            return '"' + out.replace(QLatin1Char('"'), QLatin1String("\"\"")).toUtf8() + '"';
    return out.toUtf8();
}

void append(QByteArray& line, double value)
{
    if (std::isnan(value)) {
        line += "NaN";
    } else if (std::isinf(value)) {
        line += value > 0 ? "Infinity" : "-Infinity";
    } else {
        char text[40];
        line.append(text, std::to_chars(text, text + sizeof text, value).ptr - text);
    }
}

} // namespace

QString savePlotsSvg(const std::vector<CurveView*>& views, const QString& path)
{
    const QByteArray svg = CurveView::svg(views);
    return svg.isEmpty() ? QCoreApplication::translate("lockstep::PlotExport", "There is nothing to draw")
                         : write(path, svg);
}

QString savePlotsPng(const std::vector<CurveView*>& views, const QString& path)
{
    const QSize size = sizeOf(views);
    if (views.empty() || size.isEmpty())
        return QCoreApplication::translate("lockstep::PlotExport", "There is nothing to draw");
    const double ratio = views.front()->devicePixelRatioF();
    QImage image(size * ratio, QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    image.fill(Qt::white);
    QPoint at(0, 0);
    for (CurveView* view : views) {
        view->render(&image, at);
        at.ry() += view->height();
    }
    QByteArray png;
    QBuffer buffer(&png);
    image.save(&buffer, "PNG");
    return write(path, png);
}

QString saveCurvesCsv(const std::vector<CsvColumn>& columns, const QString& path)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return file.errorString();
    QByteArray block = "step";
    std::vector<SeriesSnapshot::Ptr> series;
    for (const CsvColumn& column : columns) {
        block += ',' + field(column.title);
        series.push_back(column.data);
    }
    block += "\r\n";
    std::vector<std::size_t> at(series.size(), 0);
    walkSteps(series, at,
              [&](std::int64_t step, const std::vector<double>& values, const std::vector<bool>& present) {
                  block += QByteArray::number(qlonglong(step));
                  for (std::size_t i = 0; i < values.size(); ++i) {
                      block += ',';
                      if (present[i])
                          append(block, values[i]);
                  }
                  block += "\r\n";
                  if (block.size() > 1 << 20) {
                      file.write(block); // a failure is kept by QSaveFile and reported by commit()
                      block.clear();
                  }
              });
    file.write(block);
    return file.commit() ? QString() : file.errorString();
}

} // namespace lockstep
