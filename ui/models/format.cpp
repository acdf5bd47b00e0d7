#include "ui/models/format.h"

#include <QDateTime>
#include <QDir>
#include <QLocale>

#include <cmath>

namespace lockstep {

QString formatExact(double value)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value < 0 ? QStringLiteral("-Inf") : QStringLiteral("Inf");
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

QString formatLoss(double value, bool dashForNan)
{
    if (std::isnan(value))
        return dashForNan ? QStringLiteral("-") : QStringLiteral("NaN");
    if (std::isinf(value))
        return formatExact(value);
    const double size = std::fabs(value);
    if (size != 0 && (size < 1e-3 || size >= 1e6))
        return QString::number(value, 'e', 4);
    return QString::number(value, 'f', 6);
}

QString formatDelta(double value)
{
    if (value == 0)
        return QStringLiteral("0");
    if (!std::isfinite(value))
        return formatExact(value);
    return QString::number(value, 'e', 3);
}

QString formatDuration(std::int64_t milliseconds)
{
    if (milliseconds < 0)
        return QStringLiteral("-");
    const std::int64_t seconds = milliseconds / 1000;
    const auto two = [](std::int64_t n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); };
    if (seconds < 3600)
        return QStringLiteral("%1:%2").arg(seconds / 60).arg(two(seconds % 60));
    return QStringLiteral("%1:%2:%3").arg(seconds / 3600).arg(two(seconds / 60 % 60), two(seconds % 60));
}

QString formatBytes(std::int64_t bytes)
{
    return QLocale::c().formattedDataSize(bytes, bytes < 1000 ? 0 : 1, QLocale::DataSizeSIFormat);
}

QString formatClock(std::int64_t unixMs)
{
    if (unixMs <= 0)
        return QStringLiteral("-");
    const QDateTime time = QDateTime::fromMSecsSinceEpoch(unixMs);
    const bool today = time.date() == QDate::currentDate();
    return QLocale().toString(time, today ? QStringLiteral("HH:mm") : QStringLiteral("d MMM HH:mm"));
}

QString formatCount(std::int64_t count)
{
    return QLocale(QLocale::English).toString(qlonglong(count));
}

QString formatShape(const std::vector<std::int64_t>& shape)
{
    if (shape.empty())
        return QStringLiteral("scalar");
    QStringList parts;
    for (const std::int64_t extent : shape)
        parts << QString::number(extent);
    return parts.join(QStringLiteral(" x "));
}

QString formatShortHash(std::uint64_t hash)
{
    const QString hex = QStringLiteral("%1").arg(qulonglong(hash), 16, 16, QLatin1Char('0'));
    return hex.left(4) + QLatin1Char(' ') + hex.mid(4, 4);
}

QString formatFolder(const QString& path)
{
    const QString home = QDir::homePath();
    if (home.size() > 1 && (path == home || path.startsWith(home + QLatin1Char('/'))))
        return QLatin1Char('~') + path.mid(home.size());
    return path;
}

} // namespace lockstep
